#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/scrape/prepared_job.hpp"
#include "k8s_sd/scrape/duration_text.hpp"

#include <algorithm>
#include <string_view>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::chrono::seconds default_timeout(10);

void add_defaults(const PreparedJob& job, MutableLabels& labels) {
    const DialectRules& rules = rules_of(job.config.dialect);
    if (!rules.keeps_empty_labels) labels.erase_empty();
    for (const auto& [name, value] : job.defaults) {
        labels.append_if_absent(name, value);
    }
    if (rules.sorts_labels_before_relabelling) labels.sort();
}

}  // namespace

PreparedJob::PreparedJob(std::shared_ptr<const ScrapeConfig> c)
    : shared_config(std::move(c)),
      config(*shared_config),
      timeout(std::min<std::chrono::milliseconds>(config.scrape_timeout.value_or(default_timeout),
                                                  config.scrape_interval)) {
    constexpr std::size_t usual_count = 5;
    defaults.reserve(usual_count + config.params.size());
    const auto add = [&](std::string_view name, std::string value) {
        if (!value.empty()) defaults.emplace_back(name, std::move(value));
    };
    add(job_label, config.job_name);
    add(interval_label, format_duration(config.scrape_interval, config.dialect));
    add(timeout_label, format_duration(timeout, config.dialect));
    add(metrics_path_label, config.metrics_path);
    add(scheme_label, scheme_of(config));
    if (version_rules_of(dialect_of(config)).has_histogram_labels) {
        const auto add_flag = [&](std::string_view name, bool value) {
            add(name, value ? "true" : "false");
        };
        add_flag(convert_histograms_label, config.convert_classic_histograms_to_nhcb);
        add_flag(classic_histograms_label, config.always_scrape_classic_histograms);
        add_flag(native_histograms_label, config.scrape_native_histograms);
    }
    param_names.reserve(config.params.size());  // the labels have views of the names
    for (const auto& [param, values] : config.params) {
        if (values.empty()) continue;
        add(param_names.emplace_back(std::string(param_prefix) + param), values.front());
    }
}

void append_discovered(const PreparedJob& job, const TargetGroup& group, std::size_t index,
                       MutableLabels& labels) {
    for (const auto [name, value] : group[index]) labels.append(name, value);
    // Even an empty label of the target hides the group's label.
    for (const auto [name, value] : group.labels()) labels.append_if_absent(name, value);
    add_defaults(job, labels);
}

void append_discovered(const PreparedJob& job, const LabelMap& target, MutableLabels& labels) {
    for (const auto& [name, value] : target) labels.append(name, value);
    add_defaults(job, labels);
}

LabelMap discovered_labels(const PreparedJob& job, const TargetGroup& group, std::size_t index) {
    MutableLabels labels;
    append_discovered(job, group, index, labels);
    return labels.to_map();
}

}  // namespace k8s_sd::inline v0::detail
