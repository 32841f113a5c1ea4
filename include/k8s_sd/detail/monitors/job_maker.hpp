#pragma once

#include "k8s_sd/detail/monitors/generation.hpp"
#include "k8s_sd/detail/relabel/relabel_rule.hpp"
#include "k8s_sd/detail/scrape/known_parts.hpp"
#include "k8s_sd/detail/scrape/scrape_job_reader.hpp"
#include "k8s_sd/monitors/monitor_source.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Makes jobs of generated configurations: reads them as those of a file, sets the server, replaces
/// placeholders and compiles the rules. Not thread-safe.
class JobMaker {
 public:
    /// \param config  must outlive this object
    explicit JobMaker(const MonitorSourceConfig& config) : config_(config) {}

    /// The owner of the next jobs. \throws ConfigError if it is unusable; the previous one stays
    void set_owner(const MonitorOwner&);

    struct Made {
        MonitorJobPtr job{};
        std::size_t bytes = 0;               ///< of memory, roughly
        std::vector<SharedRulePtr> rules{};  ///< its own, for the host, which compiles the same
    };
    /// Requires an owner.
    /// \param object    in words, see MonitorJob::object
    /// \param before    an equal job among these is taken
    /// \param patterns  for all jobs of the object
    /// \throws ConfigError
    Made make(const std::string& object, const GeneratedJob&, const std::vector<Made>& before,
              PatternBudget& patterns);

 private:
    using MadeRules = MadeParts<RelabelRule, SharedRule>;
    using MadeDiscoveries = MadeParts<DiscoveryConfig, DiscoveryConfig>;
    using DiscoveryPtr = std::shared_ptr<const DiscoveryConfig>;

    void adapt(DiscoveryConfig&) const;
    SharedList<DiscoveryConfig> adapted(const SharedList<DiscoveryConfig>&);
    DiscoveryPtr adapted(const DiscoveryPtr&);
    DiscoveryPtr in_use_or(DiscoveryPtr);
    RelabelRulePtr adapted(const RelabelRulePtr&) const;
    std::vector<SharedRulePtr> make_rules(ScrapeConfig&, PatternBudget&);

    const MonitorSourceConfig& config_;
    std::optional<ScrapeJobReader> reader_;
    std::string global_text_;         ///< of the owner
    bool is_of_vm_ = false;           ///< its dialect
    std::vector<std::string> zones_;  ///< see MonitorOwner::topology
    MadeDiscoveries discoveries_{64};
    /// Those with a server of their own may have credentials: only those in use are known.
    RecentParts<std::weak_ptr<const DiscoveryConfig>> of_other_servers_{64};
    MadeRules target_rules_{128};
    MadeRules metric_rules_{128};
};

}  // namespace k8s_sd::inline v0::detail
