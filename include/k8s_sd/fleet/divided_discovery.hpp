#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/fleet/fleet_view.hpp"
#include "k8s_sd/fleet/membership.hpp"
#include "k8s_sd/shared_values.hpp"
#include "k8s_sd/time.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

/// The possible division of a configuration: by namespaces if it names several; otherwise by
/// objects for roles pod, node and service; for other roles by namespaces if it names none (see
/// DividedDiscovery::set_namespaces()), and none if it names one.
K8S_SD_EXPORT Division usual_division(const DiscoveryConfig&);

/// The parts of configurations discovered by one member of a fleet, if the fleet divides them
/// (DiscoveryConfig::division). A member with a known share discovers only this share: the memory
/// and CPU time of each member fall with the number of members. So does the traffic from the
/// server, always with DivideBy::namespaces, and with DivideBy::objects if the server supports
/// shares (see WatchOptions::server_side_shares).
///
/// A member discovers more than it owns: the part it would own as an active member, to be ready
/// when it becomes one, and the recently owned part during its hand-over. The owner of a target is
/// determined as without division: TargetPool and GroupShare use the keys of the groups, see
/// TargetGroup::share_key(). Objects of two configurations with an equal division have one owner,
/// whatever the job.
///
/// A job of a DiscoveryManager with such parts has no Job::supersede_timeout: a changed part cannot
/// be listed while the server is unreachable, and the previous targets are better than none.
///
/// Not thread-safe, but tied to no thread.
class K8S_SD_EXPORT DividedDiscovery {
 public:
    /// Discovers nothing until share().
    DividedDiscovery();

    /// Sets how long to go on discovering objects now owned by others; for future changes. Must be
    /// a little longer than the longest hand-over of targets: twice their interval, at least 30 s.
    /// Within this time the new owner lists its part. Default: 35 s.
    void set_handover(Duration handover) noexcept { handover_ = handover; }
    /// Sets the share of this member; a FleetShare without a fleet: everything. Call part_of()
    /// again afterwards.
    void share(const FleetShare&, TimePoint now);
    /// Sets the namespaces of the cluster, as reported by a Watcher<api::Namespace>, for
    /// configurations divided by namespaces without names of any: before the first call nothing of
    /// these is discovered. Each cluster needs a DividedDiscovery of its own. Call part_of() again
    /// afterwards.
    void set_namespaces(std::vector<std::string> names) { namespaces_ = std::move(names); }
    /// When to call finish_handovers(); nullopt: nothing is being handed over.
    std::optional<TimePoint> next_handover() const noexcept;
    /// Ends the discovery of parts whose hand-over has ended. Call part_of() again afterwards.
    void finish_handovers(TimePoint now);

    /// Whether this member knows its part: it knows the other members, or that no member has a
    /// share yet. Once its parts have been listed it is synced, see Membership::set_synced().
    bool knows_part(const FleetStatus&) const noexcept;

    /// The configuration for this member, restricted to its ranges of DiscoveryConfig::share or to
    /// its namespaces. An undivided configuration is returned unchanged. A share with too many
    /// ranges for a request is extended by its smallest gaps.
    /// \returns nullopt if it discovers nothing of the configuration
    /// \throws ConfigError for a `share` in the configuration if objects are divided
    std::optional<DiscoveryConfig> part_of(DiscoveryConfig) const;
    /// The parts of several configurations, in their order, without those nothing is discovered of.
    SharedList<DiscoveryConfig> parts_of(const SharedList<DiscoveryConfig>&) const;

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
