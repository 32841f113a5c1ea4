#pragma once

#include <algorithm>
#include <string_view>

namespace k8s_sd_program {

/// Keys of a job passed on unchanged by the library and known to Prometheus. They hold no secret;
/// for any other key that is unknown.
constexpr bool is_prometheus_setting(std::string_view key) noexcept {
    constexpr std::string_view keys[] = {"body_size_limit",
                                         "enable_compression",
                                         "extra_scrape_metrics",
                                         "fallback_scrape_protocol",
                                         "honor_labels",
                                         "honor_timestamps",
                                         "label_limit",
                                         "label_name_length_limit",
                                         "label_value_length_limit",
                                         "metric_name_escaping_scheme",
                                         "native_histogram_bucket_limit",
                                         "native_histogram_min_bucket_factor",
                                         "sample_limit",
                                         "scrape_failure_log_file",
                                         "scrape_protocols",
                                         "track_timestamps_staleness"};
    return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
}

}  // namespace k8s_sd_program
