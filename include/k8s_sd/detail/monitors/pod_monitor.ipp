#include "k8s_sd/detail/monitors/common_keys.hpp"
#include "k8s_sd/detail/monitors/endpoint.hpp"
#include "k8s_sd/detail/monitors/http_client.hpp"
#include "k8s_sd/detail/monitors/kinds.hpp"
#include "k8s_sd/detail/monitors/kubernetes_sd.hpp"
#include "k8s_sd/detail/monitors/names.hpp"
#include "k8s_sd/detail/monitors/relabelings.hpp"
#include "k8s_sd/detail/monitors/scrape_class.hpp"
#include "k8s_sd/detail/monitors/selectors.hpp"
#include "k8s_sd/detail/monitors/sharding_rules.hpp"
#include "k8s_sd/detail/monitors/tls.hpp"

namespace k8s_sd::inline v0::detail {

namespace {

/// Makes the jobs of a PodMonitor, one for each of `spec.podMetricsEndpoints`.
class PodMonitorJobs {
 public:
    PodMonitorJobs(const ObjectView& spec, const JobContext& context)
        : spec_(spec),
          context_(context),
          scrape_class_(scrape_class_of(spec, context)),
          selector_(selector_text(spec["selector"])) {}

    void make(JobList& jobs) {
        check_selector_mechanism(spec_, context_);
        std::size_t index = 0;
        for (const ObjectView& endpoint : spec_.items("podMetricsEndpoints")) {
            check_endpoint(endpoint, context_);
            std::string origin =
                job_origin(context_.kind, context_.object_namespace, context_.name) + "/" +
                std::to_string(index++);
            // The checks go on, so that all references are known.
            if (!context_.faults.none()) continue;
            if (!jobs.add(job(std::move(origin), endpoint), endpoint)) return;
        }
    }

 private:
    GeneratedJob job(std::string name, const ObjectView& endpoint) const {
        GeneratedJob made{.origin = std::move(name)};
        JobObject& job = made.config.keys;
        put_text(job, "job_name", made.origin);
        put_endpoint_honors(job, endpoint, context_);
        put(job, "kubernetes_sd_configs", boost::json::array{discovery()});
        put_endpoint_request(job, endpoint, context_);
        if (auto tls =
                tls_section(endpoint["tlsConfig"], scrape_class_["tlsConfig"], {}, context_)) {
            put(job, "tls_config", std::move(*tls));
        }
        put_bearer_token(job, endpoint["bearerTokenSecret"], context_);
        put_basic_auth(job, endpoint["basicAuth"], context_);
        put_oauth2(job, endpoint["oauth2"], context_);
        put_proxy(job, endpoint, context_);
        put_authorization(job, endpoint["authorization"], scrape_class_["authorization"], context_);
        put_target_rules(made, rules(endpoint));
        put_scrape_limits(job, spec_, scrape_class_, context_);
        put_metric_relabelings(made, endpoint.items("metricRelabelings"), scrape_class_, context_);
        return made;
    }

    /// An agent on each node discovers the pods of its node only.
    boost::json::object discovery() const {
        boost::json::array selectors;
        if (context_.owner.daemon_set) {
            selectors.push_back(
                boost::json::object{{"role", "pod"}, {"field", "spec.nodeName=$(NODE_NAME)"}});
        }
        if (uses_role_selector(spec_)) {
            selectors.push_back(label_selector_entry("pod", selector_));
        }
        return kubernetes_sd_section({.role = "pod",
                                      .namespace_selector = spec_["namespaceSelector"],
                                      .attach_metadata = spec_["attachMetadata"],
                                      .class_attach_metadata = scrape_class_["attachMetadata"],
                                      .selectors = std::move(selectors)},
                                     context_);
    }

    RuleList rules(const ObjectView& endpoint) const {
        RuleList rules = first_rules(context_);
        add_running_filter(rules, endpoint);
        if (!uses_role_selector(spec_)) add_selector_rules(rules, spec_["selector"], "pod");
        add_pod_port_rule(rules, endpoint);
        rules.copy_label("__meta_kubernetes_namespace", "namespace");
        rules.copy_label("__meta_kubernetes_pod_container_name", "container");
        rules.copy_label("__meta_kubernetes_pod_name", "pod");
        add_pod_target_labels(rules, spec_, context_);
        add_job_rules(rules);
        // A port number alone makes no label.
        add_endpoint_label(rules, endpoint);
        add_last_rules(rules, endpoint.items("relabelings"), scrape_class_, context_);
        if (!context_.owner.daemon_set) add_sharding_rules(rules, context_, "__address__");
        return rules;
    }

    void add_job_rules(RuleList& rules) const {
        rules.set_label("job", context_.object_namespace + "/" + context_.name);
        const std::string_view label = spec_.text("jobLabel");
        if (label.empty()) return;
        rules.copy_label_if_present("__meta_kubernetes_pod_label_" + sanitize_label_key(label),
                                    "job");
    }

    const ObjectView& spec_;
    const JobContext& context_;
    ObjectView scrape_class_;
    std::string selector_;
};

}  // namespace

void make_pod_monitor_jobs(const ObjectView& spec, const JobContext& context, JobList& jobs) {
    PodMonitorJobs(spec, context).make(jobs);
}

}  // namespace k8s_sd::inline v0::detail
