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

/// Makes the jobs of a ServiceMonitor, one for each of `spec.endpoints`.
class ServiceMonitorJobs {
 public:
    ServiceMonitorJobs(const ObjectView& spec, const JobContext& context)
        : spec_(spec),
          context_(context),
          scrape_class_(scrape_class_of(spec, context)),
          role_(discovery_role()),
          selector_(selector_text(spec["selector"])) {}

    void make(JobList& jobs) {
        check_selector_mechanism(spec_, context_);
        std::size_t index = 0;
        for (const ObjectView& endpoint : spec_.items("endpoints")) {
            check(endpoint);
            std::string origin =
                job_origin(context_.kind, context_.object_namespace, context_.name) + "/" +
                std::to_string(index++);
            // The checks go on, so that all references are known.
            if (!context_.faults.none()) continue;
            if (!jobs.add(job(std::move(origin), endpoint), endpoint)) return;
        }
    }

 private:
    std::string discovery_role() const {
        const std::string_view role = spec_.text("serviceDiscoveryRole");
        const bool slices =
            role.empty() ? context_.owner.endpoint_slice_role : role == "EndpointSlice";
        const bool possible =
            context_.options.endpoint_slices && at_least(context_.owner.version, 2, 21);
        return slices && possible ? "endpointslice" : "endpoints";
    }

    void check(const ObjectView& endpoint) const {
        check_endpoint(endpoint, context_);
        if (context_.owner.deny_file_access) check_files(endpoint);
    }
    void check_files(const ObjectView& endpoint) const {
        const ObjectView tls = endpoint["tlsConfig"];
        for (const auto& field :
             {endpoint["bearerTokenFile"], tls["caFile"], tls["certFile"], tls["keyFile"]}) {
            if (field.as_text().value_or("").empty()) continue;
            field.refuse("the owner denies access to files (arbitraryFSAccessThroughSMs)",
                         "use a Secret, or allow it in the owner");
        }
    }

    GeneratedJob job(std::string name, const ObjectView& endpoint) const {
        GeneratedJob made{.origin = std::move(name)};
        JobObject& job = made.config.keys;
        put_text(job, "job_name", made.origin);
        put_endpoint_honors(job, endpoint, context_);
        put(job, "kubernetes_sd_configs", boost::json::array{discovery()});
        put_endpoint_request(job, endpoint, context_);
        put_proxy(job, endpoint, context_);
        put_oauth2(job, endpoint["oauth2"], context_);
        if (auto tls = tls_section(endpoint["tlsConfig"], scrape_class_["tlsConfig"],
                                   {.empty_is_absent = false, .has_files = true}, context_)) {
            put(job, "tls_config", std::move(*tls));
        }
        put_nonempty(job, "bearer_token_file", endpoint.text("bearerTokenFile"));
        put_bearer_token(job, endpoint["bearerTokenSecret"], context_);
        put_basic_auth(job, endpoint["basicAuth"], context_);
        put_authorization(job, endpoint["authorization"], scrape_class_["authorization"], context_);
        put_target_rules(made, rules(endpoint));
        put_scrape_limits(job, spec_, scrape_class_, context_);
        put_metric_relabelings(made, endpoint.items("metricRelabelings"), scrape_class_, context_);
        return made;
    }

    /// A role selector also filters Endpoints and EndpointSlices by their own labels: controllers
    /// copy those of the Service.
    boost::json::object discovery() const {
        boost::json::array selectors;
        if (uses_role_selector(spec_)) {
            selectors = {label_selector_entry(role_, selector_),
                         label_selector_entry("service", selector_)};
        }
        return kubernetes_sd_section({.role = role_,
                                      .namespace_selector = spec_["namespaceSelector"],
                                      .attach_metadata = spec_["attachMetadata"],
                                      .class_attach_metadata = scrape_class_["attachMetadata"],
                                      .selectors = std::move(selectors)},
                                     context_);
    }

    RuleList rules(const ObjectView& endpoint) const {
        RuleList rules = first_rules(context_);
        if (!uses_role_selector(spec_)) {
            add_selector_rules(rules, spec_["selector"], "service");
        }
        add_service_port_rule(rules, endpoint);
        add_target_rules(rules);
        rules.copy_label("__meta_kubernetes_namespace", "namespace");
        rules.copy_label("__meta_kubernetes_service_name", "service");
        rules.copy_label("__meta_kubernetes_pod_name", "pod");
        rules.copy_label("__meta_kubernetes_pod_container_name", "container");
        add_running_filter(rules, endpoint);
        for (const std::string& key : spec_.texts("targetLabels")) {
            const std::string name = sanitize_label_key(key);
            rules.copy_label_if_present("__meta_kubernetes_service_label_" + name, name);
        }
        add_pod_target_labels(rules, spec_, context_);
        add_job_rules(rules);
        add_endpoint_label(rules, endpoint);
        add_last_rules(rules, endpoint.items("relabelings"), scrape_class_, context_);
        add_sharding_rules(rules, context_, "__address__");
        return rules;
    }

    void add_service_port_rule(RuleList& rules, const ObjectView& endpoint) const {
        const std::string_view port = endpoint.text("port");
        if (port.empty()) return add_target_port_rule(rules, endpoint["targetPort"]);
        const std::string_view label = role_ == "endpointslice"
                                           ? "__meta_kubernetes_endpointslice_port_name"
                                           : "__meta_kubernetes_endpoint_port_name";
        rules.add({.action = "keep", .sources = {label}, .regex = port});
    }

    /// `node` and `pod` of the address, if it has them as its target.
    void add_target_rules(RuleList& rules) const {
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
    }

    void add_job_rules(RuleList& rules) const {
        rules.add({.sources = {"__meta_kubernetes_service_name"},
                   .target = "job",
                   .replacement = "${1}"});
        const std::string_view label = spec_.text("jobLabel");
        if (label.empty()) return;
        rules.copy_label_if_present("__meta_kubernetes_service_label_" + sanitize_label_key(label),
                                    "job");
    }

    const ObjectView& spec_;
    const JobContext& context_;
    ObjectView scrape_class_;
    std::string role_;
    std::string selector_;
};

}  // namespace

void make_service_monitor_jobs(const ObjectView& spec, const JobContext& context, JobList& jobs) {
    ServiceMonitorJobs(spec, context).make(jobs);
}

}  // namespace k8s_sd::inline v0::detail
