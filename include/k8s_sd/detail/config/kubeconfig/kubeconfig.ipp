#include "k8s_sd/detail/config/complete_server.hpp"
#include "k8s_sd/detail/config/config_file.hpp"
#include "k8s_sd/detail/config/kubeconfig/kubeconfig.hpp"
#include "k8s_sd/detail/config/proxy.hpp"
#include "k8s_sd/detail/config/urls.hpp"
#include "k8s_sd/detail/text/printable.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

/// kubectl does not support socks5h, unlike other tools.
std::string read_proxy(const YamlValue& value) {
    std::string url = value.string();
    if (url.empty()) return url;
    try {
        parse_proxy_url(url, "");
    } catch (const ConfigError& e) {
        value.fail(e.problem());
    }
    if (lower_case(url).starts_with("socks5h"))
        value.fail("must begin with http://, https:// or socks5://");
    return url;
}

void read_cluster(const KubeconfigEntry& cluster, ApiServerConfig& server) {
    const YamlValue& body = cluster.body;
    server.url = body["server"].string();
    if (server.url.empty()) body["server"].fail("is missing");
    server.proxy.url = read_proxy(body["proxy-url"]);
    read_pem(cluster, "certificate-authority", server.tls.ca, server.tls.ca_file);
    server.disable_compression = body["disable-compression"].boolean();
    server.tls.server_name = read_line(body["tls-server-name"]);
    server.tls.insecure_skip_verify = body["insecure-skip-tls-verify"].boolean();
    if (server.tls.insecure_skip_verify && !(server.tls.ca.empty() && server.tls.ca_file.empty())) {
        body["insecure-skip-tls-verify"].fail("must not be set together with a "
                                              "certificate-authority; remove one of them");
    }
}

ServerUrl server_url(const ApiServerConfig& server, const YamlValue& cluster) {
    try {
        return parse_server_url(server.url, server.tls != TlsConfig{});
    } catch (const ConfigError& e) {
        cluster["server"].fail(e.problem());
    }
}

/// Without TLS anyone on the network could read secrets. Impersonation is not secret.
void drop_credentials(ApiServerConfig& server) {
    server.auth = {};
    server.tls = {};
}

std::string choose_context(const MergedKubeconfig& config, const std::string& wanted,
                           const std::string& files) {
    std::string name = wanted.empty() ? config.current_context : wanted;
    if (name.empty()) {
        throw ConfigError(files, "current-context is not set; name a context, " +
                                     list_names(config.contexts));
    }
    if (config.contexts.contains(name)) return name;
    throw ConfigError(files, "there is no context " + in_quotes(printable(name)) + "; " +
                                 list_names(config.contexts));
}

ApiServerConfig select_context(const MergedKubeconfig& config, const std::string& name) {
    const YamlValue& context = config.contexts.at(name).body;
    // g++ 14 takes the entry for a part of a temporary argument, and warns.
    const YamlValue named = context["cluster"];
    const KubeconfigEntry& cluster = find_entry(config.clusters, named);
    ApiServerConfig server;
    read_cluster(cluster, server);
    if (!context["user"].is_empty()) {
        read_user(find_entry(config.users, context["user"]), cluster.body, server);
    }
    const ServerUrl url = server_url(server, cluster.body);
    if (!url.tls) drop_credentials(server);
    server.url = to_string(url);
    return server;
}

}  // namespace

std::vector<std::string> split_path_list(std::string_view list) {
    std::vector<std::string> result;
    while (!list.empty()) {
        const std::size_t colon = std::min(list.find(':'), list.size());
        std::string path(list.substr(0, colon));
        const bool known = std::find(result.begin(), result.end(), path) != result.end();
        if (!path.empty() && !known) result.push_back(std::move(path));
        list.remove_prefix(std::min(colon + 1, list.size()));
    }
    return result;
}

ApiServerConfig read_kubeconfig(std::span<const KubeconfigFile> files, const std::string& context,
                                const ApiServerConfig& own) {
    MergedKubeconfig config;
    KubeconfigOrigin origin;
    for (const KubeconfigFile& file : files) {
        config.merge(file);
        origin.files.push_back(file.path);
    }
    origin.context = choose_context(config, context, printable(join(origin.files)));
    origin.impersonate = own.impersonate;
    origin.proxy = own.proxy;
    ApiServerConfig server = select_context(config, origin.context);
    // kubectl uses the proxies of the environment, too.
    server = complete_server(std::move(server), own, EnvironmentProxies::by_default, "kubeconfig");
    server.kubeconfig = std::move(origin);
    return server;
}

std::vector<KubeconfigText> read_kubeconfig_files(const std::string& path) {
    // A path may contain a colon itself.
    const std::vector<std::string> paths =
        is_file(path) ? std::vector<std::string>{path} : split_path_list(path);
    std::vector<KubeconfigText> files;
    for (const std::string& file : paths) {
        // As in kubectl, an existing but unreadable file is an error.
        if (paths.size() > 1 && is_missing(file)) continue;
        files.push_back({file, read_config_file(file, "kubeconfig_file")});
    }
    if (files.empty()) {
        throw ConfigError("kubeconfig_file",
                          "none of these files exists: " + printable(join(paths)));
    }
    return files;
}

ApiServerConfig load_kubeconfig(const std::string& path, const std::string& context,
                                const ApiServerConfig& own) {
    const std::vector<KubeconfigText> texts = read_kubeconfig_files(path);
    std::vector<KubeconfigFile> files;
    files.reserve(texts.size());
    for (const KubeconfigText& text : texts) files.push_back({text.path, text.content});
    return read_kubeconfig(files, context, own);
}

}  // namespace k8s_sd::inline v0::detail

namespace k8s_sd::inline v0 {

std::vector<std::string> kubeconfig_contexts(const std::string& kubeconfig_file) {
    detail::MergedKubeconfig config;
    const auto texts = detail::read_kubeconfig_files(kubeconfig_file);
    for (const auto& text : texts) config.merge({text.path, text.content});
    std::vector<std::string> names;
    for (const auto& [name, context] : config.contexts) names.push_back(name);
    return names;
}

std::vector<DiscoveryConfig> configs_of_contexts(const DiscoveryConfig& config,
                                                 const std::vector<std::string>& contexts) {
    if (config.kubeconfig_file.empty()) {
        throw ConfigError("kubeconfig_context",
                          "needs kubeconfig_file; contexts are those of a kubeconfig");
    }
    if (!config.kubeconfig_context.empty() || !config.cluster.name.empty()) {
        throw ConfigError(config.cluster.name.empty() ? "kubeconfig_context" : "cluster.name",
                          "must not be set: each context is the name of its own cluster");
    }
    std::vector<DiscoveryConfig> configs;
    for (const std::string& context : contexts) {
        if (std::count(contexts.begin(), contexts.end(), context) > 1) {
            throw ConfigError("kubeconfig_context", detail::in_quotes(detail::printable(context)) +
                                                        " is given twice; give each context once");
        }
        DiscoveryConfig& one = configs.emplace_back(config);
        one.kubeconfig_context = context;
        one.cluster.name = context;
    }
    return configs;
}

}  // namespace k8s_sd::inline v0
