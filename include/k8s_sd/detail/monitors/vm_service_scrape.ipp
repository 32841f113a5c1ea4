#include "k8s_sd/detail/monitors/endpoint.hpp"
#include "k8s_sd/detail/monitors/names.hpp"
#include "k8s_sd/detail/monitors/port.hpp"
#include "k8s_sd/detail/monitors/scrape_class.hpp"
#include "k8s_sd/detail/monitors/vm_common.hpp"
#include "k8s_sd/detail/monitors/vm_http_client.hpp"
#include "k8s_sd/detail/monitors/vm_kinds.hpp"

namespace k8s_sd::inline v0::detail {

namespace {

/// Makes the jobs of a VMServiceScrape, one for each of `spec.endpoints`.
class VMServiceScrapeJobs {
 public:
    VMServiceScrapeJobs(const ObjectView& spec, const JobContext& context)
        : spec_(spec),
          context_(context),
          scrape_class_(scrape_class_of(spec, context)),
          role_(spec.text("discoveryRole")) {
        if (role_.empty()) role_ = "endpoints";
        if (role_ == "endpointslices") role_ = "endpointslice";  // its former name
    }

    void make(JobList& jobs) {
        std::size_t index = 0;
        for (const ObjectView& endpoint : spec_.items("endpoints")) {
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
    bool of_services() const { return role_ == "service"; }

    GeneratedJob job(std::string name, const ObjectView& endpoint,
                     const VMCredentials& credentials) const {
        GeneratedJob made{.origin = std::move(name)};
        JobObject& job = made.config.keys;
        put_text(job, "job_name", made.origin);
        const JobObject discovery = vm_kubernetes_entry(
            {.role = role_,
             .namespaces = vm_namespaces(spec_["namespaceSelector"], context_),
             .selector = spec_["selector"],
             .attach_metadata = {endpoint["attach_metadata"], scrape_class_["attachMetadata"],
                                 spec_["attach_metadata"]}},
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
        add_vm_selector_rules(rules, spec_["selector"], "service", context_);
        add_port(rules, endpoint);
        if (!of_services()) add_address_rules(rules);
        rules.copy_label("__meta_kubernetes_namespace", "namespace");
        rules.copy_label("__meta_kubernetes_service_name", "service");
        add_label_rules(rules, "targetLabels", "__meta_kubernetes_service_label_");
        if (!of_services())
            add_label_rules(rules, "podTargetLabels", "__meta_kubernetes_pod_label_");
        rules.add({.sources = {"__meta_kubernetes_service_name"},
                   .target = "job",
                   .replacement = "${1}"});
        if (const std::string_view label = spec_.text("jobLabel"); !label.empty()) {
            rules.copy_label_if_present(
                "__meta_kubernetes_service_label_" + sanitize_label_key(label), "job");
        }
        if (!of_services() || !endpoint.text("port").empty()) add_endpoint_label(rules, endpoint);
        add_vm_user_rules(rules, scrape_class_.items("relabelConfigs"));
        add_vm_user_rules(rules, endpoint.items("relabelConfigs"));
        add_vm_last_rules(rules, context_);
        return rules;
    }

    void add_port(RuleList& rules, const ObjectView& endpoint) const {
        const std::string_view port = endpoint.text("port");
        if (!port.empty()) {
            const std::string object = of_services()              ? "service"
                                       : role_ == "endpointslice" ? "endpointslice"
                                                                  : "endpoint";
            rules.add({.action = "keep",
                       .sources = {"__meta_kubernetes_" + object + "_port_name"},
                       .regex = std::string(port)});
        } else if (!of_services()) {
            add_target_port_rule(rules, endpoint["targetPort"]);
        }
    }

    void add_address_rules(RuleList& rules) const {
        const std::string prefix = role_ == "endpointslice"
                                       ? "__meta_kubernetes_endpointslice_address_target_"
                                       : "__meta_kubernetes_endpoint_address_target_";
        for (const auto& [kind, label] : {std::pair{"Node", "node"}, std::pair{"Pod", "pod"}}) {
            rules.add({.sources = {prefix + "kind", prefix + "name"},
                       .separator = ";",
                       .regex = std::string(kind) + ";(.*)",
                       .target = label,
                       .replacement = "${1}"});
        }
        rules.copy_label("__meta_kubernetes_pod_name", "pod");
        rules.copy_label("__meta_kubernetes_pod_container_name", "container");
    }

    void add_label_rules(RuleList& rules, std::string_view field, const std::string& prefix) const {
        for (const std::string& key : spec_.texts(field)) {
            const std::string name = sanitize_label_key(key);
            rules.copy_label_if_present(prefix + name, name);
        }
    }

    const ObjectView& spec_;
    const JobContext& context_;
    ObjectView scrape_class_;
    std::string role_;
};

}  // namespace

void make_vm_service_scrape_jobs(const ObjectView& spec, const JobContext& context, JobList& jobs) {
    VMServiceScrapeJobs(spec, context).make(jobs);
}

}  // namespace k8s_sd::inline v0::detail
