#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/config/config_file.hpp"
#include "k8s_sd/detail/config/kubeconfig/kubeconfig.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

/// A kubeconfig defines the access to its server, so other server options conflict with it.
void use_kubeconfig(DiscoveryConfig& config, std::string found) {
    if (const char* option = detail::first_server_option(config.api_server)) {
        throw ConfigError(option, "needs the URL of api_server; without one, the kubeconfig "
                                  "determines the server and its credentials: " +
                                      detail::printable(found));
    }
    config.kubeconfig_file = std::move(found);
}

/// Finders fill the configuration and return "", or return why they found nothing. A file named
/// explicitly must exist: a fallback to another file might reach another cluster.
std::string try_kubeconfig_variable(DiscoveryConfig& config) {
    const std::vector<std::string> paths = detail::split_path_list(variable("KUBECONFIG"));
    if (paths.empty()) return "$KUBECONFIG (not set)";
    if (std::all_of(paths.begin(), paths.end(), detail::is_missing)) {
        throw ConfigError("$KUBECONFIG",
                          "none of these files exists: " + detail::printable(detail::join(paths)) +
                              "; name one that does, or unset the variable");
    }
    use_kubeconfig(config, detail::join(paths, ":"));
    return {};
}

std::string try_in_cluster(const DiscoveryConfig& config, const InClusterFiles& files) {
    if (!config.kubeconfig_context.empty()) return "in-cluster (not with a context)";
    for (const char* name : {"KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"}) {
        if (variable(name).empty()) return "in-cluster (" + std::string(name) + " is not set)";
    }
    const std::string token = files.directory + "/token";
    return detail::is_file(token) ? "" : "in-cluster (no such file: " + token + ")";
}

std::string try_home(DiscoveryConfig& config) {
    const std::string home = variable("HOME");
    if (home.empty()) return "~/.kube/config (HOME is not set)";
    const std::string path = home + "/.kube/config";
    if (!detail::is_file(path)) return "~/.kube/config (no such file: " + path + ")";
    use_kubeconfig(config, path);
    return {};
}

}  // namespace

void find_api_server(DiscoveryConfig& config, const InClusterFiles& files) {
    if (!config.api_server.url.empty() || !config.kubeconfig_file.empty()) return;
    const std::string variable_failure = try_kubeconfig_variable(config);
    if (variable_failure.empty()) return;
    const std::string cluster_failure = try_in_cluster(config, files);
    if (cluster_failure.empty()) return;
    const std::string home_failure = try_home(config);
    if (home_failure.empty()) return;
    throw ConfigError("API server", "none was given and none was found; tried " + variable_failure +
                                        ", " + cluster_failure + ", " + home_failure);
}

}  // namespace k8s_sd::inline v0
