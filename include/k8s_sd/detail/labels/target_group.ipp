#include "k8s_sd/target_group.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

namespace k8s_sd::inline v0 {

TargetChanges compare_targets(const TargetGroupPtr& previous, const TargetGroupPtr& current) {
    TargetChanges changes;
    const std::size_t before = previous ? previous->size() : 0;
    const std::size_t now = current ? current->size() : 0;
    // Equal targets can occur more than once: each of the previous ones is used up by one.
    boost::unordered_flat_map<std::size_t, std::vector<std::size_t>> by_hash;
    for (std::size_t i = before; i-- > 0;) by_hash[(*previous)[i].hash()].push_back(i);
    std::vector<bool> used(before);
    for (std::size_t i = 0; i < now; ++i) {
        const Labels target = (*current)[i];
        auto it = by_hash.find(target.hash());
        bool kept = false;
        if (it != by_hash.end()) {
            auto& candidates = it->second;
            for (auto candidate = candidates.rbegin(); candidate != candidates.rend();
                 ++candidate) {
                if ((*previous)[*candidate] != target) continue;
                used[*candidate] = kept = true;
                candidates.erase(std::next(candidate).base());
                break;
            }
        }
        (kept ? changes.kept : changes.added).push_back(i);
    }
    for (std::size_t i = 0; i < before; ++i) {
        if (!used[i]) changes.removed.push_back(i);
    }
    return changes;
}

}  // namespace k8s_sd::inline v0
