#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/division.hpp"
#include "k8s_sd/fleet/fleet_view.hpp"
#include "k8s_sd/fleet/membership.hpp"
#include "k8s_sd/time.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

/// What a configuration can be divided by: namespaces where it names several of them. Else objects
/// for roles pod, node and service; for others namespaces where it names none (see
/// DividedDiscovery::set_namespaces()), and nothing where it names one.
K8S_SD_EXPORT Division usual_division(const DiscoveryConfig&);

/// The parts of configurations that one member of a fleet discovers, where the fleet divides them
/// (DiscoveryConfig::division). A member that knows its share discovers that, and nothing else: the
/// memory and the time of each member fall with the number of members. So does what the server
/// sends, with DivideBy::namespaces always and with DivideBy::objects if it knows shares (see
/// WatchOptions::server_side_shares).
///
/// It discovers more than it owns: what it would own if it were a member already, so that it is
/// ready when it becomes one, and what it owned a short time ago, which is being handed over. Who
/// owns which of the targets is decided as ever: TargetPool and GroupShare ask the keys of the
/// groups, see TargetGroup::share_key(). Objects that come in two configurations with an equal
/// division have one owner, whatever the job.
///
/// A job of a DiscoveryManager with such parts has no Job::supersede_timeout: a part that changes
/// while the server is away cannot be listed, and the targets of the one before are better than
/// none.
///
/// Not thread-safe, but tied to no thread.
class K8S_SD_EXPORT DividedDiscovery {
 public:
    /// Discovers nothing until share().
    DividedDiscovery();

    /// How long it goes on with what others own now; of changes to come. It has to be a little
    /// longer than the longest hand-over of targets, which is twice their interval and 30 s at
    /// least. The new owner has that time to list its part. Default: 35 s.
    void set_handover(Duration handover) noexcept { handover_ = handover; }
    /// What this member owns from now on; a FleetShare without a fleet: everything. Ask part_of()
    /// again.
    void share(const FleetShare&, TimePoint now);
    /// The namespaces of the cluster, as a Watcher<api::Namespace> tells them, for configurations
    /// that are divided by namespaces and name none: before the first call nothing of these is
    /// discovered. Of one cluster: each has a DividedDiscovery of its own. Ask part_of() again.
    void set_namespaces(std::vector<std::string> names) { namespaces_ = std::move(names); }
    /// When finish_handovers() has something to do; nullopt: nothing is handed over.
    std::optional<TimePoint> next_handover() const noexcept;
    /// What was handed over by now is not discovered any more. Ask part_of() again.
    void finish_handovers(TimePoint now);

    /// Whether this member knows its part: it knows the others, or that nobody has a share yet.
    /// When its parts have been listed then, it is synced, see Membership::set_synced().
    bool knows_part(const FleetStatus&) const noexcept;

    /// The configuration for this member: with the ranges of DiscoveryConfig::share, or the
    /// namespaces, that it discovers. One that is not divided is as it was. A share of more ranges
    /// than a request may have is made larger by the smallest of its gaps.
    /// \returns nullopt if it discovers nothing of it
    /// \throws ConfigError for a `share` of the configuration's own where objects are divided
    std::optional<DiscoveryConfig> part_of(DiscoveryConfig) const;
    /// The parts of several, in their order, without those of which it discovers nothing.
    std::vector<DiscoveryConfig> parts_of(const std::vector<DiscoveryConfig>&) const;

 private:
    struct HandedOver {
        FleetShare share;
        TimePoint until;
    };

    bool discovers(std::uint64_t key) const noexcept;
    std::vector<HashRange> ranges(unsigned slots) const;

    Duration handover_ = std::chrono::seconds(35);
    FleetShare share_;
    std::vector<HandedOver> before_;
    std::vector<std::string> namespaces_;
};

}  // namespace k8s_sd::inline v0
