#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/shared_values.hpp"
#include "k8s_sd/target_group.hpp"

#include <compare>
#include <cstddef>
#include <string>
#include <vector>

namespace k8s_sd::inline v0 {

/// A condition on the labels of a target: the values of some labels, joined, are one of a list. An
/// absent label has the value "".
struct LabelCondition {
    std::vector<std::string> labels{};  ///< names; at least one
    std::string separator{};            ///< between the values
    std::vector<std::string> values{};  ///< the joined value must be one of these
    auto operator<=>(const LabelCondition&) const = default;
};

/// The targets of use to a job: those that meet all conditions. Without a condition, all targets.
/// target_filter() makes one of relabelling rules.
struct K8S_SD_EXPORT TargetFilter {
    /// A target with a longer value in any label meets all conditions, so that a filter never
    /// hides a target beyond RelabelLimits.
    static constexpr std::size_t max_value_bytes = std::size_t{32} << 10;

    SharedList<LabelCondition> conditions{};  ///< all of them must be met
    auto operator<=>(const TargetFilter&) const = default;

    /// Whether all targets pass.
    bool empty() const noexcept { return conditions.empty(); }
    /// Whether a target of the group passes.
    bool passes(const TargetGroup&, std::size_t target) const;
    /// Whether any target of the group passes.
    bool passes_any(const TargetGroup&) const;
};

}  // namespace k8s_sd::inline v0
