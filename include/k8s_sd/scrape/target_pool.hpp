#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/scrape/scrape_target.hpp"
#include "k8s_sd/scrape/target_builder.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::inline v0 {

/// What a TargetPool asks of a scraper. A change stops first and starts last, so that one series
/// is never scraped twice at a time. Must not call back into the pool.
class TargetHandler {
 public:
    /// Comes first: the target is gone or has changed. Stop its scrapes.
    virtual void stop(const ScrapeTargetPtr&) = 0;
    /// Goes on as it is, url() and labels() are the same; only discovered_labels() are new.
    virtual void keep(const ScrapeTargetPtr&) = 0;
    /// Comes last: a new target. Begin to scrape it.
    virtual void start(const ScrapeTargetPtr&) = 0;

 protected:
    ~TargetHandler() = default;
};

/// A target that is not scraped although nothing is wrong with it.
struct DroppedTarget {
    std::string source;          ///< TargetGroup::source()
    LabelMap discovered_labels;  ///< before relabelling
    DropReason reason;           ///< who dropped it
};

/// A target that cannot be scraped.
struct FailedTarget {
    std::string source;     ///< TargetGroup::source()
    std::size_t index = 0;  ///< in its group
    std::string message;    ///< what is wrong with which label
};

/// The scrape targets of one job: turns diffs into calls of a TargetHandler. Only what a diff
/// brings is relabelled. A target that stays the same (ScrapeTarget::same_as) goes on; equal
/// targets, of whichever groups, are one. Not thread-safe.
class K8S_SD_EXPORT TargetPool {
 public:
    /// \param handler  must outlive the pool; not called by the destructor
    /// \throws ConfigError as TargetBuilder
    TargetPool(ScrapeConfig, TargetHandler& handler, Sharding = {});
    TargetPool(TargetPool&&) noexcept;
    TargetPool& operator=(TargetPool&&) noexcept;
    ~TargetPool();

    /// The job's diff from a DiscoveryManager.
    void apply(const JobDiff&);
    /// The diff of a Discoverer: the only source of this pool's targets.
    void apply(const TargetGroupDiff&);
    /// Another configuration for the groups it has: stops, keeps and starts what differs.
    /// \throws ConfigError as TargetBuilder; nothing has changed then
    void reload(ScrapeConfig, Sharding = {});
    /// Stops all targets and forgets everything.
    void clear();

    /// The present configuration.
    const ScrapeConfig& config() const noexcept;
    /// The targets to scrape, in no particular order.
    std::vector<ScrapeTargetPtr> active() const;
    std::size_t active_count() const noexcept;  ///< targets to scrape
    /// Set while there are more active targets than `target_limit`: why every scrape should fail.
    std::optional<std::string> limit_error() const;
    /// At most `keep_dropped_targets`, in no particular order.
    std::vector<DroppedTarget> dropped() const;
    std::size_t dropped_count() const noexcept;  ///< of all
    std::vector<FailedTarget> failed() const;    ///< in no particular order
    std::size_t failed_count() const noexcept;   ///< targets that cannot be scraped

 private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace k8s_sd::inline v0
