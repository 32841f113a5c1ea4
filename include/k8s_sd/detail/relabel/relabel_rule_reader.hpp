#pragma once

#include "k8s_sd/detail/config/mistakes.hpp"
#include "k8s_sd/detail/config/yaml_value.hpp"
#include "k8s_sd/detail/relabel/pattern.hpp"
#include "k8s_sd/relabel/relabeler.hpp"

#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Reads lists of relabelling rules and checks them. For parse_relabel_configs() and for what has
/// such lists among other things. Operators write the same rules for every job; what was found good
/// is not compiled again. The limit of instructions is for all lists together.
class RelabelRuleReader {
 public:
    /// \param list  null: none
    /// \returns the rules, those with mistakes left out
    std::vector<RelabelRule> read(const YamlValue& list, const RelabelOptions&, Mistakes&);

 private:
    std::set<std::pair<RelabelRule, RelabelOptions>> good_;
    std::optional<PatternBudget> patterns_;  ///< by the limits of the first list
};

}  // namespace k8s_sd::inline v0::detail
