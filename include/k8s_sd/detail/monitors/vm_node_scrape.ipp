#include "k8s_sd/detail/monitors/names.hpp"
#include "k8s_sd/detail/monitors/scrape_class.hpp"
#include "k8s_sd/detail/monitors/vm_common.hpp"
#include "k8s_sd/detail/monitors/vm_http_client.hpp"
#include "k8s_sd/detail/monitors/vm_kinds.hpp"

namespace k8s_sd::inline v0::detail {

namespace {

RuleList vm_node_rules(const ObjectView& spec, const ObjectView& scrape_class,
                       const JobContext& context) {
    const std::string label_prefix = "__meta_kubernetes_node_label_";
    RuleList rules(context);
    add_vm_selector_rules(rules, spec["selector"], "node", context);
    rules.copy_label("__meta_kubernetes_node_name", "node");
    for (const std::string& key : spec.texts("targetLabels")) {
        const std::string name = sanitize_label_key(key);
        rules.copy_label_if_present(label_prefix + name, name);
    }
    rules.set_label("job", context.object_namespace + "/" + context.name);
    if (const std::string_view label = spec.text("jobLabel"); !label.empty()) {
        rules.copy_label_if_present(label_prefix + sanitize_label_key(label), "job");
    }
    if (const std::string_view port = spec.text("port"); !port.empty()) {
        rules.add({.sources = {"__address__"},
                   .regex = "^(.*):(.*)",
                   .target = "__address__",
                   .replacement = "${1}:" + std::string(port)});
    }
    add_vm_user_rules(rules, scrape_class.items("relabelConfigs"));
    add_vm_user_rules(rules, spec.items("relabelConfigs"));
    add_vm_last_rules(rules, context);
    return rules;
}

}  // namespace

void make_vm_node_scrape_job(const ObjectView& spec, const JobContext& context, JobList& jobs) {
    const ObjectView scrape_class = scrape_class_of(spec, context);
    const VMCredentials credentials(spec, scrape_class, context);
    credentials.check();
    GeneratedJob made{.origin = job_origin(context.kind, context.object_namespace, context.name)};
    JobObject& job = made.config.keys;
    put_text(job, "job_name", made.origin);
    const JobObject discovery =
        vm_kubernetes_entry({.role = "node", .selector = spec["selector"]}, context);
    put(job, "kubernetes_sd_configs", boost::json::array{discovery});
    put_vm_scrape_params(job, {.endpoint = spec, .spec = spec}, context);
    put_target_rules(made, vm_node_rules(spec, scrape_class, context));
    put_vm_metric_relabelings(made, scrape_class.items("metricRelabelConfigs"),
                              spec.items("metricRelabelConfigs"), context);
    put_vm_extensions(job, spec, context);
    credentials.put(job);
    jobs.add(std::move(made), spec);
}

}  // namespace k8s_sd::inline v0::detail
