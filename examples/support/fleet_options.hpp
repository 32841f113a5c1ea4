#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/fleet/membership.hpp"
#include "k8s_sd/warm_start.hpp"
#include "support/command_line.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <string>

namespace support {

/// What the command line says about the fleet that this program is a member of, and about who asks
/// how it is.
struct FleetOptions {
    std::string service;
    std::string service_namespace;
    std::string leases;  ///< the name of a fleet
    unsigned members = 0;
    std::string self;
    unsigned replicas = 1;
    k8s_sd::FleetRules rules{};
    k8s_sd::Duration drain{};
    std::string node;  ///< --per-node
    bool allow_cluster_wide = false;
    bool divide = false;  ///< discovers its part only
    unsigned slots = k8s_sd::Division().slots;
    k8s_sd::ObjectShare share{};
    std::string listen;

    bool is_fleet() const noexcept { return !service.empty() || !leases.empty() || members != 0; }
};

Section fleet_options(FleetOptions&);
Section fleet_rule_options(FleetOptions&);
/// For programs whose configuration may change while they run.
Section fleet_division_options(FleetOptions&);
Section agent_options(FleetOptions&);

/// Refuses what does not go together. \throws UsageError
void check(const FleetOptions&);

/// The configuration as a member of this fleet, or an agent on this node, uses it: begins when its
/// turn is, and is divided, or restricted to a share or the node. \throws k8s_sd::ConfigError
void adapt(k8s_sd::DiscoveryConfig&, const FleetOptions&);

/// \param server  whose EndpointSlices are watched
/// \param warm    the view is kept where the targets are
/// \throws k8s_sd::ConfigError, UsageError
k8s_sd::MembershipConfig membership_config(const boost::asio::any_io_executor&, const FleetOptions&,
                                           const k8s_sd::DiscoveryConfig& server,
                                           const k8s_sd::WarmStart& warm);

}  // namespace support
