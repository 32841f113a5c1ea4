#include "target_pairs.hpp"

#include <map>
#include <numeric>

namespace discover {

namespace {

/// None of the previous targets continue.
TargetPairs replace_all(const k8s_sd::GroupChange& change) {
    TargetPairs pairs;
    pairs.added.resize(change.group->size());
    pairs.removed.resize(change.previous ? change.previous->size() : 0);
    std::iota(pairs.added.begin(), pairs.added.end(), std::size_t{0});
    std::iota(pairs.removed.begin(), pairs.removed.end(), std::size_t{0});
    return pairs;
}

}  // namespace

TargetPairs pair_targets(const k8s_sd::GroupChange& change) {
    if (!change.previous || change.replaced) return replace_all(change);
    const k8s_sd::TargetChanges changes = change.targets();
    TargetPairs pairs;
    pairs.kept = changes.kept.size();
    pairs.group_labels_changed = change.previous->labels() != change.group->labels();
    std::multimap<std::string_view, std::size_t> previous;
    for (const std::size_t i : changes.removed)
        previous.emplace(address_of(*change.previous, i), i);
    for (const std::size_t i : changes.added) {
        const auto it = previous.find(address_of(*change.group, i));
        if (it == previous.end()) {
            pairs.added.push_back(i);
        } else {
            pairs.changed.emplace_back(it->second, i);
            previous.erase(it);
        }
    }
    for (const auto& [address, i] : previous) pairs.removed.push_back(i);
    return pairs;
}

std::string_view address_of(const k8s_sd::TargetGroup& group, std::size_t target) {
    return group[target].get("__address__").value_or("");
}

}  // namespace discover
