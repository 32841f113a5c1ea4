#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/logger.hpp"
#include "k8s_sd/warm_start.hpp"
#include "support/command_line.hpp"
#include "support/fleet_options.hpp"
#include "support/terminal.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace discover {

enum class Output { text, json, targets, quiet };

/// What the command line asks for.
struct Options {
    k8s_sd::DiscoveryConfig config;
    std::string sd_config;        ///< the file that it comes from; empty: none
    bool own_kubeconfig = false;  ///< --kubeconfig was given
    bool sim = false;
    unsigned jobs = 1;
    support::FleetOptions fleet;
    k8s_sd::WarmStart warm_start;
    bool check = false;           ///< try what the configuration needs
    bool print_rbac = false;      ///< print the permissions that it needs
    std::string service_account;  ///< empty: the usual one
    bool once = false;
    std::optional<k8s_sd::Duration> timeout;
    std::optional<k8s_sd::Duration> status_interval;
    Output output = Output::text;
    std::string explain;  ///< source of the group whose labels are explained; empty: none
    support::Colours colours = support::Colours::automatic;
    k8s_sd::LogLevel log_level = k8s_sd::LogLevel::warning;
};

/// The options of the program, which set these. The file of --sd-config is loaded first, wherever
/// it stands: the other options add to it.
support::CommandLine command_line(Options&);

/// Refuses what does not go together. \throws support::UsageError
void check(const Options&);

/// The option that sets the configuration's field, "--namespace" for "namespaces[1]"; empty if
/// there is none.
std::string_view option_of_field(std::string_view field) noexcept;

}  // namespace discover
