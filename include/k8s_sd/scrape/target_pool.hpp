#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/fleet/fleet_view.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/scrape/scrape_target.hpp"
#include "k8s_sd/scrape/stop_reason.hpp"
#include "k8s_sd/scrape/target_builder.hpp"
#include "k8s_sd/time.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace k8s_sd::inline v0 {

/// What a TargetPool asks of a scraper. A change stops first and starts last, so that one series
/// is never scraped twice at a time. Called by the function of the pool that makes the change, in
/// its thread. Must not throw. It may call the pool: of what that changes it is told when it knows
/// all of the change before. It may destroy the pool, and is not called any more then.
class TargetHandler {
 public:
    /// The target is gone, has changed, or has moved to another member. Stop its scrapes.
    virtual void stop(TargetId, const ScrapeTargetPtr&, StopReason) noexcept = 0;
    /// Goes on as it is, url() and labels() are the same; only discovered_labels() are new.
    virtual void keep(TargetId, const ScrapeTargetPtr&) noexcept = 0;
    /// A new target, with a new number. Begin to scrape it.
    virtual void start(TargetId, const ScrapeTargetPtr&) noexcept = 0;

    /// TargetPool::reload() has brought another configuration. Comes before the other calls, which
    /// do not mention a target that goes on, although its samples may have to be treated otherwise
    /// now: with other `metric_relabel_configs`. What is no part of a ScrapeConfig, such as
    /// credentials, the host has to compare itself.
    virtual void reconfigure(const ScrapeConfig& before, const ScrapeConfig& now) noexcept {
        static_cast<void>(before), static_cast<void>(now);
    }
    /// TargetPool::limit_error() is set from now on, or no longer. Comes after the other calls.
    virtual void over_limit(bool) noexcept {}

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

/// How a pool shares its targets with other members of a fleet.
struct ShareCounts {
    std::size_t moving = 0;    ///< active targets that another member owns now
    std::size_t others = 0;    ///< targets that only other members scrape
    std::uint64_t gained = 0;  ///< targets that have come by changes of the share
    std::uint64_t handed = 0;  ///< targets that have moved away
};

/// The scrape targets of one job: turns diffs into calls of a TargetHandler. Only what a diff
/// brings is relabelled. A target that stays the same (ScrapeTarget::same_as) goes on; equal
/// targets, of whichever groups, are one. Where a function throws, nothing has changed.
///
/// Not thread-safe, but tied to no thread: the pools of a program can work side by side, each on a
/// strand of its own. What they are given and what they give out may be used in any thread.
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
    /// Another configuration for all groups: stops, keeps and starts what differs.
    /// \throws ConfigError as TargetBuilder
    void reload(ScrapeConfig, Sharding = {});
    /// Another configuration for the groups of these providers, and of those that come; the others
    /// keep the one that their groups were made with, until they go. A job whose discovery changes
    /// together with its rules has groups, for some time, that the new rules were not written for.
    /// \param providers  DiscoveryManager::providers() after the apply_config() of the same change;
    ///                   no diff of the job may be applied in between
    /// \throws ConfigError as TargetBuilder
    void reload(ScrapeConfig, Sharding, std::span<const ProviderId> providers);
    /// What this member of a fleet owns from now on; before the first call it owns everything.
    /// Starts the targets that it gains. Those that others own now go on for a while, twice their
    /// interval and 30 s at least, so that the new owner has begun before this one ends: see
    /// next_handover().
    void share(const FleetShare&, TimePoint now);
    /// When finish_handovers() has something to do; nullopt: no target moves.
    std::optional<TimePoint> next_handover() const noexcept;
    /// Stops targets that have moved by now, with StopReason::moved.
    void finish_handovers(TimePoint now);
    /// Counts what share_counts() says in these metrics, too, from the next change on; several
    /// pools may share them. Null: no longer.
    void set_metrics(std::shared_ptr<Metrics>);
    /// Stops all targets and forgets everything but the share.
    void clear();

    /// Whether a target of the pool comes from a snapshot that the API server has not confirmed:
    /// give it no credentials. See WarmStart.
    bool unconfirmed(const ScrapeTarget&) const;
    /// The newest configuration.
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
    ShareCounts share_counts() const noexcept;   ///< all zero where nothing is shared

 private:
    class Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace k8s_sd::inline v0
