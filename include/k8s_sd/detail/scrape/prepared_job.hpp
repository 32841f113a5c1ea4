#pragma once

#include "k8s_sd/detail/labels/label_names.hpp"
#include "k8s_sd/relabel/mutable_labels.hpp"
#include "k8s_sd/scrape/scrape_config.hpp"
#include "k8s_sd/target_group.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A ScrapeConfig with what follows from it for every target.
struct PreparedJob {
    explicit PreparedJob(ScrapeConfig);

    ScrapeConfig config;
    /// The labels that a target gets where it has none, in Prometheus' order.
    std::vector<std::pair<std::string, std::string>> defaults;
};

/// Appends the labels of a target before relabelling: its own, those of its group, then the job's
/// defaults for what is still missing. The labels are views into `job` and `group`.
void append_discovered(const PreparedJob& job, const TargetGroup& group, std::size_t index,
                       MutableLabels& labels);
LabelMap discovered_labels(const PreparedJob&, const TargetGroup&, std::size_t index);

// The labels of a target that steer its scrape.
inline constexpr std::string_view address_label_name = address_name.text;
inline constexpr std::string_view scheme_label = "__scheme__";
inline constexpr std::string_view metrics_path_label = "__metrics_path__";
inline constexpr std::string_view interval_label = "__scrape_interval__";
inline constexpr std::string_view timeout_label = "__scrape_timeout__";
inline constexpr std::string_view param_prefix = "__param_";
inline constexpr std::string_view job_label = "job";
inline constexpr std::string_view instance_label = "instance";

/// A label about histograms, a boolean as Go spells it, and the option that is its default.
struct HistogramLabel {
    std::string_view name;
    bool ScrapeConfig::*option;
};
inline constexpr std::array<HistogramLabel, 3> histogram_labels{
    {{"__convert_classic_histograms_to_nhcb__", &ScrapeConfig::convert_classic_histograms_to_nhcb},
     {"__always_scrape_classic_histograms__", &ScrapeConfig::always_scrape_classic_histograms},
     {"__scrape_native_histograms__", &ScrapeConfig::scrape_native_histograms}}};

}  // namespace k8s_sd::inline v0::detail
