#pragma once

#include "k8s_sd/detail/config/mistakes.hpp"
#include "k8s_sd/detail/config/yaml_value.hpp"
#include "k8s_sd/relabel/relabeler.hpp"

#include <set>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Reads lists of relabelling rules and checks them. For parse_relabel_configs() and for what has
/// such lists among other things. Operators write the same rules for every job; what was found good
/// is not compiled again.
class RelabelRuleReader {
 public:
    /// \param list  null: none
    /// \returns the rules, those with mistakes left out
    std::vector<RelabelRule> read(const YamlValue& list, const RelabelOptions&, Mistakes&);

 private:
    std::set<std::pair<RelabelRule, RelabelOptions>> good_;
};

}  // namespace k8s_sd::inline v0::detail
