#include "k8s_sd/detail/monitors/common_keys.hpp"
#include "k8s_sd/detail/monitors/http_client.hpp"
#include "k8s_sd/detail/monitors/kinds.hpp"
#include "k8s_sd/detail/monitors/names.hpp"
#include "k8s_sd/detail/monitors/relabelings.hpp"
#include "k8s_sd/detail/monitors/scrape_class.hpp"
#include "k8s_sd/detail/monitors/service_discoveries.hpp"
#include "k8s_sd/detail/monitors/sharding_rules.hpp"
#include "k8s_sd/detail/monitors/tls.hpp"
#include "k8s_sd/detail/text/text.hpp"

namespace k8s_sd::inline v0::detail {

namespace {

/// Makes the job of a ScrapeConfig.
class ScrapeConfigJob {
 public:
    ScrapeConfigJob(const ObjectView& spec, const JobContext& context)
        : spec_(spec), context_(context), scrape_class_(scrape_class_of(spec, context)) {}

    void make(JobList& jobs) {
        check();
        jobs.add(job(job_origin(context_.kind, context_.object_namespace, context_.name)), spec_);
    }

 private:
    void check() const {
        check_relabelings(spec_.items("relabelings"), context_);
        check_basic_auth(spec_["basicAuth"], context_);
        check_authorization(spec_["authorization"], context_);
        check_oauth2(spec_["oauth2"], context_);
        check_tls(spec_["tlsConfig"], context_);
        check_times(spec_, "scrapeInterval", "scrapeTimeout", context_.owner);
        check_proxy(spec_, context_);
        check_relabelings(spec_.items("metricRelabelings"), context_);
        check_service_discoveries(spec_, context_);
    }

    GeneratedJob job(std::string name) const {
        GeneratedJob made{.origin = std::move(name)};
        JobObject& job = made.config.keys;
        put_text(job, "job_name", made.origin);
        // Only if the object says so, even if the owner overrides it.
        if (const auto honor = spec_.flag("honorTimestamps")) {
            put_honor_timestamps(job, honor, context_);
        }
        put_track_staleness(job, spec_, context_);
        if (const auto honor = spec_.flag("honorLabels")) put_honor_labels(job, *honor, context_);
        put_nonempty(job, "metrics_path", spec_.text("metricsPath"));
        put_params(job, spec_["params"]);
        const auto compression = spec_.flag("enableCompression");
        if (compression && context_.generates(2, 49)) {
            put(job, "enable_compression", *compression);
        }
        put_redirects_and_http2(job, spec_, "enableHTTP2", context_);
        put_nonempty(job, "scrape_interval", spec_.text("scrapeInterval"));
        put_nonempty(job, "scrape_timeout", spec_.text("scrapeTimeout"));
        put_scrape_protocols(job, spec_.texts("scrapeProtocols"), context_);
        put_fallback_protocol(job, spec_, scrape_class_, context_);
        put_scheme(job, spec_);
        put_client(job);
        put_limits(job, spec_, context_);
        put_histograms(job, spec_, context_);
        put_body_size_limit(job, spec_.text("bodySizeLimit"), context_);
        put_service_discoveries(job, spec_, context_);
        put_target_rules(made, rules());
        put_metric_relabelings(made, spec_.items("metricRelabelings"), scrape_class_, context_);
        put_name_schemes(job);
        return made;
    }

    void put_client(JobObject& job) const {
        put_proxy(job, spec_, context_);
        put_basic_auth(job, spec_["basicAuth"], context_);
        put_authorization(job, spec_["authorization"], scrape_class_["authorization"], context_);
        put_oauth2(job, spec_["oauth2"], context_);
        if (auto tls = tls_section(spec_["tlsConfig"], scrape_class_["tlsConfig"], {}, context_)) {
            put(job, "tls_config", std::move(*tls));
        }
    }

    RuleList rules() const {
        RuleList rules = first_rules(context_);
        rules.add_user_rules(scrape_class_.items("relabelings"));
        const std::string_view job_name = spec_.text("jobName");
        if (!job_name.empty()) {
            rules.add({.action = "replace", .target = "job", .replacement = job_name});
        }
        if (const auto own = spec_.items("relabelings"); !own.empty()) {
            rules.add_user_rules(own);
            add_enforced_namespace(rules, context_);
        }
        add_sharding_rules_if_needed(rules, context_);
        return rules;
    }

    void put_name_schemes(JobObject& job) const {
        if (context_.generates(3, 0)) {
            put_nonempty(job, "metric_name_validation_scheme",
                         lower_case(spec_.text("nameValidationScheme")));
        }
        if (context_.generates(3, 4)) {
            put_nonempty(job, "metric_name_escaping_scheme",
                         name_escaping_scheme(spec_.text("nameEscapingScheme")));
        }
    }

    const ObjectView& spec_;
    const JobContext& context_;
    ObjectView scrape_class_;
};

}  // namespace

void make_scrape_config_job(const ObjectView& spec, const JobContext& context, JobList& jobs) {
    ScrapeConfigJob(spec, context).make(jobs);
}

}  // namespace k8s_sd::inline v0::detail
