#pragma once

#include "cli/command_line.hpp"
#include "k8s_sd/config.hpp"

#include <functional>
#include <string>
#include <vector>

namespace cli {

/// The options for the names of clusters, and for several of them.
struct ClusterOptions {
    std::vector<std::string> contexts;  ///< of the kubeconfig
    bool all_contexts = false;          ///< all contexts of the kubeconfig
    bool profiles = false;              ///< the ClusterProfiles of a hub; the program reads them
    std::string name;                   ///< of a single cluster; empty: none
    std::string label;                  ///< name of the label; empty: the default

    /// Whether they describe several clusters.
    bool several() const noexcept { return all_contexts || profiles || contexts.size() > 1; }
};

/// server_options() with the options for several clusters; `--context` may be repeated.
Section several_server_options(k8s_sd::DiscoveryConfig&, ClusterOptions&,
                               const std::string& otherwise);

/// Refuses inconsistent options. \throws UsageError
void check(const ClusterOptions&);

/// The configurations for all clusters of the options: `config` itself, with its name, or one for
/// each context. Finds and reads the kubeconfig. Contexts of --all-contexts that cannot be used are
/// left out. `on_warning` receives them, in words, and contexts of one server; `on_left_out`, if
/// given, receives the former in its place. All texts are printable, but not the names. With
/// `profiles` there is none.
/// \throws k8s_sd::ConfigError, Unusable
std::vector<k8s_sd::DiscoveryConfig> configs_of(
    k8s_sd::DiscoveryConfig config, const ClusterOptions&,
    const std::function<void(const std::string&)>& on_warning,
    const std::function<void(const std::string& context, const std::string& why)>& on_left_out =
        {});

}  // namespace cli
