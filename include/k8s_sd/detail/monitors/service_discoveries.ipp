#include "k8s_sd/detail/monitors/common_keys.hpp"
#include "k8s_sd/detail/monitors/http_client.hpp"
#include "k8s_sd/detail/monitors/other_discoveries.hpp"
#include "k8s_sd/detail/monitors/relabelings.hpp"
#include "k8s_sd/detail/monitors/sd_client.hpp"
#include "k8s_sd/detail/monitors/secrets.hpp"
#include "k8s_sd/detail/monitors/service_discoveries.hpp"
#include "k8s_sd/detail/monitors/vm_common.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/selector.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// Adds the entries of a discovery, unless there are none.
template <class MakeEntry>
void put_entries(JobObject& job, std::string_view key, const std::vector<ObjectView>& configs,
                 MakeEntry make_entry) {
    boost::json::array entries;
    for (const ObjectView& config : configs) entries.push_back(make_entry(config));
    if (!entries.empty()) put(job, key, std::move(entries));
}

// --- static, file, HTTP --------------------------------------------------------------------------

void check_static_configs(const ObjectView& spec, const JobContext& context) {
    for (const ObjectView& config : spec.items("staticConfigs")) {
        for (const auto& [name, value] : config["labels"].members()) {
            if (is_label_name_for(name, context.owner.version)) continue;
            config["labels"].refuse("'" + std::string(name) + "' is no valid label name",
                                    "use letters, digits and '_', not starting with a digit");
        }
    }
}

JobObject static_entry(const ObjectView& config) {
    JobObject labels;
    for (const auto& [name, value] : config["labels"].members()) {
        put_text(labels, name, value.as_text().value_or(""));
    }
    JobObject entry;
    put_texts(entry, "targets", config.texts("targets"));
    put(entry, "labels", std::move(labels));
    return entry;
}

JobObject file_entry(const ObjectView& config) {
    JobObject entry;
    put_texts(entry, "files", config.texts("files"));
    put_nonempty(entry, "refresh_interval", config.text("refreshInterval"));
    return entry;
}

JobObject http_entry(const ObjectView& config, const JobContext& context) {
    JobObject entry;
    put_sd_client(entry, config, context);
    put_text(entry, "url", config.text("url"));
    put_nonempty(entry, "refresh_interval", config.text("refreshInterval"));
    return entry;
}

// --- Kubernetes ----------------------------------------------------------------------------------

/// The roles of selectors that a role permits.
struct SelectorRoles {
    std::string_view role;
    std::array<std::string_view, 3> permitted;
};
constexpr std::array<SelectorRoles, 6> selector_roles{{
    {"pod", {"pod"}},
    {"service", {"service"}},
    {"node", {"node"}},
    {"ingress", {"ingress"}},
    {"endpoints", {"pod", "service", "endpoints"}},
    {"endpointslice", {"pod", "service", "endpointslice"}},
}};

void check_selector_role(const ObjectView& config, const ObjectView& selector) {
    const std::string role = lower_case(config.text("role"));
    const auto* roles = std::find_if(selector_roles.begin(), selector_roles.end(),
                                     [&](const auto& row) { return row.role == role; });
    if (roles == selector_roles.end()) {
        config["role"].refuse("is no role",
                              "use Pod, Service, Endpoints, EndpointSlice, Node or Ingress");
        return;
    }
    const std::string own = lower_case(selector.text("role"));
    const auto& permitted = roles->permitted;
    if (!own.empty() && std::find(permitted.begin(), permitted.end(), own) != permitted.end()) {
        return;
    }
    const auto end = std::find(permitted.begin(), permitted.end(), "");
    const std::vector<std::string_view> list(permitted.begin(), end);
    selector["role"].refuse("role " + role + " takes no selector of that role",
                            "use " + join(list, " or "));
}

void check_selector_texts(const ObjectView& selector) {
    const auto check = [&](std::string_view key, auto parse) {
        try {
            parse(selector.text(key));
        } catch (const ConfigError& e) {
            selector[key].refuse(e.problem(), "correct the selector");
        }
    };
    check("field", [](std::string_view text) { FieldSelector::parse(text); });
    check("label", [](std::string_view text) { LabelSelector::parse(text); });
}

void check_kubernetes_configs(const ObjectView& spec, const JobContext& context) {
    for (const ObjectView& config : spec.items("kubernetesSDConfigs")) {
        check_sd_client(config, context);
        // vmagent ignores selectors of roles that a job does not watch.
        if (context.owner.vm) continue;
        if (config.has("apiServer") && config["namespaces"].flag("ownNamespace").value_or(false)) {
            config.refuse("has both apiServer and namespaces.ownNamespace",
                          "remove one of them: another server has no own namespace");
        }
        for (const ObjectView& selector : config.items("selectors")) {
            check_selector_role(config, selector);
            check_selector_texts(selector);
        }
    }
}

JobObject namespaces_of(const ObjectView& namespaces) {
    JobObject section;
    put_texts(section, "names", namespaces.texts("names"));
    if (const auto own = namespaces.flag("ownNamespace")) put(section, "own_namespace", *own);
    return section;
}

JobObject selector_entry_of(const ObjectView& selector) {
    JobObject entry;
    put_text(entry, "role", lower_case(selector.text("role")));
    if (selector.has("label")) put_text(entry, "label", selector.text("label"));
    if (selector.has("field")) put_text(entry, "field", selector.text("field"));
    return entry;
}

/// Of prometheus-operator: other roles than those of pods have no nodes to attach.
void put_attached_metadata(JobObject& entry, const ObjectView& config, std::string_view role,
                           const JobContext& context) {
    if (context.owner.vm) return put_vm_attached(entry, role, {config["attach_metadata"]});
    const ObjectView attach = config["attachMetadata"];
    if (!attach) return;
    const bool supported = role == "pod" ? context.generates(2, 35)
                                         : (role == "endpoints" || role == "endpointslice") &&
                                               context.generates(2, 37);
    if (!supported) return;
    JobObject section;
    if (const auto node = attach.flag("node")) put(section, "node", *node);
    put(entry, "attach_metadata", std::move(section));
}

JobObject kubernetes_entry(const ObjectView& config, const JobContext& context) {
    const std::string role = lower_case(config.text("role"));
    JobObject entry;
    if (config.has("apiServer")) put_text(entry, "api_server", config.text("apiServer"));
    put_text(entry, "role", role);
    put_sd_client(entry, config, context);
    if (const ObjectView namespaces = config["namespaces"]) {
        put(entry, "namespaces", namespaces_of(namespaces));
    }
    if (context.generates(2, 17)) {
        put_entries(entry, "selectors", config.items("selectors"), selector_entry_of);
    }
    put_attached_metadata(entry, config, role, context);
    return entry;
}

// --- DNS, Consul ---------------------------------------------------------------------------------

void check_dns_configs(const ObjectView& spec) {
    for (const ObjectView& config : spec.items("dnsSDConfigs")) {
        const std::string_view type = config.text("type");
        if (type.empty() || type == "SRV" || config.has("port")) continue;
        config["port"].refuse("records of type " + std::string(type) + " need a port", "add port");
    }
}

JobObject dns_entry(const ObjectView& config) {
    JobObject entry;
    put_texts(entry, "names", config.texts("names"));
    put_nonempty(entry, "refresh_interval", config.text("refreshInterval"));
    put_nonempty(entry, "type", config.text("type"));
    if (const auto port = config.number("port")) put(entry, "port", *port);
    return entry;
}

void check_consul_configs(const ObjectView& spec, const JobContext& context) {
    const MonitorVersion& version = context.owner.version;
    const auto needs = [&](const ObjectView& field, std::uint64_t major, std::uint64_t minor) {
        if (!field || at_least(version, major, minor)) return;
        field.refuse("needs Prometheus " + std::to_string(major) + "." + std::to_string(minor),
                     "remove it, or raise the owner's version");
    };
    for (const ObjectView& config : spec.items("consulSDConfigs")) {
        needs(config["pathPrefix"], 2, 45);
        needs(config["namespace"], 2, 28);
        needs(config["filter"], 3, 0);
        check_sd_client(config, context);
        if (const ObjectView token = config["tokenRef"]) required_secret(token, context);
    }
}

JobObject consul_entry(const ObjectView& config, const JobContext& context) {
    JobObject entry;
    put_sd_client(entry, config, context);
    put_text(entry, "server", config.text("server"));
    put_nonempty(entry, "path_prefix", config.text("pathPrefix"));
    if (const ObjectView token = config["tokenRef"]) {
        const auto secret = MonitorReference::Kind::secret;
        put_text(entry, "token",
                 present_value(context.reference(secret, token), context).value_or(""));
    }
    put_nonempty(entry, "datacenter", config.text("datacenter"));
    put_nonempty(entry, "namespace", config.text("namespace"));
    put_nonempty(entry, "partition", config.text("partition"));
    put_scheme(entry, config);
    for (const char* key : {"services", "tags"}) {
        if (const auto list = config.texts(key); !list.empty()) put_texts(entry, key, list);
    }
    put_nonempty(entry, "tag_separator", config.text("tagSeparator"));
    JobObject meta;
    for (const auto& [key, value] : config["nodeMeta"].members()) {
        put_text(meta, key, value.as_text().value_or(""));
    }
    if (!meta.empty()) put(entry, "node_meta", std::move(meta));
    put_nonempty(entry, "filter", config.text("filter"));
    if (const auto stale = config.flag("allowStale")) put(entry, "allow_stale", *stale);
    put_nonempty(entry, "refresh_interval", config.text("refreshInterval"));
    return entry;
}

}  // namespace

void check_service_discoveries(const ObjectView& spec, const JobContext& context) {
    check_static_configs(spec, context);
    for (const ObjectView& config : spec.items("httpSDConfigs")) {
        check_url(config["url"]);
        check_sd_client(config, context);
    }
    check_kubernetes_configs(spec, context);
    check_consul_configs(spec, context);
    // VictoriaMetrics' operator leaves these to vmagent.
    if (!context.owner.vm) check_dns_configs(spec);
    // The checks of the version run without any entry, so 2.40 is the first version of all.
    if (!context.owner.vm && !at_least(context.owner.version, 2, 40)) {
        spec.refuse("a ScrapeConfig needs Prometheus 2.40", "raise the owner's version");
    }
    check_other_discoveries(spec, context);
}

void put_service_discoveries(JobObject& job, const ObjectView& spec, const JobContext& context) {
    const auto with_context = [&](auto make) {
        return [&context, make](const ObjectView& config) { return make(config, context); };
    };
    put_entries(job, "static_configs", spec.items("staticConfigs"), static_entry);
    put_entries(job, "file_sd_configs", spec.items("fileSDConfigs"), file_entry);
    put_entries(job, "http_sd_configs", spec.items("httpSDConfigs"), with_context(http_entry));
    put_entries(job, "kubernetes_sd_configs", spec.items("kubernetesSDConfigs"),
                with_context(kubernetes_entry));
    put_entries(job, "consul_sd_configs", spec.items("consulSDConfigs"),
                with_context(consul_entry));
    put_entries(job, "dns_sd_configs", spec.items("dnsSDConfigs"), dns_entry);
    put_other_discoveries(job, spec, context);
}

}  // namespace k8s_sd::inline v0::detail
