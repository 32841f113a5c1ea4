#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/relabel/relabeler.hpp"
#include "k8s_sd/scrape/scrape_config.hpp"
#include "k8s_sd/scrape/scrape_target.hpp"
#include "k8s_sd/scrape/sharding.hpp"
#include "k8s_sd/target_group.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
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

/// What became of a discovered target.
using BuiltTarget = std::variant<ScrapeTargetPtr, DropReason, TargetError>;

/// Makes scrape targets of discovered ones: job defaults, relabelling, checks, sharding. Rules:
/// Prometheus' `PopulateLabels` (3.13) and `Target.URL`; docs/scrape-targets.md tells them.
/// With LabelDialect::victoriametrics intervals are written as Go does, `__address__` gets the
/// scheme's port where it has none, and there are no labels about histograms, as in vmagent.
/// Not thread-safe.
class K8S_SD_EXPORT TargetBuilder {
 public:
    /// \throws ConfigError for a field of ScrapeConfig or a relabelling rule
    explicit TargetBuilder(ScrapeConfig, Sharding = {});
    TargetBuilder(TargetBuilder&&) noexcept;
    TargetBuilder& operator=(TargetBuilder&&) noexcept;
    ~TargetBuilder();

    /// As it was given.
    const ScrapeConfig& config() const noexcept;
    /// As it was given.
    const Sharding& sharding() const noexcept { return sharding_; }
    /// Makes the scrape target of one target of a group, or says why there is none.
    BuiltTarget build(const TargetGroupPtr&, std::size_t index);
    /// The labels of a target before relabelling.
    LabelMap discovered(const TargetGroup&, std::size_t index) const;
    /// What relabelling does to one target, step by step. See Relabeler::explain().
    std::vector<RelabelStep> explain(const TargetGroup&, std::size_t index);

 private:
    BuiltTarget build_kept(const TargetGroupPtr&, std::size_t index);

    std::shared_ptr<const detail::PreparedJob> job_;
    Relabeler relabeler_;
    Sharding sharding_;
    std::unique_ptr<detail::TargetPacker> packer_;
    MutableLabels labels_;  // kept for its memory
};

}  // namespace k8s_sd::inline v0
