#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/relabel/relabel_rule.hpp"
#include "k8s_sd/relabel/relabeler.hpp"

#include <boost/json/value.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Parts of earlier jobs with their meaning: a thousand monitors repeat nearly all of them.
/// Bounded, and without secrets. Not thread-safe.
class KnownParts {
 public:
    struct Rule {
        boost::json::value text{};
        NameValidation names{};    ///< of the job with the rule
        SharedRulePtr compiled{};  ///< with the rule that was read
    };

    /// \returns null if it is not known
    const Rule* rule(const boost::json::value& text, NameValidation names) const;
    void add(Rule);

    /// The list `kubernetes_sd_configs`. \returns null if it is not known
    const std::vector<DiscoveryConfig>* discovery(const boost::json::value& text) const;
    void add(const boost::json::value& text, const std::vector<DiscoveryConfig>&);

 private:
    boost::unordered_flat_map<std::size_t, Rule> rules_;  ///< by the hash of the text
    boost::json::value discovery_text_;
    std::vector<DiscoveryConfig> discovery_;  ///< the last one
};

}  // namespace k8s_sd::inline v0::detail
