#include "k8s_sd/detail/monitors/common_keys.hpp"
#include "k8s_sd/detail/monitors/endpoint.hpp"
#include "k8s_sd/detail/monitors/names.hpp"
#include "k8s_sd/detail/monitors/port.hpp"
#include "k8s_sd/detail/monitors/scrape_class.hpp"
#include "k8s_sd/detail/monitors/vm_common.hpp"
#include "k8s_sd/detail/monitors/vm_http_client.hpp"
#include "k8s_sd/detail/monitors/vm_kinds.hpp"

namespace k8s_sd::inline v0::detail {

namespace {

/// Makes the jobs of a VMPodScrape, one for each of `spec.podMetricsEndpoints`.
class VMPodScrapeJobs {
 public:
    VMPodScrapeJobs(const ObjectView& spec, const JobContext& context)
        : spec_(spec), context_(context), scrape_class_(scrape_class_of(spec, context)) {}

    void make(JobList& jobs) {
        std::size_t index = 0;
        for (const ObjectView& endpoint : spec_.items("podMetricsEndpoints")) {
            const VMCredentials credentials(endpoint, scrape_class_, context_);
            credentials.check();
            std::string origin =
                job_origin(context_.kind, context_.object_namespace, context_.name) + "/" +
                std::to_string(index++);
            if (!context_.faults.none()) continue;
            if (!jobs.add(job(std::move(origin), endpoint, credentials), endpoint)) return;
        }
    }

 private:
    GeneratedJob job(std::string name, const ObjectView& endpoint,
                     const VMCredentials& credentials) const {
        GeneratedJob made{.origin = std::move(name)};
        JobObject& job = made.config.keys;
        put_text(job, "job_name", made.origin);
        const JobObject discovery = vm_kubernetes_entry(
            {.role = "pod",
             .namespaces = vm_namespaces(spec_["namespaceSelector"], context_),
             .selector = spec_["selector"],
             .attach_metadata = {endpoint["attach_metadata"], scrape_class_["attachMetadata"],
                                 spec_["attach_metadata"]},
             .of_node = context_.owner.daemon_set},
            context_);
        put(job, "kubernetes_sd_configs", boost::json::array{discovery});
        put_vm_scrape_params(job, {.endpoint = endpoint, .spec = spec_}, context_);
        put_target_rules(made, rules(endpoint));
        put_vm_metric_relabelings(made, scrape_class_.items("metricRelabelConfigs"),
                                  endpoint.items("metricRelabelConfigs"), context_);
        put_vm_extensions(job, endpoint, context_);
        credentials.put(job);
        return made;
    }

    RuleList rules(const ObjectView& endpoint) const {
        RuleList rules(context_);
        add_running_filter(rules, endpoint);
        add_vm_selector_rules(rules, spec_["selector"], "pod", context_);
        add_pod_port_rule(rules, endpoint);
        rules.copy_label("__meta_kubernetes_namespace", "namespace");
        rules.copy_label("__meta_kubernetes_pod_container_name", "container");
        rules.copy_label("__meta_kubernetes_pod_name", "pod");
        for (const std::string& key : spec_.texts("podTargetLabels")) {
            const std::string name = sanitize_label_key(key);
            rules.copy_label_if_present("__meta_kubernetes_pod_label_" + name, name);
        }
        rules.set_label("job", context_.object_namespace + "/" + context_.name);
        if (const std::string_view label = spec_.text("jobLabel"); !label.empty()) {
            rules.copy_label_if_present("__meta_kubernetes_pod_label_" + sanitize_label_key(label),
                                        "job");
        }
        add_endpoint_label(rules, endpoint);
        add_vm_user_rules(rules, scrape_class_.items("relabelConfigs"));
        add_vm_user_rules(rules, endpoint.items("relabelConfigs"));
        add_vm_last_rules(rules, context_);
        return rules;
    }

    const ObjectView& spec_;
    const JobContext& context_;
    ObjectView scrape_class_;
};

}  // namespace

void make_vm_pod_scrape_jobs(const ObjectView& spec, const JobContext& context, JobList& jobs) {
    VMPodScrapeJobs(spec, context).make(jobs);
}

}  // namespace k8s_sd::inline v0::detail
