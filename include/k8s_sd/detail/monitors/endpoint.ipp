#include "k8s_sd/detail/monitors/common_keys.hpp"
#include "k8s_sd/detail/monitors/endpoint.hpp"
#include "k8s_sd/detail/monitors/http_client.hpp"
#include "k8s_sd/detail/monitors/names.hpp"
#include "k8s_sd/detail/monitors/port.hpp"
#include "k8s_sd/detail/monitors/secrets.hpp"
#include "k8s_sd/detail/monitors/tls.hpp"

namespace k8s_sd::inline v0::detail {

bool uses_role_selector(const ObjectView& spec) {
    return spec.text("selectorMechanism") == "RoleSelector";
}

void check_selector_mechanism(const ObjectView& spec, const JobContext& context) {
    if (uses_role_selector(spec) && !at_least(context.owner.version, 2, 17)) {
        spec["selectorMechanism"].refuse("RoleSelector needs Prometheus 2.17",
                                         "use RelabelConfig, or raise the owner's version");
    }
}

void check_endpoint(const ObjectView& endpoint, const JobContext& context) {
    check_single_authentication(endpoint);
    if (const ObjectView token = endpoint["bearerTokenSecret"]; !token.text("name").empty()) {
        required_secret(token, context);
    }
    check_basic_auth(endpoint["basicAuth"], context);
    check_tls(endpoint["tlsConfig"], context, context.kind == MonitorKind::service_monitor);
    check_oauth2(endpoint["oauth2"], context);
    check_authorization(endpoint["authorization"], context);
    check_times(endpoint, "interval", "scrapeTimeout", context.owner);
    check_relabelings(endpoint.items("relabelings"), context);
    check_relabelings(endpoint.items("metricRelabelings"), context);
    check_proxy(endpoint, context);
}

void put_endpoint_honors(JobObject& job, const ObjectView& endpoint, const JobContext& context) {
    put_honor_labels(job, endpoint.flag("honorLabels").value_or(false), context);
    put_honor_timestamps(job, endpoint.flag("honorTimestamps"), context);
    put_track_staleness(job, endpoint, context);
}

void put_endpoint_request(JobObject& job, const ObjectView& endpoint, const JobContext& context) {
    put_nonempty(job, "scrape_interval", endpoint.text("interval"));
    put_nonempty(job, "scrape_timeout", endpoint.text("scrapeTimeout"));
    put_nonempty(job, "metrics_path", endpoint.text("path"));
    put_params(job, endpoint["params"]);
    put_scheme(job, endpoint);
    put_redirects_and_http2(job, endpoint, "enableHttp2", context);
}

void put_scrape_limits(JobObject& job, const ObjectView& spec, const ObjectView& scrape_class,
                       const JobContext& context) {
    put_limits(job, spec, context);
    put_histograms(job, spec, context);
    put_scrape_protocols(job, spec.texts("scrapeProtocols"), context);
    put_fallback_protocol(job, spec, scrape_class, context);
    put_body_size_limit(job, spec.text("bodySizeLimit"), context);
}

void add_target_port_rule(RuleList& rules, const ObjectView& target_port) {
    const MonitorPort port = read_port(target_port);
    if (port.text.empty() || (port.is_number && port.text == "0")) return;
    rules.add({.action = "keep",
               .sources = {port.is_number ? "__meta_kubernetes_pod_container_port_number"
                                          : "__meta_kubernetes_pod_container_port_name"},
               .regex = port.text});
}

void add_pod_port_rule(RuleList& rules, const ObjectView& endpoint) {
    const std::string_view name = endpoint.text("port");
    const std::string number = read_port(endpoint["portNumber"]).text;
    if (!name.empty()) {
        rules.add({.action = "keep",
                   .sources = {"__meta_kubernetes_pod_container_port_name"},
                   .regex = std::string(name)});
    } else if (!number.empty() && number != "0") {
        rules.add({.action = "keep",
                   .sources = {"__meta_kubernetes_pod_container_port_number"},
                   .regex = number});
    } else {
        add_target_port_rule(rules, endpoint["targetPort"]);
    }
}

void add_endpoint_label(RuleList& rules, const ObjectView& endpoint) {
    const std::string_view name = endpoint.text("port");
    const std::string label(name.empty() ? read_port(endpoint["targetPort"]).text : name);
    if (!label.empty()) rules.set_label("endpoint", label);
}

void add_pod_target_labels(RuleList& rules, const ObjectView& spec, const JobContext& context) {
    std::vector<std::string> keys = spec.texts("podTargetLabels");
    keys.insert(keys.end(), context.owner.pod_target_labels.begin(),
                context.owner.pod_target_labels.end());
    for (const std::string& key : keys) {
        const std::string name = sanitize_label_key(key);
        rules.copy_label_if_present("__meta_kubernetes_pod_label_" + name, name);
    }
}

void add_last_rules(RuleList& rules, const std::vector<ObjectView>& of_object,
                    const ObjectView& scrape_class, const JobContext& context) {
    rules.add_user_rules(scrape_class.items("relabelings"));
    rules.add_user_rules(of_object);
    add_enforced_namespace(rules, context);
}

}  // namespace k8s_sd::inline v0::detail
