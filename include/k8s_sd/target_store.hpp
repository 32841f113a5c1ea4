#pragma once

#include "k8s_sd/store.hpp"
#include "k8s_sd/store_writer.hpp"
#include "k8s_sd/target_group.hpp"

#include <functional>
#include <string_view>

namespace k8s_sd::inline v0 {

/// Target groups are known by their source: "pod/<namespace>/<name>" and so on.
template <>
struct StoreTraits<TargetGroup> {
    using Ptr = TargetGroupPtr;
    using Key = std::string_view;
    static Key key(const TargetGroup& group) noexcept { return group.source(); }
};

/// The present target groups of a Discoverer, to be read from any thread: find(source), indexes
/// over labels, and all else of Store. One discoverer a store.
///
///     TargetStore store;
///     Discoverer discoverer(executor, config, store.callback());
class TargetStore : public Store<TargetGroup> {
 public:
    /// What a Discoverer calls. It may be called by a callback of the host, too, and becomes part
    /// of the store: it keeps the contents alive. Each diff is one batch.
    std::function<void(const TargetGroupDiff&)> callback() const {
        return [writer = StoreWriter<TargetGroup>(*this)](const TargetGroupDiff& diff) mutable {
            auto batch = writer.begin();
            if (diff.full) batch.clear();
            for (const GroupChange& change : diff.updated) batch.put(change.group);
            for (const TargetGroupPtr& group : diff.removed) batch.remove(group->source());
            batch.publish();
        };
    }
};

}  // namespace k8s_sd::inline v0
