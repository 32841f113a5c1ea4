#include "k8s_sd/detail/monitors/common_keys.hpp"
#include "k8s_sd/detail/monitors/endpoint.hpp"
#include "k8s_sd/detail/monitors/http_client.hpp"
#include "k8s_sd/detail/monitors/kinds.hpp"
#include "k8s_sd/detail/monitors/kubernetes_sd.hpp"
#include "k8s_sd/detail/monitors/names.hpp"
#include "k8s_sd/detail/monitors/probe_url.hpp"
#include "k8s_sd/detail/monitors/relabelings.hpp"
#include "k8s_sd/detail/monitors/scrape_class.hpp"
#include "k8s_sd/detail/monitors/secrets.hpp"
#include "k8s_sd/detail/monitors/selectors.hpp"
#include "k8s_sd/detail/monitors/sharding_rules.hpp"
#include "k8s_sd/detail/monitors/tls.hpp"

namespace k8s_sd::inline v0::detail {

namespace {

/// Makes the job of a Probe: the prober is scraped, its parameter `target` is what it probes.
class ProbeJob {
 public:
    ProbeJob(const ObjectView& spec, const JobContext& context)
        : spec_(spec),
          context_(context),
          scrape_class_(scrape_class_of(spec, context)),
          prober_(spec["prober"]),
          static_(spec["targets"]["staticConfig"]),
          ingress_(spec["targets"]["ingress"]) {}

    void make(JobList& jobs) {
        check();
        jobs.add(job(job_origin(context_.kind, context_.object_namespace, context_.name)), spec_);
    }

 private:
    void check() const {
        check_targets();
        if (const ObjectView token = spec_["bearerTokenSecret"]) required_secret(token, context_);
        check_basic_auth(spec_["basicAuth"], context_);
        check_tls(spec_["tlsConfig"], context_);
        check_authorization(spec_["authorization"], context_);
        check_oauth2(spec_["oauth2"], context_);
        check_times(spec_, "interval", "scrapeTimeout", context_.owner);
        check_relabelings(spec_.items("metricRelabelings"), context_);
        check_relabelings(static_.items("relabelingConfigs"), context_);
        check_relabelings(ingress_.items("relabelingConfigs"), context_);
        check_proxy(prober_, context_);
        if (!is_prober_url(prober_.text("url"))) {
            prober_["url"].refuse("is neither a host nor host:port",
                                  "use host:port; scheme and path are fields of their own");
        }
    }

    void check_targets() const {
        if (!static_ && !ingress_) {
            spec_["targets"].refuse("has neither staticConfig nor ingress", "add one of them");
        }
        for (const auto& [name, value] : static_["labels"].members()) {
            if (is_label_name_for(name, context_.owner.version)) continue;
            static_["labels"].refuse("'" + std::string(name) + "' is no valid label name",
                                     "use letters, digits and '_', not starting with a digit");
        }
    }

    GeneratedJob job(std::string name) const {
        GeneratedJob made{.origin = std::move(name)};
        JobObject& job = made.config.keys;
        put_text(job, "job_name", made.origin);
        put_honor_timestamps(job, true, context_);
        put_text(job, "metrics_path", prober_.text("path"));
        put_nonempty(job, "scrape_interval", spec_.text("interval"));
        put_nonempty(job, "scrape_timeout", spec_.text("scrapeTimeout"));
        put_scheme(job, prober_);
        put_probe_params(job);
        put_limits(job, spec_, context_);
        put_histograms(job, spec_, context_);
        put_scrape_protocols(job, spec_.texts("scrapeProtocols"), context_);
        put_fallback_protocol(job, spec_, scrape_class_, context_);
        put_body_size_limit(job, "", context_);
        put_proxy(job, prober_, context_);
        put_redirects_and_http2(job, spec_, "enableHttp2", context_);
        if (auto tls = tls_section(spec_["tlsConfig"], scrape_class_["tlsConfig"], {}, context_)) {
            put(job, "tls_config", std::move(*tls));
        }
        put_targets(made);
        put_bearer_token(job, spec_["bearerTokenSecret"], context_);
        put_basic_auth(job, spec_["basicAuth"], context_);
        put_oauth2(job, spec_["oauth2"], context_);
        put_authorization(job, spec_["authorization"], scrape_class_["authorization"], context_);
        put_metric_relabelings(made, spec_.items("metricRelabelings"), scrape_class_, context_);
        return made;
    }

    /// `module` wins over a parameter of that name.
    void put_probe_params(JobObject& job) const {
        JobObject params;
        const std::string_view module = spec_.text("module");
        if (!module.empty()) put_texts(params, "module", {std::string(module)});
        for (const ObjectView& param : spec_.items("params")) {
            const std::string_view name = param.text("name");
            if (name == "module" && !module.empty()) continue;
            put_texts(params, name, param.texts("values"));
        }
        if (!params.empty()) put(job, "params", std::move(params));
    }

    /// Static targets win over those of ingresses.
    void put_targets(GeneratedJob& made) const {
        JobObject& job = made.config.keys;
        RuleList rules = first_rules(context_);
        const std::string_view job_name = spec_.text("jobName");
        if (!job_name.empty()) rules.set_label("job", job_name);
        if (static_) {
            put(job, "static_configs", boost::json::array{static_config()});
            rules.copy_label("__address__", "__param_target");
        } else {
            put(job, "kubernetes_sd_configs", boost::json::array{ingress_discovery()});
            add_ingress_rules(rules);
        }
        rules.copy_label("__param_target", "instance");
        rules.set_label("__address__", prober_.text("url"));
        const ObjectView& targets = static_ ? static_ : ingress_;
        add_last_rules(rules, targets.items("relabelingConfigs"), scrape_class_, context_);
        add_sharding_rules(rules, context_, "__param_target");
        put_target_rules(made, std::move(rules));
    }

    boost::json::object static_config() const {
        JobObject labels;
        for (const auto& [name, value] : static_["labels"].members()) {
            put_text(labels, name, value.as_text().value_or(""));
        }
        if (!labels.contains("namespace")) {
            put_text(labels, "namespace", context_.object_namespace);
        }
        JobObject config;
        put_texts(config, "targets", static_.texts("static"));
        put(config, "labels", std::move(labels));
        return config;
    }

    boost::json::object ingress_discovery() const {
        const ObjectView none(nullptr, "attachMetadata", context_.faults);
        return kubernetes_sd_section({.role = "ingress",
                                      .namespace_selector = ingress_["namespaceSelector"],
                                      .attach_metadata = none,
                                      .class_attach_metadata = none},
                                     context_);
    }

    void add_ingress_rules(RuleList& rules) const {
        add_selector_rules(rules, ingress_["selector"], "ingress");
        rules.add({.action = "replace",
                   .sources = {"__meta_kubernetes_ingress_scheme", "__address__",
                               "__meta_kubernetes_ingress_path"},
                   .separator = ";",
                   .regex = "(.+);(.+);(.+)",
                   .target = "__param_target",
                   .replacement = "${1}://${2}${3}"});
        rules.copy_label("__meta_kubernetes_namespace", "namespace");
        rules.copy_label("__meta_kubernetes_ingress_name", "ingress");
        rules.add({.action = "replace",
                   .sources = {"__address__"},
                   .separator = ";",
                   .regex = "(.*)",
                   .target = "__tmp_ingress_address",
                   .replacement = "$1"});
    }

    const ObjectView& spec_;
    const JobContext& context_;
    ObjectView scrape_class_;
    ObjectView prober_;
    ObjectView static_;
    ObjectView ingress_;
};

}  // namespace

void make_probe_job(const ObjectView& spec, const JobContext& context, JobList& jobs) {
    ProbeJob(spec, context).make(jobs);
}

}  // namespace k8s_sd::inline v0::detail
