#pragma once

#include "k8s_sd/detail/objects/object_store.hpp"
#include "k8s_sd/object.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Undelivered changes, one entry for each object: bounded by the number of objects, not of events.
/// Changes of an object are coalesced; a reverted change disappears.
class PendingObjects {
 public:
    /// \param differ  differ(const Object& before, const Object& after): whether it is a change
    template <class Differ>
    void add(const ObjectChange& change, const Differ& differ) {
        const Object& known = change.after ? *change.after : *change.before;
        const auto it = changes_.find(NameView{known.ns(), known.name()});
        ObjectChange merged = change;
        if (it != changes_.end()) {
            merged.before = it->second.before;
            changes_.erase(it);
        }
        const bool both = merged.before && merged.after;
        if (both ? !differ(*merged.before, *merged.after) : merged.before == merged.after) return;
        // The key is a view into an object kept alive by the value.
        const Object& alive = merged.after ? *merged.after : *merged.before;
        changes_.emplace(NameView{alive.ns(), alive.name()}, std::move(merged));
    }
    bool empty() const noexcept { return changes_.empty(); }
    std::vector<ObjectChange> take() {
        std::vector<ObjectChange> taken;
        taken.reserve(changes_.size());
        for (auto& [key, change] : changes_) taken.push_back(std::move(change));
        changes_ = {};  // free the memory of a burst
        return taken;
    }

 private:
    boost::unordered_flat_map<NameView, ObjectChange, KeyHash, KeyEqual> changes_;
};

}  // namespace k8s_sd::inline v0::detail
