#pragma once

#include "cli/cluster_options.hpp"
#include "cli/command_line.hpp"
#include "cli/event_log.hpp"
#include "cli/fleet_options.hpp"
#include "cli/profile_options.hpp"
#include "cli/recording.hpp"
#include "cli/terminal.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/warm_start.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace discover {

enum class Output { text, json, targets, quiet };

/// The values of the options.
struct Options {
    k8s_sd::DiscoveryConfig config;
    cli::ClusterOptions clusters;
    /// The names of several clusters, by job; empty: a single cluster. The session sets them, and
    /// adds later ones of a hub.
    std::vector<std::string> cluster_names;
    std::string sd_config;        ///< the file of the configuration; empty: none
    bool own_kubeconfig = false;  ///< --kubeconfig was given
    bool sim = false;
    unsigned jobs = 1;
    cli::FleetOptions fleet;
    k8s_sd::WarmStart warm_start;
    bool check = false;            ///< try every step the configuration needs
    bool print_rbac = false;       ///< print the required permissions
    bool monitors = false;         ///< in both cases those of k8s-sd --monitors, too
    bool profiles_wanted = false;  ///< in both cases those of k8s-sd --cluster-profiles only
    cli::ProfileOptions profiles;
    std::string service_account;  ///< empty: the default one
    bool once = false;
    std::optional<k8s_sd::Duration> timeout;
    /// The end of `timeout`, from the start of the program; none: no timeout.
    std::optional<std::chrono::steady_clock::time_point> deadline;
    std::optional<k8s_sd::Duration> status_interval;
    Output output = Output::text;
    std::string explain;  ///< source of the group to explain; empty: none
    cli::Colours colours = cli::Colours::automatic;
    cli::LogOptions log;
    cli::RecordOptions record;
    std::string replay_file;                ///< a recording in place of the server; empty: none
    std::optional<k8s_sd::Duration> until;  ///< end of the replay; none: of the recording
    std::optional<double> speed;  ///< of the replay, 1: as recorded; none: as fast as possible
    /// The clock of the recording, for the times of lines; null: the real time.
    std::shared_ptr<k8s_sd::Clock> replay_clock;
};

/// The options of the program; they set `Options`. The file of --sd-config is loaded first,
/// regardless of its position: the other options add to it.
cli::CommandLine command_line(Options&);

/// Refuses inconsistent options. \throws cli::UsageError
void check(const Options&);

/// The option for a field of the configuration, "--namespace" for "namespaces[1]"; empty if there
/// is none.
std::string_view option_of_field(std::string_view field) noexcept;

}  // namespace discover
