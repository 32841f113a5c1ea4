#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/relabel/relabeler.hpp"
#include "k8s_sd/role.hpp"

#include <chrono>
#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::inline v0 {

/// How to make scrape targets from the target groups of one job: the settings for targets in an
/// entry of `scrape_configs`. Defaults are Prometheus'.
struct ScrapeConfig {
    std::string job_name{};  ///< not empty; becomes the label `job`
    /// "http" or "https"; LabelDialect::victoriametrics: in any case.
    std::string scheme = "http";
    std::string metrics_path = "/metrics";                                ///< path of the URL
    std::map<std::string, std::vector<std::string>> params{};             ///< query of the URL
    std::chrono::milliseconds scrape_interval = std::chrono::minutes(1);  ///< above 0
    /// Above 0 and not longer than the interval; LabelDialect::victoriametrics: reduced to it.
    /// nullopt: ten seconds, or the interval if shorter.
    std::optional<std::chrono::milliseconds> scrape_timeout{};
    /// For the scraping host, which asks each target: see ScrapeTarget.
    bool convert_classic_histograms_to_nhcb = false;
    bool always_scrape_classic_histograms = false;  ///< the same
    bool scrape_native_histograms = false;          ///< the same
    RelabelRules relabel_configs{};                 ///< for targets
    /// For scraped samples. Only validated here: the host applies them, with Relabeler.
    RelabelRules metric_relabel_configs{};
    std::size_t target_limit = 0;  ///< active targets above which all scrapes should fail; 0: none
    std::size_t keep_dropped_targets = 0;  ///< maximum of listed dropped targets; 0: no limit
    /// For scraped samples, applied by the host. From PrometheusVersion::v3_7 on, also the names
    /// allowed for labels set by the rules; before, and with LabelDialect::victoriametrics, those
    /// may make any name.
    NameValidation metric_name_validation_scheme = NameValidation::utf8;
    /// The dialect of durations, addresses and hashes.
    LabelDialect dialect = LabelDialect::prometheus;
    /// The version of Prometheus with these scrape targets, see DiscoveryConfig.
    PrometheusVersion prometheus_version = PrometheusVersion::v3_5;
    auto operator<=>(const ScrapeConfig&) const = default;
};

/// How to read the rules of a job. Thread-safe.
K8S_SD_EXPORT RelabelOptions relabel_options(const ScrapeConfig&);

/// Checks everything except the relabelling rules, checked by Relabeler. Thread-safe.
/// \throws ConfigError with the field and the allowed values
K8S_SD_EXPORT void validate(const ScrapeConfig&);

}  // namespace k8s_sd::inline v0
