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

/// Why a target is not scraped although nothing is wrong with it.
enum class DropReason : std::uint8_t {
    relabelling,  ///< a rule dropped it
    sharding,     ///< another member owns it
};

/// A target that cannot be scraped, in words: what is wrong with which label.
struct TargetError {
    std::string message;  ///< for people
};

/// A target of another member of the fleet.
struct OthersTarget {
    std::uint64_t key;  ///< of the target; see FleetShare::owns()
};

/// What became of a discovered target.
using BuiltTarget = std::variant<ScrapeTargetPtr, DropReason, TargetError, OthersTarget>;

/// What becomes of a target, step by step and for people.
struct TargetExplanation {
    LabelMap discovered;             ///< before the rules, with the job's defaults
    std::vector<RelabelStep> rules;  ///< what they did; see Relabeler::explain()
    std::vector<std::string> steps;  ///< what came after them; the last one is the outcome
    /// Of the target, without `__meta_*`; none where it is dropped or fails.
    std::optional<LabelMap> labels;
    std::string url;  ///< of the target; empty where it is dropped or fails
};

/// Makes scrape targets of discovered ones: job defaults, relabelling, sharding, checks. Rules:
/// Prometheus' `PopulateLabels` and `Target.URL`, vmagent's `getScrapeWork` and `GetScrapeURL`;
/// docs/guide/scrape-targets.md tells them. Not thread-safe.
class K8S_SD_EXPORT TargetBuilder {
 public:
    /// \throws ConfigError for a field of ScrapeConfig or a relabelling rule
    explicit TargetBuilder(ScrapeConfig, Sharding = {}, const RelabelLimits& = {});
    TargetBuilder(TargetBuilder&&) noexcept;
    TargetBuilder& operator=(TargetBuilder&&) noexcept;
    ~TargetBuilder();

    /// As it was given.
    const ScrapeConfig& config() const noexcept;
    /// As it was given.
    const Sharding& sharding() const noexcept { return sharding_; }
    /// Makes the scrape target of one target of a group, or says why there is none. A target of
    /// which the rules make more than the limits allow is a TargetError.
    BuiltTarget build(const TargetGroupPtr&, std::size_t index, const FleetShare& = {});
    /// What decides which member of a fleet owns a target: TargetGroup::share_key() where members
    /// divide what they discover. Else its job and its URL, or those of
    /// ShardingOptions::shard_by_labels that it has; targets that are the same have the same key.
    std::uint64_t share_key(const ScrapeTarget&) const;
    /// The labels of a target before relabelling.
    LabelMap discovered(const TargetGroup&, std::size_t index) const;
    /// What build() does with a target, step by step, and slower.
    TargetExplanation explain(const TargetGroup&, std::size_t index, const FleetShare& = {});
    /// The same for a target with these labels, which no group has made.
    TargetExplanation explain(const LabelMap& target, const FleetShare& = {});

 private:
    struct Scrape;
    using Finished = std::variant<Scrape, DropReason, TargetError>;

    Finished finish(std::vector<std::string>* account);
    /// \param group_key  TargetGroup::share_key(); 0: none
    TargetExplanation explain_labels(const FleetShare&, std::uint64_t group_key);
    template <class LabelsOfTarget>
    std::uint64_t share_key(std::uint64_t group_key, const LabelsOfTarget&,
                            std::string_view url) const;

    std::shared_ptr<const detail::PreparedJob> job_;
    Relabeler relabeler_;
    Sharding sharding_;
    std::unique_ptr<detail::TargetPacker> packer_;
    MutableLabels labels_;  // empty between targets; kept for its memory
};

}  // namespace k8s_sd::inline v0
