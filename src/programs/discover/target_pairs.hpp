#pragma once

#include "k8s_sd/target_group.hpp"

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace discover {

/// A group's change as users see it: a target keeps its identity as long as it keeps its address,
/// regardless of its other labels.
struct TargetPairs {
    std::vector<std::size_t> added;                            ///< indices in the new group
    std::vector<std::size_t> removed;                          ///< indices in the previous group
    std::vector<std::pair<std::size_t, std::size_t>> changed;  ///< previous, new: own labels differ
    std::size_t kept = 0;                                      ///< with the same own labels
    bool group_labels_changed = false;  ///< the labels of all targets change, too

    std::size_t updated() const { return changed.size() + (group_labels_changed ? kept : 0); }
};

TargetPairs pair_targets(const k8s_sd::GroupChange&);

std::string_view address_of(const k8s_sd::TargetGroup&, std::size_t target);

}  // namespace discover
