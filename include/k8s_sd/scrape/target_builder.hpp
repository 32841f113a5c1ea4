#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/fleet/fleet_view.hpp"
#include "k8s_sd/relabel/relabeler.hpp"
#include "k8s_sd/scrape/scrape_config.hpp"
#include "k8s_sd/scrape/scrape_target.hpp"
#include "k8s_sd/scrape/sharding.hpp"
#include "k8s_sd/target_group.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace k8s_sd::inline v0 {

namespace detail {
struct PreparedJob;
class TargetPacker;
}  // namespace detail

/// The reason for not scraping a valid target.
enum class DropReason : std::uint8_t {
    relabelling,  ///< a rule dropped it
    sharding,     ///< another member owns it
};

/// A target that cannot be scraped, with the label at fault and the problem.
struct TargetError {
    std::string message;  ///< for users
};

/// A target of another member of the fleet.
struct OthersTarget {
    std::uint64_t key;  ///< key of the target; see FleetShare::owns()
};

/// The result for a discovered target.
using BuiltTarget = std::variant<ScrapeTargetPtr, DropReason, TargetError, OthersTarget>;

/// The processing of a target, step by step, for users.
struct TargetExplanation {
    LabelMap discovered;             ///< before the rules, with the job's defaults
    std::vector<RelabelStep> rules;  ///< effects of the rules; see Relabeler::explain()
    std::vector<std::string> steps;  ///< the steps after them; the last one is the outcome
    /// Labels of the target, without `__meta_*`; nullopt if it is dropped or fails.
    std::optional<LabelMap> labels;
    std::string url;  ///< URL of the target; empty if it is dropped or fails
};

/// Makes scrape targets from discovered ones: job defaults, relabelling, sharding, checks. Rules:
/// Prometheus' `PopulateLabels` and `Target.URL`, vmagent's `getScrapeWork` and `GetScrapeURL`,
/// described in docs/guide/scrape-targets.md. Not thread-safe.
class K8S_SD_EXPORT TargetBuilder {
 public:
    /// \throws ConfigError for a field of ScrapeConfig or a relabelling rule
    explicit TargetBuilder(ScrapeConfig, Sharding = {}, const RelabelLimits& = {});
    /// The same, without a copy. The configuration must not change any more. The targets keep all
    /// that the pointer owns.
    /// \throws ConfigError as above, and for null
    explicit TargetBuilder(std::shared_ptr<const ScrapeConfig>, Sharding = {},
                           const RelabelLimits& = {});
    TargetBuilder(TargetBuilder&&) noexcept;
    TargetBuilder& operator=(TargetBuilder&&) noexcept;
    ~TargetBuilder();

    /// The configuration given at construction.
    const ScrapeConfig& config() const noexcept;
    /// The sharding given at construction.
    const Sharding& sharding() const noexcept { return sharding_; }
    /// Makes the scrape target of one target of a group, or returns why there is none. A target
    /// with results of rules beyond the limits is a TargetError.
    BuiltTarget build(const TargetGroupPtr&, std::size_t index, const FleetShare& = {});
    /// The key for the owner of a target in a fleet: TargetGroup::share_key() if members divide the
    /// discovered objects. Otherwise a hash of its job and URL, or of its labels in
    /// ShardingOptions::shard_by_labels; equal targets have the same key.
    std::uint64_t share_key(const ScrapeTarget&) const;
    /// The labels of a target before relabelling.
    LabelMap discovered(const TargetGroup&, std::size_t index) const;
    /// The result of build() for a target, step by step, and slower.
    TargetExplanation explain(const TargetGroup&, std::size_t index, const FleetShare& = {});
    /// The same for a target with arbitrary labels, outside of any group.
    TargetExplanation explain(const LabelMap& target, const FleetShare& = {});

 private:
    struct Scrape;
    using Finished = std::variant<Scrape, DropReason, TargetError>;

    Finished finish(MutableLabels&, std::vector<std::string>* account);
    /// \param group_key  TargetGroup::share_key(); 0: none
    TargetExplanation explain_labels(MutableLabels&, const FleetShare&, std::uint64_t group_key);
    template <class LabelsOfTarget>
    std::uint64_t share_key(std::uint64_t group_key, const LabelsOfTarget&,
                            std::string_view url) const;

    std::shared_ptr<const detail::PreparedJob> job_;
    Relabeler relabeler_;
    Sharding sharding_;
    std::unique_ptr<detail::TargetPacker> packer_;
};

}  // namespace k8s_sd::inline v0
