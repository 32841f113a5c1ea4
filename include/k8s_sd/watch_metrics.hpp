#pragma once

#include "k8s_sd/metrics.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/time.hpp"

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0 {

/// A metric of one watch, computed from its status. Metrics has counters for the whole context;
/// these series exist once for each watched URL, so hosts decide whether they want so many.
struct WatchMetric {
    MetricDescription description;  ///< the same for all watches
    /// The value at `now`; nullopt if the watch has none yet.
    std::optional<double> (*value)(const WatchStatus&, TimePoint now);
};

namespace detail {

inline double in_seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

template <std::optional<TimePoint> WatchStatus::*member>
std::optional<double> age(const WatchStatus& status, TimePoint now) {
    if (!(status.*member)) return std::nullopt;
    return in_seconds(now - *(status.*member));
}

}  // namespace detail

/// The metrics of each watch. Ages are relative to `now`.
inline constexpr WatchMetric watch_metrics[] = {
    {{"k8s_sd_watch_synced", MetricType::gauge, "Whether the URL has been listed completely."},
     [](const WatchStatus& s, TimePoint) -> std::optional<double> { return s.synced ? 1 : 0; }},
    {{"k8s_sd_watch_objects", MetricType::gauge, "Objects that are kept."},
     [](const WatchStatus& s, TimePoint) -> std::optional<double> {
         return static_cast<double>(s.objects);
     }},
    {{"k8s_sd_watch_failures", MetricType::gauge, "Attempts that failed since the last success."},
     [](const WatchStatus& s, TimePoint) -> std::optional<double> { return s.failures; }},
    {{"k8s_sd_watch_last_byte_age_seconds", MetricType::gauge,
      "Time since a body last brought something."},
     detail::age<&WatchStatus::last_byte>},
    {{"k8s_sd_watch_last_event_age_seconds", MetricType::gauge,
      "Time since the last ADDED, MODIFIED or DELETED event."},
     detail::age<&WatchStatus::last_event>},
    {{"k8s_sd_watch_last_bookmark_age_seconds", MetricType::gauge, "Time since the last bookmark."},
     detail::age<&WatchStatus::last_bookmark>},
    {{"k8s_sd_watch_last_list_age_seconds", MetricType::gauge, "Time since a list was complete."},
     detail::age<&WatchStatus::last_list>},
    {{"k8s_sd_watch_list_duration_seconds", MetricType::gauge, "Duration of that list."},
     [](const WatchStatus& s, TimePoint) -> std::optional<double> {
         if (!s.last_list) return std::nullopt;
         return detail::in_seconds(s.list_duration);
     }},
    {{"k8s_sd_watch_pause_seconds", MetricType::gauge,
      "Length of the pause before the next attempt; 0 if there is none."},
     [](const WatchStatus& s, TimePoint) -> std::optional<double> {
         return detail::in_seconds(s.pause.value_or(Duration{}));
     }},
    {{"k8s_sd_watch_http_version", MetricType::gauge,
      "Version of HTTP of the last response, 1 or 2."},
     [](const WatchStatus& s, TimePoint) -> std::optional<double> {
         if (s.http_version == 0) return std::nullopt;
         return s.http_version;
     }},
    {{"k8s_sd_watch_server_sharded", MetricType::gauge,
      "Whether the server sends no more than the share that is watched, where that is known."},
     [](const WatchStatus& s, TimePoint) -> std::optional<double> {
         if (!s.server_sharded) return std::nullopt;
         return *s.server_sharded ? 1 : 0;
     }},
};

/// Complete lists by their reason, in the label "reason".
inline constexpr MetricDescription watch_lists_metric{
    "k8s_sd_watch_lists_total", MetricType::counter, "Complete lists by their reason."};
/// Time in the present wait state; the label "for" names the state.
inline constexpr MetricDescription watch_waiting_metric{
    "k8s_sd_watch_waiting_seconds", MetricType::gauge,
    "For how long the watch has waited for what it waits for."};

/// Calls `visitor(description, watch, label, label_value, value)` for each value, grouped by metric
/// as Prometheus' text format demands. The `server`, `kind` and `ns` of a watch identify its
/// series; `label` is empty unless the series has a further label.
/// \param now  on the clock of the watches, see Environment::clock
template <class Visitor>
void visit_watch_metrics(const std::vector<WatchStatus>& watches, TimePoint now,
                         Visitor&& visitor) {
    for (const WatchMetric& metric : watch_metrics) {
        for (const WatchStatus& watch : watches) {
            if (const auto value = metric.value(watch, now))
                visitor(metric.description, watch, std::string_view(), std::string_view(), *value);
        }
    }
    for (const WatchStatus& watch : watches) {
        for (std::size_t i = 0; i < list_reason_count; ++i) {
            if (watch.lists[i] == 0) continue;
            visitor(watch_lists_metric, watch, std::string_view("reason"),
                    to_string(static_cast<ListReason>(i)), static_cast<double>(watch.lists[i]));
        }
    }
    for (const WatchStatus& watch : watches) {
        visitor(watch_waiting_metric, watch, std::string_view("for"), to_string(watch.waiting),
                detail::in_seconds(now - watch.waiting_since));
    }
}

}  // namespace k8s_sd::inline v0
