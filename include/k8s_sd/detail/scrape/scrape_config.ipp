#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/scrape/prepared_job.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/text/utf8.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/scrape/scrape_config.hpp"

namespace k8s_sd::inline v0 {

namespace {

void check_utf8(const char* field, const std::string& text) {
    if (!detail::is_utf8(text)) throw ConfigError(field, "is not UTF-8");
}

}  // namespace

std::string detail::scheme_of(const ScrapeConfig& config) {
    return rules_of(config.dialect).lowers_case_of_scheme ? lower_case(config.scheme)
                                                          : config.scheme;
}

RelabelOptions relabel_options(const ScrapeConfig& config) {
    RelabelOptions options{.dialect = config.dialect};
    if (detail::version_rules_of(detail::dialect_of(config)).has_names_of_scheme_in_rules) {
        options.names = config.metric_name_validation_scheme;
    }
    return options;
}

void validate(const ScrapeConfig& config) {
    if (config.job_name.empty()) throw ConfigError("job_name", "is missing");
    check_utf8("job_name", config.job_name);
    check_utf8("metrics_path", config.metrics_path);
    // Prometheus passes it on as it is, and Go's url.Parse() reads it in any case.
    const std::string scheme = detail::lower_case(config.scheme);
    if (scheme != "http" && scheme != "https") {
        throw ConfigError("scheme", "must be http or https");
    }
    detail::check_version(config.dialect, config.prometheus_version);
    if (config.scrape_interval.count() <= 0) {
        throw ConfigError("scrape_interval", "must be longer than 0");
    }
    if (!config.scrape_timeout) return;
    if (config.scrape_timeout->count() <= 0) {
        throw ConfigError("scrape_timeout", "must be longer than 0");
    }
    const bool too_long = *config.scrape_timeout > config.scrape_interval;
    if (too_long && detail::rules_of(config.dialect).refuses_timeout_above_interval) {
        throw ConfigError("scrape_timeout", "must not be longer than scrape_interval");
    }
}

}  // namespace k8s_sd::inline v0
