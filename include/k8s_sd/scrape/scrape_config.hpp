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

/// How to make scrape targets of the target groups of one job: what an entry of `scrape_configs`
/// says about targets. Defaults are Prometheus'.
struct ScrapeConfig {
    std::string job_name{};  ///< not empty; becomes the label `job`
    /// "http" or "https"; LabelDialect::victoriametrics: in any case.
    std::string scheme = "http";
    std::string metrics_path = "/metrics";                                ///< of the URL
    std::map<std::string, std::vector<std::string>> params{};             ///< of the URL's query
    std::chrono::milliseconds scrape_interval = std::chrono::minutes(1);  ///< above 0
    /// Above 0 and not longer than the interval; LabelDialect::victoriametrics: cut to it. None:
    /// ten seconds, or the interval if that is shorter.
    std::optional<std::chrono::milliseconds> scrape_timeout{};
    bool convert_classic_histograms_to_nhcb = false;  ///< for the host, which scrapes
    bool always_scrape_classic_histograms = false;    ///< the same
    bool scrape_native_histograms = false;            ///< the same
    std::vector<RelabelRule> relabel_configs{};       ///< of targets
    /// Of scraped samples. Only checked here: the host applies them, with Relabeler.
    std::vector<RelabelRule> metric_relabel_configs{};
    std::size_t target_limit = 0;  ///< active targets above which all scrapes should fail; 0: none
    std::size_t keep_dropped_targets = 0;  ///< dropped targets whose labels can be seen; 0: all
    /// Of scraped samples, for the host. (Relabelling takes any name, as in the two programs.)
    NameValidation metric_name_validation_scheme = NameValidation::utf8;
    /// Whose rules for durations, addresses and hashes apply.
    LabelDialect dialect = LabelDialect::prometheus;
    auto operator<=>(const ScrapeConfig&) const = default;
};

/// How the rules of a job are to be read.
inline RelabelOptions relabel_options(const ScrapeConfig& config) {
    return {.dialect = config.dialect};
}

/// Checks everything but the relabelling rules, which Relabeler checks. Thread-safe.
/// \throws ConfigError naming the field and what is allowed
K8S_SD_EXPORT void validate(const ScrapeConfig&);

}  // namespace k8s_sd::inline v0
