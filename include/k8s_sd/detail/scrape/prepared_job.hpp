#pragma once

#include "k8s_sd/detail/labels/label_names.hpp"
#include "k8s_sd/relabel/mutable_labels.hpp"
#include "k8s_sd/scrape/scrape_config.hpp"
#include "k8s_sd/target_group.hpp"

#include <chrono>
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
    std::chrono::milliseconds timeout{};  ///< what is configured, or the default, cut
    /// The labels that a target gets where it has none, in Prometheus' order.
    std::vector<std::pair<std::string, std::string>> defaults;
};

/// As the dialect writes it.
std::string scheme_of(const ScrapeConfig&);

/// Appends the labels of a target before relabelling: its own, those of its group, then the job's
/// defaults for what is still missing. In the order that relabelling wants, and with blanks where
/// the dialect has them. The labels are views into `job` and `group`.
void append_discovered(const PreparedJob& job, const TargetGroup& group, std::size_t index,
                       MutableLabels& labels);
/// The same for labels that are there, in the order of their names, without a group.
void append_discovered(const PreparedJob& job, const LabelMap& target, MutableLabels& labels);
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

}  // namespace k8s_sd::inline v0::detail
