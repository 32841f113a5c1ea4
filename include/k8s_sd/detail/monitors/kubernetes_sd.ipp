#include "k8s_sd/detail/monitors/http_client.hpp"
#include "k8s_sd/detail/monitors/kubernetes_sd.hpp"
#include "k8s_sd/detail/monitors/secrets.hpp"
#include "k8s_sd/detail/monitors/sharding_rules.hpp"
#include "k8s_sd/detail/monitors/tls.hpp"

#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

/// The namespaces of a job; empty: all.
std::vector<std::string> job_namespaces(const ObjectView& selector, const JobContext& context) {
    if (context.owner.ignore_namespace_selectors) return {context.object_namespace};
    if (selector.flag("any").value_or(false)) return {};
    std::vector<std::string> names = selector.texts("matchNames");
    if (names.empty()) names.push_back(context.object_namespace);
    return names;
}

void put_attach_metadata(JobObject& section, const MonitorDiscovery& discovery,
                         const JobContext& context) {
    const bool forced = sharding_needs_nodes(context) && discovery.role != "ingress";
    const ObjectView& attach =
        discovery.attach_metadata ? discovery.attach_metadata : discovery.class_attach_metadata;
    if (!attach && !forced) return;
    if (!context.generates(2, discovery.role == "pod" ? 35 : 37)) return;
    JobObject entries;
    put(entries, "node", forced || attach.flag("node").value_or(false));
    put(section, "attach_metadata", std::move(entries));
}

}  // namespace

void put_owner_api_server(JobObject& section, const JobContext& context) {
    const ObjectView server(&context.owner.api_server, "apiserverConfig", context.faults);
    if (!server) return;
    put_text(section, "api_server", server.text("host"));
    put_basic_auth(section, server["basicAuth"], context);
    put_nonempty(section, "bearer_token", server.text("bearerToken"));
    put_nonempty(section, "bearer_token_file", server.text("bearerTokenFile"));
    put_authorization(section, server["authorization"], server["authorization"], context);
    if (auto tls = tls_section(server["tlsConfig"], server["tlsConfig"],
                               {.empty_is_absent = false, .has_files = true}, context)) {
        put(section, "tls_config", std::move(*tls));
    }
}

boost::json::object kubernetes_sd_section(const MonitorDiscovery& discovery,
                                          const JobContext& context) {
    JobObject section;
    put_text(section, "role", discovery.role);
    const auto names = job_namespaces(discovery.namespace_selector, context);
    if (!names.empty()) {
        JobObject namespaces;
        put_texts(namespaces, "names", names);
        put(section, "namespaces", std::move(namespaces));
    }
    put_owner_api_server(section, context);
    put_attach_metadata(section, discovery, context);
    if (!discovery.selectors.empty()) put(section, "selectors", discovery.selectors);
    return section;
}

boost::json::object label_selector_entry(std::string_view role, std::string_view label) {
    JobObject entry;
    put_text(entry, "role", role);
    put_text(entry, "label", label);
    return entry;
}

}  // namespace k8s_sd::inline v0::detail
