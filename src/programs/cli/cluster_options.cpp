#include "cli/cluster_options.hpp"

#include "cli/option_values.hpp"
#include "cli/server_options.hpp"
#include "cli/terminal_text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

namespace cli {

namespace {

using k8s_sd::DiscoveryConfig;

/// Sets the kubeconfig of the options or of the environment. A context excludes the pod's own
/// cluster from the search.
void find_kubeconfig(DiscoveryConfig& config) {
    config.kubeconfig_context = "any";
    find_api_server(config);
    config.kubeconfig_context.clear();
    if (!config.kubeconfig_file.empty()) return;
    throw UsageError("--api-server: is one server, and contexts are those of a kubeconfig; give "
                     "one of them");
}

std::vector<std::string> contexts_of(const DiscoveryConfig& config, const ClusterOptions& options) {
    if (!options.all_contexts) return options.contexts;
    std::vector<std::string> all = k8s_sd::kubeconfig_contexts(config.kubeconfig_file);
    if (all.empty()) {
        throw Unusable("--all-contexts: there is no context in " +
                       printable(config.kubeconfig_file, 1000) +
                       "; name another file with --kubeconfig");
    }
    return all;
}

void set_label(DiscoveryConfig& config, const ClusterOptions& options) {
    if (!options.label.empty()) config.cluster.label = options.label;
}

/// \throws UsageError for an invalid label or name
void check_names(const ClusterOptions& options) {
    DiscoveryConfig any;
    any.api_server.url = "http://localhost";
    any.cluster.name = options.name.empty() ? "any" : options.name;
    set_label(any, options);
    try {
        validate(any);
    } catch (const k8s_sd::ConfigError& e) {
        const bool is_label = e.where() == "cluster.label";
        throw UsageError((is_label ? "--cluster-label: " : "--cluster: ") + e.problem());
    }
}

}  // namespace

Section several_server_options(DiscoveryConfig& config, ClusterOptions& options,
                               const std::string& otherwise) {
    Section section = server_options(config, otherwise);
    const auto context = std::find_if(section.options.begin(), section.options.end(),
                                      [](const Option& o) { return o.name == "--context"; });
    context->help = "context of the kubeconfig; default: the current context; repeatable: each "
                    "context is a cluster, with its name as a label of its targets";
    context->set = [&](const std::string& name) {
        options.contexts.push_back(name);
        config.kubeconfig_context = name;
    };
    section.options.insert(
        context + 1, {{"--all-contexts", "", "every context of the kubeconfig, each as a cluster",
                       flag(options.all_contexts)},
                      {"--cluster", "NAME",
                       "name of the cluster, added to its targets as the label cluster=\"NAME\"",
                       text(options.name)},
                      {"--cluster-label", "LABEL", "name of that label (default cluster)",
                       text(options.label)}});
    return section;
}

void check(const ClusterOptions& options) {
    if (options.all_contexts && !options.contexts.empty()) {
        throw UsageError("--context: --all-contexts takes every context; give one of them");
    }
    if (options.profiles && (options.all_contexts || options.contexts.size() > 1)) {
        throw UsageError("--cluster-profiles: names the clusters, and the server is their hub; "
                         "name one context");
    }
    if (options.several() && !options.name.empty()) {
        throw UsageError("--cluster: names one server, and each of several clusters has a name of "
                         "its own; leave it out");
    }
    if (!options.label.empty() && options.name.empty() && !options.several()) {
        throw UsageError("--cluster-label: needs --cluster, or several clusters");
    }
    check_names(options);
}

std::vector<DiscoveryConfig> configs_of(
    DiscoveryConfig config, const ClusterOptions& options,
    const std::function<void(const std::string&)>& on_warning,
    const std::function<void(const std::string& context, const std::string& why)>& on_left_out) {
    if (!options.several()) {
        if (!options.name.empty()) config.cluster.name = options.name;
        set_label(config, options);
        return {std::move(config)};
    }
    if (options.profiles) return {};
    find_kubeconfig(config);
    config.cluster = {};
    std::vector<DiscoveryConfig> configs;
    std::map<std::array<std::string, 3>, std::string> contexts;  // by server
    for (DiscoveryConfig& one : configs_of_contexts(config, contexts_of(config, options))) {
        set_label(one, options);
        try {
            const k8s_sd::ApiServerConfig server = usable_server(one);
            const auto [known, is_new] = contexts.try_emplace(
                {server.url, server.tls.server_name, server.proxy.url}, one.kubeconfig_context);
            if (!is_new) {
                on_warning("contexts " + printable(known->second, 200) + " and " +
                           printable(one.kubeconfig_context, 200) +
                           " have the same server: its targets appear twice; choose one with "
                           "--context");
            }
            configs.push_back(std::move(one));
        } catch (const std::exception& e) {
            if (!options.all_contexts) throw;
            const std::string why = printable(e.what(), 2000);
            if (on_left_out) {
                on_left_out(one.kubeconfig_context, why);
            } else {
                on_warning("context " + printable(one.kubeconfig_context, 200) +
                           " is left out: " + why);
            }
        }
    }
    if (configs.empty()) {
        throw Unusable("--all-contexts: no context of " + printable(config.kubeconfig_file, 1000) +
                       " can be used");
    }
    return configs;
}

}  // namespace cli
