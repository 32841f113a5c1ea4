#include "k8s_sd/detail/relabel/pattern.hpp"
#include "k8s_sd/scrape/target_filter.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0 {

namespace {

constexpr std::size_t max_config_text = 1'000;  ///< bytes of one text in the configuration

/// Whether the labels that the job adds to each target are short.
bool has_short_defaults(const ScrapeConfig& config) {
    const auto is_short = [](const std::string& text) { return text.size() <= max_config_text; };
    return is_short(config.job_name) && is_short(config.metrics_path) &&
           std::all_of(config.params.begin(), config.params.end(), [&](const auto& parameter) {
               return std::all_of(parameter.second.begin(), parameter.second.end(), is_short);
           });
}

/// Reads the rules in their order as long as none of them can fail for a target whose values are
/// at most TargetFilter::max_value_bytes long: such a target would not be dropped.
class LeadingRules {
 public:
    /// \returns whether later rules can be read
    bool read(const RelabelRule& rule) {
        const auto pattern = detail::SimplePattern::parse(rule.regex);
        if (!pattern || !rule.if_.empty() || !is_small(rule) || reads_written(rule)) return false;
        switch (rule.action) {
            case RelabelAction::keep: add_condition(rule, *pattern); return true;
            case RelabelAction::drop:
            case RelabelAction::keepequal:
            case RelabelAction::dropequal: return true;
            case RelabelAction::replace: return is_small_template(rule) && write(rule);
            case RelabelAction::hashmod:
            case RelabelAction::lowercase:
            case RelabelAction::uppercase: return write(rule);
            default: return false;
        }
    }
    TargetFilter take() { return std::move(filter_); }

    /// Whether the rule can be a condition. Rules after the last one of these have no effect.
    static bool may_be_condition(const RelabelRule& rule) {
        const auto is_discovered = [](const std::string& label) {
            return label.starts_with("__meta_");
        };
        return rule.action == RelabelAction::keep && !rule.source_labels.empty() &&
               std::all_of(rule.source_labels.begin(), rule.source_labels.end(), is_discovered);
    }

 private:
    static bool is_small(const RelabelRule& rule) {
        constexpr std::size_t max_sources = 8;
        return rule.source_labels.size() <= max_sources &&
               rule.separator.size() <= max_config_text &&
               rule.target_label.size() <= max_config_text;
    }
    /// Whether the result is not much longer than the source, and the target label is fixed.
    static bool is_small_template(const RelabelRule& rule) {
        return rule.replacement.size() <= max_config_text &&
               std::count(rule.replacement.begin(), rule.replacement.end(), '$') <= 1 &&
               rule.replacement.find("{{") == std::string::npos &&
               rule.target_label.find('$') == std::string::npos;
    }
    /// Rules that read results of other rules can make long texts.
    bool reads_written(const RelabelRule& rule) const {
        return std::any_of(rule.source_labels.begin(), rule.source_labels.end(),
                           [this](const std::string& label) { return written_.contains(label); });
    }
    bool write(const RelabelRule& rule) {
        written_.insert(rule.target_label);
        return true;
    }

    void add_condition(const RelabelRule& rule, const detail::SimplePattern& pattern) {
        const auto& sources = rule.source_labels;
        if (pattern.tail != detail::SimplePattern::Tail::none || !may_be_condition(rule)) return;
        filter_.conditions.push_back(
            {sources, sources.size() == 1 ? "" : rule.separator, pattern.literals});
    }

    TargetFilter filter_;
    std::set<std::string_view> written_;
};

}  // namespace

TargetFilter target_filter(const ScrapeConfig& config) {
    // Together they stay far below RelabelLimits::made_bytes.
    constexpr std::size_t max_rules = 50;
    if (!has_short_defaults(config)) return {};
    LeadingRules leading;
    const RelabelRules& rules = config.relabel_configs;
    std::size_t count = std::min(rules.size(), max_rules);
    while (count > 0 && !LeadingRules::may_be_condition(rules[count - 1])) --count;
    for (std::size_t i = 0; i < count && leading.read(rules[i]); ++i) {
    }
    return leading.take();
}

Job filtered_discovery(const ScrapeJob& job) {
    Job discovery = job.discovery;
    discovery.filter = target_filter(job.scrape);
    return discovery;
}

}  // namespace k8s_sd::inline v0
