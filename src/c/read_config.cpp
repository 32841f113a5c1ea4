#include "read_config.hpp"

#include "arguments.hpp"
#include "k8s_sd/config_yaml.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd_c {

namespace {

/// The first line with content, behind comments.
std::string_view first_line(std::string_view yaml) {
    while (!yaml.empty()) {
        const std::string_view line = yaml.substr(0, yaml.find('\n'));
        const std::size_t start = line.find_first_not_of(" \t\r");
        const bool content = start != line.npos && line[start] != '#' && !line.starts_with("---");
        if (content) return line;
        yaml.remove_prefix(std::min(line.size() + 1, yaml.size()));
    }
    return {};
}

/// The text with the key `role`, which an entry of `kubernetes_sd_configs` must have. It adds no
/// line before those of the host, so errors have their numbers.
std::string with_role(std::string_view yaml) {
    const std::string_view line = first_line(yaml);
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    std::string text(yaml);
    if (!line.substr(indent).starts_with('{')) {
        return text + "\n" + std::string(indent, ' ') + "role: service\n";
    }
    const auto brace = static_cast<std::size_t>(line.data() - yaml.data()) + indent;
    return text.insert(brace + 1, "role: service, ");
}

/// The server, credentials and namespaces of a query.
k8s_sd::DiscoveryConfig read_server(const k8s_sd_query& query, bool find_server) {
    const std::string yaml = with_role(text_or(query.server));
    auto config = parse_sd_config(yaml, k8s_sd::LabelDialect::prometheus, "server");
    if (!config.selectors.empty()) {
        throw k8s_sd::ConfigError("server: selectors",
                                  "is not allowed here; use label_selector and field_selector");
    }
    if (config.attach_metadata != k8s_sd::AttachMetadata{}) {
        throw k8s_sd::ConfigError("server: attach_metadata", "is not allowed here");
    }
    if (find_server) find_api_server(config);
    return config;
}

k8s_sd::Fields read_fields(const char* const* paths) {
    if (!paths) return k8s_sd::Fields::all();
    std::vector<std::string> fields;
    for (; *paths; ++paths) fields.emplace_back(*paths);
    return k8s_sd::Fields(std::move(fields));
}

}  // namespace

k8s_sd::LabelDialect read_dialect(const k8s_sd_config& config) {
    // In the order of k8s_sd_dialect.
    constexpr k8s_sd::LabelDialect dialects[] = {k8s_sd::LabelDialect::prometheus,
                                                 k8s_sd::LabelDialect::victoriametrics};
    const auto index = static_cast<std::size_t>(config.dialect);
    if (index < std::size(dialects)) return dialects[index];
    throw Failure(K8S_SD_INVALID_ARGUMENT, "dialect: is no k8s_sd_dialect");
}

k8s_sd::PrometheusVersion read_version(const k8s_sd_config& config) {
    if (!config.prometheus_version) return k8s_sd::PrometheusVersion::v3_5;
    return k8s_sd::parse_prometheus_version(config.prometheus_version);
}

k8s_sd::DiscoveryConfig read_discovery(const k8s_sd_config& given, bool find_server) {
    auto config = k8s_sd::parse_sd_config(required(given.yaml, "yaml"), read_dialect(given),
                                          std::string(text_or(given.file_name, "<yaml>")));
    config.prometheus_version = read_version(given);
    config.min_update_interval = std::chrono::milliseconds(given.min_interval_ms);
    config.max_groups_per_diff = given.max_changes;
    if (find_server) find_api_server(config);
    return config;
}

k8s_sd::WatcherConfig read_watcher(const k8s_sd_query& query, bool find_server) {
    if (query.name_space || query.name) {
        throw Failure(K8S_SD_INVALID_ARGUMENT,
                      "name_space, name: are for k8s_sd_follow(); here use `namespaces` of the "
                      "server, and field_selector");
    }
    const auto server = read_server(query, find_server);
    k8s_sd::WatcherConfig config;
    config.api_server = server.api_server;
    config.kubeconfig_file = server.kubeconfig_file;
    config.namespaces = server.namespaces;
    config.own_namespace = server.own_namespace;
    config.resource.group = text_or(query.group);
    config.resource.kind = required(query.kind, "kind");
    config.label_selector = text_or(query.label_selector);
    config.field_selector = text_or(query.field_selector);
    config.fields = read_fields(query.fields);
    config.min_update_interval = std::chrono::milliseconds(query.min_interval_ms);
    return config;
}

k8s_sd::ObjectCacheConfig read_cache(const k8s_sd_query& query, bool find_server) {
    const std::string kind = required(query.kind, "kind");
    if (!text_or(query.group).empty() || (kind != "Secret" && kind != "ConfigMap")) {
        throw Failure(K8S_SD_INVALID_ARGUMENT,
                      "kind: must be \"Secret\" or \"ConfigMap\"; k8s_sd_watch() watches any kind");
    }
    if (query.label_selector || query.field_selector || query.fields || query.min_interval_ms) {
        throw Failure(
            K8S_SD_INVALID_ARGUMENT,
            "label_selector, field_selector, fields, min_interval_ms: are for k8s_sd_watch()");
    }
    const auto server = read_server(query, find_server);
    if (!server.namespaces.empty() || server.own_namespace) {
        throw k8s_sd::ConfigError("server: namespaces", "is not allowed here; use name_space");
    }
    k8s_sd::ObjectCacheConfig config;
    config.kind = kind == "Secret" ? k8s_sd::Kind::secret : k8s_sd::Kind::configmap;
    config.api_server = server.api_server;
    config.kubeconfig_file = server.kubeconfig_file;
    return config;
}

}  // namespace k8s_sd_c
