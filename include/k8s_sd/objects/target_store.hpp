#pragma once

#include "k8s_sd/objects/store.hpp"
#include "k8s_sd/objects/store_writer.hpp"
#include "k8s_sd/target_group.hpp"

#include <functional>
#include <memory>
#include <string_view>

namespace k8s_sd::inline v0 {

/// The key of a target group is its source: "pod/<namespace>/<name>" and so on.
template <>
struct StoreTraits<TargetGroup> {
    /// Shared ownership of a group.
    using Ptr = TargetGroupPtr;
    /// A source.
    using Key = std::string_view;
    /// The group's source, as a view of the group.
    static Key key(const TargetGroup& group) noexcept { return group.source(); }
};

/// The current target groups of a Discoverer, readable from any thread: find(source), indexes over
/// labels, and the rest of Store. At most one discoverer for each store.
///
///     TargetStore store;
///     Discoverer discoverer(executor, config, store.callback());
class TargetStore : public Store<TargetGroup> {
 public:
    /// The callback for a Discoverer. A callback of the host may also call it. It keeps the
    /// contents of the store alive. Each diff is one batch, with all its parts.
    std::function<void(const TargetGroupDiff&)> callback() const {
        return [writer = StoreWriter<TargetGroup>(*this),
                joiner = joiner_](const TargetGroupDiff& part) mutable {
            joiner->add(part, [&](const TargetGroupDiff& diff) { apply(writer, diff); });
        };
    }

 private:
    static void apply(StoreWriter<TargetGroup>& writer, const TargetGroupDiff& diff) {
        auto batch = writer.begin();
        if (diff.full) batch.clear();
        for (const GroupChange& change : diff.updated) batch.put(change.group);
        for (const TargetGroupPtr& group : diff.removed) batch.remove(group->source());
        batch.publish();
    }

    /// All copies of the callback add to the same diff.
    std::shared_ptr<DiffJoiner> joiner_ = std::make_shared<DiffJoiner>();
};

}  // namespace k8s_sd::inline v0
