#pragma once

#include "cli/command_line.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/fleet/membership.hpp"
#include "k8s_sd/warm_start.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <string>

namespace cli {

/// The options for the program's fleet and its status endpoint.
struct FleetOptions {
    std::string service;
    std::string service_namespace;
    std::string leases;  ///< name of a fleet
    unsigned members = 0;
    std::string self;
    unsigned replicas = 1;
    k8s_sd::FleetRules rules{};
    k8s_sd::Duration drain{};
    std::string node;  ///< --per-node
    bool allow_cluster_wide = false;
    bool divide = false;  ///< discovers only the part of this member
    unsigned slots = k8s_sd::Division().slots;
    k8s_sd::ObjectShare share{};
    std::string listen;

    bool is_fleet() const noexcept { return !service.empty() || !leases.empty() || members != 0; }
};

Section fleet_options(FleetOptions&);
Section fleet_rule_options(FleetOptions&);
/// For programs with configuration changes at run time.
Section fleet_division_options(FleetOptions&);
Section agent_options(FleetOptions&);

/// Refuses inconsistent options. \throws UsageError
void check(const FleetOptions&);

/// Adapts the configuration to this member of the fleet, or to an agent on this node: spreads its
/// start, and divides it, or restricts it to a share or the node. \throws k8s_sd::ConfigError
void adapt(k8s_sd::DiscoveryConfig&, const FleetOptions&);

/// \param server  its EndpointSlices are watched
/// \param warm    the directory for the view as for the targets
/// \throws k8s_sd::ConfigError, UsageError
k8s_sd::MembershipConfig membership_config(const boost::asio::any_io_executor&, const FleetOptions&,
                                           const k8s_sd::DiscoveryConfig& server,
                                           const k8s_sd::WarmStart& warm);

}  // namespace cli
