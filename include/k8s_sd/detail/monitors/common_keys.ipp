#include "k8s_sd/detail/monitors/byte_size.hpp"
#include "k8s_sd/detail/monitors/common_keys.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/scrape/duration_text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

namespace k8s_sd::inline v0::detail {

namespace {

/// A limit of objects and owners.
struct LimitTraits {
    std::string_view field;
    std::string_view key;
    std::optional<std::uint64_t> MonitorLimits::*limit;
    std::uint64_t since = 0;  ///< minor version of Prometheus 2
};

constexpr std::array<LimitTraits, 6> limit_traits{{
    {"sampleLimit", "sample_limit", &MonitorLimits::sample},
    {"targetLimit", "target_limit", &MonitorLimits::target, 21},
    {"labelLimit", "label_limit", &MonitorLimits::label, 27},
    {"labelNameLengthLimit", "label_name_length_limit", &MonitorLimits::label_name_length, 27},
    {"labelValueLengthLimit", "label_value_length_limit", &MonitorLimits::label_value_length, 27},
    {"keepDroppedTargets", "keep_dropped_targets", &MonitorLimits::keep_dropped, 47},
}};

/// From 2.45 on, `global` has the enforced limit for jobs without one.
std::optional<std::uint64_t> effective_limit(std::optional<std::uint64_t> own,
                                             std::optional<std::uint64_t> enforced,
                                             const JobContext& context) {
    if (enforced.value_or(0) == 0) return own;
    if (own.value_or(0) == 0) {
        return at_least(context.owner.version, 2, 45) ? std::nullopt : enforced;
    }
    return std::min(*own, *enforced);
}

std::optional<std::chrono::milliseconds> duration_of(std::string_view text) {
    try {
        return parse_duration(text);
    } catch (const ConfigError&) {
        return std::nullopt;
    }
}

std::string_view resource_of(MonitorKind kind) {
    constexpr std::array<std::string_view, 4> names{"servicemonitors", "podmonitors", "probes",
                                                    "scrapeconfigs"};
    return names[static_cast<std::size_t>(kind)];
}

}  // namespace

std::string times_problem(std::string_view interval, std::string_view timeout) {
    if (timeout.empty()) return {};
    const auto wrong = [](std::string_view key, std::string_view text) {
        return std::string(key) + " '" + printable(text) + "' is no duration";
    };
    const auto max = duration_of(interval);
    if (!max) return wrong("the interval", interval);
    const auto duration = duration_of(timeout);
    if (!duration) return wrong("the timeout", timeout);
    if (*duration <= *max) return {};
    return "the timeout " + std::string(timeout) + " is above the interval " +
           std::string(interval);
}

void check_times(const ObjectView& object, std::string_view interval_key,
                 std::string_view timeout_key, const MonitorOwner& owner) {
    std::string_view interval = object.text(interval_key);
    if (interval.empty()) interval = owner.scrape_interval;
    const std::string problem = times_problem(interval, object.text(timeout_key));
    if (!problem.empty()) {
        object[timeout_key].refuse(problem, "use durations such as 30s, and a shorter timeout");
    }
}

void put_limits(JobObject& job, const ObjectView& spec, const JobContext& context) {
    for (const LimitTraits& traits : limit_traits) {
        const auto limit = effective_limit(spec.number(traits.field),
                                           context.owner.enforced.*traits.limit, context);
        if (limit && context.generates(2, traits.since)) put(job, traits.key, *limit);
    }
}

void put_global_limits(JobObject& global, const JobContext& context) {
    if (!context.generates(2, 45)) return;
    for (const LimitTraits& traits : limit_traits) {
        const std::uint64_t own = (context.owner.limits.*traits.limit).value_or(0);
        const std::uint64_t enforced = (context.owner.enforced.*traits.limit).value_or(0);
        const std::uint64_t limit =
            own == 0 || enforced == 0 ? std::max(own, enforced) : std::min(own, enforced);
        if (limit != 0 && context.generates(2, traits.since)) put(global, traits.key, limit);
    }
    put_body_size_limit(global, context.owner.limits.body_size, context);
}

void put_body_size_limit(JobObject& job, std::string_view own, const JobContext& context) {
    std::string_view limit = context.owner.enforced.body_size;
    if (limit.empty()) {
        limit = own;
    } else if (!own.empty()) {
        const auto bytes = parse_byte_size(own);
        const auto enforced = parse_byte_size(limit);
        // Of equal limits, the text of the object wins.
        if (bytes && (!enforced || *bytes <= *enforced)) limit = own;
    }
    if (context.generates(2, 28)) put_nonempty(job, "body_size_limit", limit);
}

void put_honor_labels(JobObject& job, bool honor, const JobContext& context) {
    put(job, "honor_labels", honor && !context.owner.override_honor_labels);
}

void put_honor_timestamps(JobObject& job, std::optional<bool> honor, const JobContext& context) {
    const bool overridden = context.owner.override_honor_timestamps;
    if (!honor && !overridden) return;
    if (!context.generates(2, 9)) return;
    put(job, "honor_timestamps", honor.value_or(false) && !overridden);
}

void put_track_staleness(JobObject& job, const ObjectView& settings, const JobContext& context) {
    const auto track = settings.flag("trackTimestampsStaleness");
    if (track && context.generates(2, 48)) put(job, "track_timestamps_staleness", *track);
}

void put_histograms(JobObject& job, const ObjectView& spec, const JobContext& context) {
    const auto scrape = spec.flag("scrapeNativeHistograms");
    if (scrape && context.generates(3, 8)) put(job, "scrape_native_histograms", *scrape);
    const auto buckets = spec.number("nativeHistogramBucketLimit");
    if (buckets && context.generates(2, 45)) {
        put(job, "native_histogram_bucket_limit", *buckets);
    }
    const auto factor = spec["nativeHistogramMinBucketFactor"].as_quantity();
    if (factor && context.generates(2, 50)) {
        put(job, "native_histogram_min_bucket_factor", *factor);
    }
    const auto classic = spec.flag("scrapeClassicHistograms");
    if (classic && context.owner.version.major >= 3) {
        put(job, "always_scrape_classic_histograms", *classic);
    } else if (classic && context.generates(2, 45)) {
        put(job, "scrape_classic_histograms", *classic);
    }
    const auto convert = spec.flag("convertClassicHistogramsToNHCB");
    if (convert && context.generates(3, 0)) {
        put(job, "convert_classic_histograms_to_nhcb", *convert);
    }
}

void put_scrape_protocols(JobObject& job, std::vector<std::string> protocols,
                          const JobContext& context) {
    if (!context.generates(3, 0)) std::erase(protocols, "PrometheusText1.0.0");
    if (!protocols.empty() && context.generates(2, 49)) {
        put_texts(job, "scrape_protocols", protocols);
    }
}

void put_fallback_protocol(JobObject& job, const ObjectView& spec, const ObjectView& scrape_class,
                           const JobContext& context) {
    if (!context.generates(3, 0)) return;
    const ObjectView& first = spec.has("fallbackScrapeProtocol") ? spec : scrape_class;
    put_nonempty(job, "fallback_scrape_protocol", first.text("fallbackScrapeProtocol"));
}

void put_scheme(JobObject& job, const ObjectView& settings) {
    put_nonempty(job, "scheme", lower_case(settings.text("scheme")));
}

void put_params(JobObject& job, const ObjectView& params) {
    JobObject result;
    for (const auto& [name, values] : params.members()) {
        put_texts(result, name, values.as_texts());
    }
    if (!result.empty()) put(job, "params", std::move(result));
}

bool enforces_namespace(const JobContext& context) {
    const MonitorOwner& owner = context.owner;
    if (owner.enforced_namespace_label.empty()) return false;
    const auto excludes = [&](const EnforcementExclusion& e) {
        return e.object_namespace == context.object_namespace &&
               e.group == "monitoring.coreos.com" && e.resource == resource_of(context.kind) &&
               (e.name.empty() || e.name == context.name);
    };
    return std::none_of(owner.excluded_from_enforcement.begin(),
                        owner.excluded_from_enforcement.end(), excludes);
}

void add_enforced_namespace(RuleList& rules, const JobContext& context) {
    if (!enforces_namespace(context)) return;
    rules.set_label(context.owner.enforced_namespace_label, context.object_namespace);
}

void put_metric_relabelings(GeneratedJob& job, const std::vector<ObjectView>& of_object,
                            const ObjectView& scrape_class, const JobContext& context) {
    RuleList rules(context);
    rules.add_user_rules(scrape_class.items("metricRelabelings"));
    rules.add_user_rules(of_object);
    add_enforced_namespace(rules, context);
    put_metric_rules(job, std::move(rules));
}

RuleList first_rules(const JobContext& context) {
    RuleList rules(context);
    rules.copy_label("job", "__tmp_prometheus_job_name");
    return rules;
}

void add_running_filter(RuleList& rules, const ObjectView& endpoint) {
    if (!endpoint.flag("filterRunning").value_or(true)) return;
    rules.add({.action = "drop",
               .sources = {"__meta_kubernetes_pod_phase"},
               .regex = "(Failed|Succeeded)"});
}

}  // namespace k8s_sd::inline v0::detail
