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

/// The scraper of a TargetPool. A change stops first and starts last, so one series is never
/// scraped twice at a time. Called by the function of the pool that makes the change, in its
/// thread. Must not throw. It may call the pool; it then receives the resulting changes after all
/// calls for the present one. It may destroy the pool, and is not called any more then.
class TargetHandler {
 public:
    /// The target is gone, has changed, or has moved to another member. Stop its scrapes.
    virtual void stop(TargetId, const ScrapeTargetPtr&, StopReason) noexcept = 0;
    /// The target continues with the same url() and labels(), but with other discovered_labels() or
    /// settings about histograms: use the new object in place of the earlier one.
    virtual void keep(TargetId, const ScrapeTargetPtr&) noexcept = 0;
    /// A new target, with a new number. Begin to scrape it.
    virtual void start(TargetId, const ScrapeTargetPtr&) noexcept = 0;

    /// TargetPool::reload() has set another configuration. Precedes the other calls. They do not
    /// mention unchanged targets, although their samples may need other processing now: with other
    /// `metric_relabel_configs`. The host itself must compare settings outside of ScrapeConfig,
    /// such as credentials.
    virtual void reconfigure(const ScrapeConfig& before, const ScrapeConfig& now) noexcept {
        static_cast<void>(before), static_cast<void>(now);
    }
    /// TargetPool::limit_error() has been set or cleared. Follows the other calls.
    virtual void over_limit(bool) noexcept {}

 protected:
    ~TargetHandler() = default;
};

/// A valid target that is not scraped.
struct DroppedTarget {
    std::string source;          ///< TargetGroup::source()
    LabelMap discovered_labels;  ///< before relabelling
    DropReason reason;           ///< the reason
};

/// A target that cannot be scraped.
struct FailedTarget {
    std::string source;     ///< TargetGroup::source()
    std::size_t index = 0;  ///< in its group
    std::string message;    ///< the label at fault and the problem
};

/// How a pool shares its targets with other members of a fleet.
struct ShareCounts {
    std::size_t moving = 0;    ///< active targets now owned by another member
    std::size_t others = 0;    ///< targets scraped by other members only
    std::uint64_t gained = 0;  ///< targets gained by changes of the share
    std::uint64_t handed = 0;  ///< targets handed over to other members
};

/// The scrape targets of one job: turns diffs into calls of a TargetHandler. Relabels only changed
/// groups. An unchanged target (ScrapeTarget::same_as) continues; equal targets of any groups are
/// one target. If a function throws, the pool is unchanged.
///
/// Not thread-safe, but tied to no thread: the pools of a program can run in parallel, each on a
/// strand of its own. Arguments and results may be used in any thread.
class K8S_SD_EXPORT TargetPool {
 public:
    /// \param handler  must outlive the pool; not called by the destructor
    /// \throws ConfigError as TargetBuilder
    TargetPool(ScrapeConfig, TargetHandler& handler, Sharding = {});
    /// The same, without a copy: many jobs have many rules. The configuration must not change any
    /// more. The pool and its targets keep all that the pointer owns, even after a reload() with an
    /// equal configuration. So it must not own secrets, like a pointer to the member of a ScrapeJob
    /// would.
    /// \throws ConfigError as TargetBuilder
    TargetPool(std::shared_ptr<const ScrapeConfig>, TargetHandler& handler, Sharding = {});
    TargetPool(TargetPool&&) noexcept;
    TargetPool& operator=(TargetPool&&) noexcept;
    ~TargetPool();

    /// Applies the job's diff from a DiscoveryManager.
    void apply(const JobDiff&);
    /// Applies the diff of a Discoverer, as the only source of this pool's targets. A diff in parts
    /// is applied with its last part.
    void apply(const TargetGroupDiff&);
    /// Sets another configuration for all groups: stops, keeps and starts targets accordingly.
    /// \throws ConfigError as TargetBuilder
    void reload(ScrapeConfig, Sharding = {});
    /// Sets another configuration for the groups of these providers, and for future ones; other
    /// groups keep their previous configuration until they are removed. A job with changes in both
    /// discovery and rules has groups, for some time, not meant for the new rules.
    /// \param providers  DiscoveryManager::providers() after the apply_config() of the same change;
    ///                   no diff of the job may be applied in between
    /// \throws ConfigError as TargetBuilder
    void reload(ScrapeConfig, Sharding, std::span<const ProviderId> providers);
    /// As reload(ScrapeConfig, Sharding), without a copy; see the constructor.
    /// \throws ConfigError as TargetBuilder
    void reload(std::shared_ptr<const ScrapeConfig>, Sharding = {});
    /// As reload() for these providers, without a copy; see the constructor.
    /// \throws ConfigError as TargetBuilder
    void reload(std::shared_ptr<const ScrapeConfig>, Sharding, std::span<const ProviderId>);
    /// Sets the share of this member of a fleet; before the first call it owns everything. Starts
    /// the gained targets. Targets now owned by others continue for twice their interval and at
    /// least 30 s, so the new owner starts before this one stops: see next_handover().
    void share(const FleetShare&, TimePoint now);
    /// When to call finish_handovers(); nullopt: no target is moving.
    std::optional<TimePoint> next_handover() const noexcept;
    /// Stops targets whose hand-over has ended, with StopReason::moved.
    void finish_handovers(TimePoint now);
    /// Adds the counts of share_counts() to these metrics too, from the next change on; several
    /// pools may share them. Null: stops that.
    void set_metrics(std::shared_ptr<Metrics>);
    /// Stops all targets and drops everything except the share.
    void clear();

    /// Whether a target comes from a snapshot not confirmed by the API server: send it no
    /// credentials. See WarmStart.
    bool unconfirmed(const ScrapeTarget&) const;
    /// The latest configuration.
    const ScrapeConfig& config() const noexcept;
    /// The targets to scrape, in no particular order.
    std::vector<ScrapeTargetPtr> active() const;
    std::size_t active_count() const noexcept;  ///< targets to scrape
    /// Set while there are more active targets than `target_limit`: the error for every scrape.
    std::optional<std::string> limit_error() const;
    /// At most `keep_dropped_targets`, in no particular order. For a job with a filter they include
    /// the targets left out, as of now; see ProviderDiff::all.
    std::vector<DroppedTarget> dropped() const;
    /// All dropped targets, as above; approximate while changes of the filtered groups are pending.
    std::size_t dropped_count() const noexcept;
    std::vector<FailedTarget> failed() const;   ///< in no particular order
    std::size_t failed_count() const noexcept;  ///< targets that cannot be scraped
    ShareCounts share_counts() const noexcept;  ///< all zero if nothing is shared

 private:
    class Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace k8s_sd::inline v0
