#include "monitors/monitors_config.hpp"

#include "cli/option_values.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace k8s_sd_program {

namespace {

namespace json = boost::json;

/// A key of `prometheus_cr`, and the field of a Prometheus object with the same meaning.
struct CrKey {
    std::string_view key;
    std::string_view field;
};

constexpr std::array<CrKey, 8> selector_keys{{
    {"service_monitor_selector", "serviceMonitorSelector"},
    {"pod_monitor_selector", "podMonitorSelector"},
    {"probe_selector", "probeSelector"},
    {"scrape_config_selector", "scrapeConfigSelector"},
    {"service_monitor_namespace_selector", "serviceMonitorNamespaceSelector"},
    {"pod_monitor_namespace_selector", "podMonitorNamespaceSelector"},
    {"probe_namespace_selector", "probeNamespaceSelector"},
    {"scrape_config_namespace_selector", "scrapeConfigNamespaceSelector"},
}};

constexpr std::array<std::string_view, 17> cr_keys{"enabled",
                                                   "allow_namespaces",
                                                   "deny_namespaces",
                                                   "secret_namespaces",
                                                   "scrape_interval",
                                                   "evaluation_interval",
                                                   "scrape_protocols",
                                                   "scrape_classes",
                                                   "deny_fs_access_through_sms",
                                                   selector_keys[0].key,
                                                   selector_keys[1].key,
                                                   selector_keys[2].key,
                                                   selector_keys[3].key,
                                                   selector_keys[4].key,
                                                   selector_keys[5].key,
                                                   selector_keys[6].key,
                                                   selector_keys[7].key};

[[noreturn]] void fail(const std::string& file, std::string_view key, const std::string& problem) {
    throw k8s_sd::ConfigError(file + ": prometheus_cr." + std::string(key), problem);
}

/// A Target Allocator also accepts keys in lower case.
void use_camel_case(json::object& object, std::string_view camel, std::string_view lower) {
    if (object.contains(camel)) return;
    const auto found = object.find(lower);
    if (found == object.end()) return;
    json::value value = std::move(found->value());
    object.erase(found);
    object[camel] = std::move(value);
}

json::value selector(json::value value) {
    if (auto* const object = value.if_object()) {
        use_camel_case(*object, "matchLabels", "matchlabels");
        use_camel_case(*object, "matchExpressions", "matchexpressions");
    }
    return value;
}

std::vector<std::string> texts(const json::object& from, std::string_view key,
                               const std::string& file) {
    std::vector<std::string> result;
    const json::value* const value = from.if_contains(key);
    if (!value || value->is_null()) return result;
    if (!value->is_array()) fail(file, key, "must be a list of names");
    for (const json::value& item : value->get_array()) {
        if (!item.is_string()) fail(file, key, "must be a list of names");
        result.emplace_back(item.get_string());
    }
    return result;
}

bool truth(const json::object& from, std::string_view key, bool usual, const std::string& file) {
    const json::value* const value = from.if_contains(key);
    if (!value || value->is_null()) return usual;
    if (!value->is_bool()) fail(file, key, "must be true or false");
    return value->get_bool();
}

void copy(const json::object& from, std::string_view key, json::object& to,
          std::string_view field) {
    const json::value* const value = from.if_contains(key);
    if (value && !value->is_null()) to[field] = *value;
}

/// The Prometheus object that a Target Allocator invents.
json::object spec_of(const json::object& cr) {
    json::object spec{
        {"serviceDiscoveryRole", "EndpointSlice"},
        {"scrapeInterval", "30s"},
        {"scrapeProtocols", json::array{"OpenMetricsText1.0.0", "OpenMetricsText0.0.1",
                                        "PrometheusText1.0.0", "PrometheusText0.0.4"}}};
    for (const CrKey& key : selector_keys) {
        const json::value* const given = cr.if_contains(key.key);
        const bool of_namespaces = key.key.ends_with("_namespace_selector");
        if (given && !given->is_null()) {
            spec[key.field] = selector(*given);
        } else if (of_namespaces) {
            spec[key.field] = json::object();
        }
    }
    copy(cr, "scrape_interval", spec, "scrapeInterval");
    copy(cr, "evaluation_interval", spec, "evaluationInterval");
    copy(cr, "scrape_protocols", spec, "scrapeProtocols");
    copy(cr, "scrape_classes", spec, "scrapeClasses");
    return spec;
}

k8s_sd::MonitorOwnerDocument owner_document(json::object spec, const std::string& own_namespace) {
    return {
        json::object{{"kind", "Prometheus"},
                     {"metadata", json::object{{"name", "k8s-sd"}, {"namespace", own_namespace}}},
                     {"spec", std::move(spec)}},
        own_namespace};
}

bool read_prometheus_cr(const json::value& value, const std::string& file,
                        const std::string& own_namespace, k8s_sd::MonitorSourceConfig& config) {
    if (!value.is_object()) throw k8s_sd::ConfigError(file, "prometheus_cr must be a mapping");
    const json::object& cr = value.get_object();
    for (const auto& entry : cr) {
        const std::string_view key = entry.key();
        if (std::find(cr_keys.begin(), cr_keys.end(), key) != cr_keys.end()) continue;
        fail(file, key, "there is no such key" + cli::suggestion(key, cr_keys));
    }
    config.owner = owner_document(spec_of(cr), own_namespace);
    config.allow_namespaces = texts(cr, "allow_namespaces", file);
    config.deny_namespaces = texts(cr, "deny_namespaces", file);
    try {
        validate(config);
    } catch (const k8s_sd::ConfigError& e) {
        const std::string& field = e.where();
        fail(file, field.substr(field.rfind(':') + 1), e.problem());
    }
    config.deny_file_access = truth(cr, "deny_fs_access_through_sms", false, file);
    return truth(cr, "enabled", false, file);
}

std::string text_of_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in.good() && !in.eof()) throw k8s_sd::ConfigError(path, "cannot be read");
    return text;
}

}  // namespace

k8s_sd::MonitorOwnerDocument default_owner(const std::string& own_namespace,
                                           k8s_sd::LabelDialect dialect) {
    if (!k8s_sd::supports_monitors(dialect, k8s_sd::MonitorOwner())) {
        k8s_sd::MonitorOwnerDocument owner =
            owner_document(json::object{{"selectAllByDefault", true}}, own_namespace);
        owner.object.as_object()["kind"] = to_string(k8s_sd::MonitorOwnerKind::vm_agent);
        return owner;
    }
    json::object spec{{"serviceDiscoveryRole", "EndpointSlice"}};
    for (const CrKey& key : selector_keys) spec[key.field] = json::object();
    return owner_document(std::move(spec), own_namespace);
}

bool read_monitors_file(std::string_view yaml, const std::string& file,
                        const std::string& own_namespace, k8s_sd::MonitorSourceConfig& config) {
    k8s_sd::MonitorOwnerDocument document = k8s_sd::parse_monitor_owner(yaml, file, own_namespace);
    const json::object& object = document.object.as_object();
    if (const json::value* const cr = object.if_contains("prometheus_cr")) {
        return read_prometheus_cr(*cr, file, own_namespace, config);
    }
    if (!object.contains("spec")) {
        throw k8s_sd::ConfigError(
            file, "is neither a Prometheus, PrometheusAgent, VMAgent or VMSingle object (spec) "
                  "nor the configuration of a Target Allocator (prometheus_cr)");
    }
    config.owner = std::move(document);
    return true;
}

k8s_sd::MonitorOwnerObject parse_owner_name(const std::string& text) {
    std::vector<std::string> parts{""};
    for (const char c : text) {
        if (c == '/') {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    const std::string kind = parts.size() == 3 ? parts.front() : "Prometheus";
    const auto known =
        std::find_if(k8s_sd::monitor_owner_kinds.begin(), k8s_sd::monitor_owner_kinds.end(),
                     [&](const auto each) { return to_string(each) == kind; });
    if (known == k8s_sd::monitor_owner_kinds.end() || parts.size() < 2 || parts.size() > 3) {
        throw k8s_sd::ConfigError("--monitors-owner",
                                  "must be [KIND/]NAMESPACE/NAME with the KIND Prometheus, "
                                  "PrometheusAgent, VMAgent or VMSingle");
    }
    return {parts[parts.size() - 2], parts.back(), *known};
}

k8s_sd::MonitorSourceConfig monitors_config(const MonitorsOptions& options, bool& wanted) {
    k8s_sd::MonitorSourceConfig config;
    config.limits.quota = options.quota;
    wanted = true;
    if (!options.owner.empty()) {
        config.owner = parse_owner_name(options.owner);
    } else if (options.file.empty()) {
        config.owner = default_owner(options.own_namespace, options.dialect);
    } else {
        wanted = read_monitors_file(text_of_file(options.file), options.file, options.own_namespace,
                                    config);
    }
    if (!k8s_sd::supports_monitors(options.dialect, config.owner)) {
        throw k8s_sd::ConfigError(options.owner.empty() ? options.file : "--monitors-owner",
                                  "a VMAgent or VMSingle needs --dialect victoriametrics, and this "
                                  "dialect needs one of them");
    }
    return config;
}

}  // namespace k8s_sd_program
