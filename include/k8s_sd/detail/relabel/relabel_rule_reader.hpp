#pragma once

#include "k8s_sd/detail/config/mistakes.hpp"
#include "k8s_sd/detail/config/yaml/yaml_value.hpp"
#include "k8s_sd/detail/relabel/relabel_rule.hpp"
#include "k8s_sd/relabel/relabeler.hpp"

#include <optional>
#include <set>

namespace k8s_sd::inline v0::detail {

/// Reads and validates lists of relabelling rules, for parse_relabel_configs() and for larger
/// documents. Operators repeat the same rules for every job, so valid rules are compiled once. All
/// lists share the limit of instructions.
class RelabelRuleReader {
 public:
    /// \param list  null: no rules
    /// \returns the valid rules
    RelabelRules read(const YamlValue& list, const RelabelOptions&, Mistakes&);

 private:
    std::set<SharedRulePtr> compiled_;
    std::optional<PatternBudget> patterns_;  ///< with the limits of the first list
};

}  // namespace k8s_sd::inline v0::detail
