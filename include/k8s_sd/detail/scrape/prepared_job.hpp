#pragma once

#include "k8s_sd/detail/labels/label_shape.hpp"
#include "k8s_sd/relabel/mutable_labels.hpp"
#include "k8s_sd/scrape/scrape_config.hpp"
#include "k8s_sd/target_group.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A ScrapeConfig with derived values common to all targets.
struct PreparedJob {
    explicit PreparedJob(std::shared_ptr<const ScrapeConfig>);
    PreparedJob(const PreparedJob&) = delete;
    PreparedJob& operator=(const PreparedJob&) = delete;

    const std::shared_ptr<const ScrapeConfig> shared_config;  ///< the host may use it, too
    const ScrapeConfig& config;
    std::chrono::milliseconds timeout{};   ///< configured or default, at most the interval
    std::vector<std::string> param_names;  ///< names of labels
    /// Labels added to targets without them, in Prometheus' order. The names are constants, or of
    /// `param_names`.
    std::vector<std::pair<std::string_view, std::string>> defaults;
};

/// The scheme as written in the dialect.
std::string scheme_of(const ScrapeConfig&);

/// Appends the labels of a target before relabelling: its own, those of its group, then the job's
/// defaults for the missing ones. They are in the order required by relabelling, with the dialect's
/// empty labels, and are views into `job` and `group`.
void append_discovered(const PreparedJob& job, const TargetGroup& group, std::size_t index,
                       MutableLabels& labels);
/// The same for a sorted label map without a group.
void append_discovered(const PreparedJob& job, const LabelMap& target, MutableLabels& labels);
LabelMap discovered_labels(const PreparedJob&, const TargetGroup&, std::size_t index);

// Labels with effects on the scrape of a target.
inline constexpr std::string_view address_label_name = address_name.text;
inline constexpr std::string_view scheme_label = "__scheme__";
inline constexpr std::string_view metrics_path_label = "__metrics_path__";
inline constexpr std::string_view interval_label = "__scrape_interval__";
inline constexpr std::string_view timeout_label = "__scrape_timeout__";
inline constexpr std::string_view convert_histograms_label =
    "__convert_classic_histograms_to_nhcb__";
inline constexpr std::string_view classic_histograms_label = "__always_scrape_classic_histograms__";
inline constexpr std::string_view native_histograms_label = "__scrape_native_histograms__";
inline constexpr std::string_view param_prefix = "__param_";
inline constexpr std::string_view job_label = "job";
inline constexpr std::string_view instance_label = "instance";

}  // namespace k8s_sd::inline v0::detail
