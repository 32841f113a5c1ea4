#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/time.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

/// A histogram of durations with fixed buckets, as for Prometheus. Cheap to update; may be read and
/// updated from any thread at any time.
class LatencyHistogram {
 public:
    /// Upper bounds of the buckets; one more bucket has no bound.
    static constexpr std::array<std::chrono::microseconds, 15> bounds = [] {
        using std::chrono::microseconds;
        return std::array{
            microseconds(1'000),      microseconds(2'500),      microseconds(5'000),
            microseconds(10'000),     microseconds(25'000),     microseconds(50'000),
            microseconds(100'000),    microseconds(250'000),    microseconds(500'000),
            microseconds(1'000'000),  microseconds(2'500'000),  microseconds(5'000'000),
            microseconds(10'000'000), microseconds(30'000'000), microseconds(60'000'000)};
    }();
    /// Number of observations in each bucket (not cumulative), the one without bound last.
    using Counts = std::array<std::uint64_t, bounds.size() + 1>;

    /// Counts one observation.
    void observe(Duration latency) noexcept {
        const auto bucket = static_cast<std::size_t>(
            std::lower_bound(bounds.begin(), bounds.end(), latency) - bounds.begin());
        buckets_[bucket].fetch_add(1, std::memory_order_relaxed);
        sum_.fetch_add(latency.count(), std::memory_order_relaxed);
    }
    /// The current counts.
    Counts counts() const noexcept {
        Counts counts{};
        for (std::size_t i = 0; i < counts.size(); ++i)
            counts[i] = buckets_[i].load(std::memory_order_relaxed);
        return counts;
    }
    /// Sum of all observations.
    Duration sum() const noexcept { return Duration(sum_.load(std::memory_order_relaxed)); }

 private:
    std::array<std::atomic<std::uint64_t>, bounds.size() + 1> buckets_{};
    std::atomic<Duration::rep> sum_{0};
};

/// As in Prometheus: a counter only grows, a gauge has the current number, a histogram counts
/// observations by their size.
enum class MetricType : std::uint8_t { counter, gauge, histogram };

/// "counter", "gauge" or "histogram".
constexpr std::string_view to_string(MetricType type) noexcept {
    switch (type) {
        case MetricType::counter: return "counter";
        case MetricType::gauge: return "gauge";
        case MetricType::histogram: return "histogram";
    }
    return {};
}

/// A metric, as in the HELP and TYPE lines of Prometheus' text format.
struct MetricDescription {
    std::string_view name;  ///< follows Prometheus' conventions
    MetricType type;        ///< how to interpret its values
    std::string_view help;  ///< one line
};

/// Metrics of one execution context. Cheap to update; may be read from any thread at any time.
/// A Counter counts since the start, a Gauge has the current number.
struct Metrics {
    /// Only grows.
    using Counter = std::atomic<std::uint64_t>;
    /// The current number.
    using Gauge = std::atomic<std::int64_t>;

    /// Metrics of one kind of objects.
    struct PerKind {
        Counter lists{0};                ///< complete LISTs
        Counter relists{0};              ///< complete LISTs after the first of their URL
        Counter polls{0};                ///< complete LISTs in place of a WATCH
        Counter streamed_lists{0};       ///< complete LISTs at the start of a WATCH (watch-lists)
        Counter list_milliseconds{0};    ///< total duration of complete LISTs
        Counter probes{0};               ///< LISTs of one object, for the server's version
        Counter watches{0};              ///< accepted WATCH requests
        Counter events{0};               ///< ADDED, MODIFIED and DELETED events
        Counter bookmarks{0};            ///< BOOKMARK events
        Counter added{0};                ///< added objects
        Counter updated{0};              ///< objects with a change of a label
        Counter removed{0};              ///< removed objects
        Counter bad_objects{0};          ///< objects of the wrong shape, skipped
        Counter expired{0};              ///< 410 answers and events
        Counter unauthorized{0};         ///< 401 answers
        Counter forbidden{0};            ///< 403 answers
        Counter not_found{0};            ///< 404 answers
        Counter too_many_requests{0};    ///< 429 answers
        Counter server_errors{0};        ///< 5xx answers
        Counter malformed{0};            ///< bodies not in the requested form
        Counter network_errors{0};       ///< no connection, broken connections, timeouts
        Counter other_errors{0};         ///< any other failure of a request
        Counter silent_watches{0};       ///< WATCHes beyond their idle timeout
        Counter version_regressions{0};  ///< a server's versions went back, as after a restore
        Counter suspicious_lists{0};     ///< suspicious LISTs, repeated for confirmation
        Counter json_fallbacks{0};       ///< fallbacks of watchers to plain JSON
        Counter lists_with_managed_fields{0};     ///< LISTs with undesired managedFields
        Counter lists_without_managed_fields{0};  ///< LISTs without them, as requested
        Counter bytes_received{0};                ///< bytes of bodies, as received
        Gauge objects{0};                         ///< cached objects
        Gauge watchers{0};                        ///< watchers, one for each URL
        Gauge synced_watchers{0};                 ///< watchers with a complete list
        Gauge failing_watchers{0};                ///< watchers with an error in their status
    };

    /// Indexed by Kind; the last element counts all resources without a built-in kind.
    std::array<PerKind, kind_count + 1> kinds;
    Counter groups_generated{0};        ///< generated target groups
    Counter target_parts_generated{0};  ///< regenerated parts of these groups
    Counter diffs_delivered{0};         ///< diffs delivered by Discoverers; each part counts
    Counter job_diffs_delivered{0};     ///< calls of the callbacks of DiscoveryManagers
    /// For each diff of a Discoverer or Watcher: the time from the arrival of its oldest change to
    /// the invocation of the callback, including min_update_interval and the time of a busy
    /// callback. A change arrives when the bytes read together with it are decoded; the first,
    /// complete diff arrives at the end of the lists. A diff in parts counts once, with the last.
    LatencyHistogram delivery_latency;
    Gauge jobs{0};            ///< jobs of DiscoveryManagers
    Gauge failed_configs{0};  ///< unusable configurations of these jobs
    Gauge providers{0};       ///< distinct configurations of these jobs

    // Of jobs with file_sd_configs and http_sd_configs.
    Counter target_file_scans{0};     ///< scans of the files of one configuration
    Counter target_file_failures{0};  ///< unusable files and patterns in these scans
    Counter target_list_requests{0};  ///< requests for a list of targets
    Counter target_list_failures{0};  ///< requests without a usable list

    // Snapshots of WarmStart; all but the first also of MembershipConfig::snapshot_directory.
    Counter snapshots_loaded{0};   ///< snapshots whose targets were delivered
    Counter snapshots_ignored{0};  ///< unusable snapshots
    Counter snapshots_written{0};  ///< snapshot files written
    Counter snapshot_failures{0};  ///< snapshot files not written because of an error

    // Of all servers, see ServerLimits.
    Gauge lists_waiting{0};      ///< LISTs waiting for a permit
    Gauge lists_running{0};      ///< LISTs in progress
    Gauge open_watches{0};       ///< WATCHes with a connection
    Gauge connects_waiting{0};   ///< requests waiting for a permit to connect
    Gauge connects_running{0};   ///< connections being established
    Gauge http2_connections{0};  ///< open connections by HTTP/2

    // Of all ObjectCaches.
    Gauge cache_references{0};             ///< references and subscriptions of hosts
    Gauge cached_objects{0};               ///< referenced objects, by name
    Gauge cache_watches{0};                ///< connections for single objects and for collections
    Counter cache_idle_stops{0};           ///< objects whose watch was stopped for lack of reads
    Counter cache_rewatches{0};            ///< idle objects read again
    Counter cache_collection_switches{0};  ///< switches to a collection watch and back

    // Of Memberships.
    Gauge fleet_memberships{0};  ///< fleets that the program is configured to be a member of
    Counter fleet_views{0};      ///< adopted views: each may move targets
    Gauge fleet_members{0};      ///< members of the current view
    Gauge fleet_alarms{0};  ///< 1 while the view is held because the observed change is implausible
    /// FleetView::epoch() of the current view, reduced to its low 48 bits, exact in a double.
    /// Members with persistently different values do not have the same view.
    Gauge fleet_epoch{0};

    // Of TargetPools, see TargetPool::set_metrics().
    Counter fleet_targets_gained{0};  ///< targets gained by changes of the share
    Counter fleet_targets_handed{0};  ///< targets handed over to another member
    Gauge fleet_targets_moving{0};    ///< targets scraped by two members until the hand-over ends
    Gauge fleet_foreign_targets{0};   ///< targets scraped only by other members

    /// The metrics of one kind.
    PerKind& of(Kind kind) noexcept { return kinds[index_of(kind)]; }
    /// The metrics of one kind.
    const PerKind& of(Kind kind) const noexcept { return kinds[index_of(kind)]; }

    /// Calls `visitor(name, resource, value)` for every value except the histogram; `resource` is
    /// empty for values of the whole context, `value` is a double in the metric's unit.
    template <class Visitor>
    void visit(Visitor&& visitor) const;

    /// Calls `visitor(description, resource, value)` for the same values, grouped by metric as
    /// Prometheus' text format demands. Leaves out kinds whose values are all zero.
    template <class Visitor>
    void visit_described(Visitor&& visitor) const;

 private:
    static constexpr std::size_t index_of(Kind kind) noexcept {
        return static_cast<std::size_t>(is_built_in(kind) ? kind : any_other_kind);
    }
    static constexpr std::string_view resource_at(std::size_t index) noexcept {
        return index < kind_count ? to_string(static_cast<Kind>(index)) : "other";
    }
};

/// A metric of an Owner, either Metrics or Metrics::PerKind.
template <class Owner>
class MetricField {
 public:
    /// Describes a counter.
    /// \param per_unit  counter increments per unit of the metric
    consteval MetricField(std::string_view name, Metrics::Counter Owner::*counter,
                          std::string_view help, unsigned per_unit = 1)
        : description{name, MetricType::counter, help}, counter_(counter), per_unit_(per_unit) {}
    /// Describes a gauge.
    consteval MetricField(std::string_view name, Metrics::Gauge Owner::*gauge,
                          std::string_view help)
        : description{name, MetricType::gauge, help}, gauge_(gauge) {}

    /// The current value, in the unit of the metric.
    double value(const Owner& owner) const noexcept {
        const double counted =
            counter_ ? static_cast<double>((owner.*counter_).load(std::memory_order_relaxed))
                     : static_cast<double>((owner.*gauge_).load(std::memory_order_relaxed));
        return counted / per_unit_;
    }

    MetricDescription description;  ///< the same for all owners

 private:
    Metrics::Counter Owner::*counter_ = nullptr;
    Metrics::Gauge Owner::*gauge_ = nullptr;
    unsigned per_unit_ = 1;
};

/// The metrics of each kind.
inline constexpr MetricField<Metrics::PerKind> kind_metrics[] = {
    {"k8s_sd_lists_total", &Metrics::PerKind::lists, "Complete lists."},
    {"k8s_sd_relists_total", &Metrics::PerKind::relists,
     "Complete lists after the first one of their URL."},
    {"k8s_sd_polls_total", &Metrics::PerKind::polls,
     "Complete lists in place of a watch, because the API server refuses the watch."},
    {"k8s_sd_streamed_lists_total", &Metrics::PerKind::streamed_lists,
     "Complete lists received as the first events of a watch."},
    {"k8s_sd_list_seconds_total", &Metrics::PerKind::list_milliseconds,
     "Total duration of complete lists.", 1000},
    {"k8s_sd_probes_total", &Metrics::PerKind::probes,
     "Lists of one object, for the API server's version."},
    {"k8s_sd_watches_total", &Metrics::PerKind::watches,
     "Watch requests accepted by the API server."},
    {"k8s_sd_events_total", &Metrics::PerKind::events,
     "Received ADDED, MODIFIED and DELETED events."},
    {"k8s_sd_bookmarks_total", &Metrics::PerKind::bookmarks, "Received bookmarks."},
    {"k8s_sd_objects_added_total", &Metrics::PerKind::added, "Added objects."},
    {"k8s_sd_objects_updated_total", &Metrics::PerKind::updated, "Objects with changed content."},
    {"k8s_sd_objects_removed_total", &Metrics::PerKind::removed, "Removed objects."},
    {"k8s_sd_bad_objects_total", &Metrics::PerKind::bad_objects,
     "Skipped objects of the wrong shape."},
    {"k8s_sd_expired_total", &Metrics::PerKind::expired,
     "Responses and events reporting an expired resource version (410)."},
    {"k8s_sd_unauthorized_total", &Metrics::PerKind::unauthorized,
     "Requests with refused credentials (401)."},
    {"k8s_sd_forbidden_total", &Metrics::PerKind::forbidden,
     "Requests without the required permission (403)."},
    {"k8s_sd_not_found_total", &Metrics::PerKind::not_found,
     "Requests for an API or a path missing on the server (404)."},
    {"k8s_sd_too_many_requests_total", &Metrics::PerKind::too_many_requests,
     "Requests refused by the server because there were too many (429)."},
    {"k8s_sd_server_errors_total", &Metrics::PerKind::server_errors,
     "Requests failed in the server (5xx)."},
    {"k8s_sd_malformed_responses_total", &Metrics::PerKind::malformed,
     "Bodies of responses not in the requested form."},
    {"k8s_sd_network_errors_total", &Metrics::PerKind::network_errors,
     "Failed or broken connections and timeouts."},
    {"k8s_sd_other_errors_total", &Metrics::PerKind::other_errors,
     "Requests failed for another reason."},
    {"k8s_sd_silent_watches_total", &Metrics::PerKind::silent_watches,
     "Watches silent beyond their idle timeout."},
    {"k8s_sd_version_regressions_total", &Metrics::PerKind::version_regressions,
     "Regressions of the API server's version, as after a restored backup."},
    {"k8s_sd_suspicious_lists_total", &Metrics::PerKind::suspicious_lists,
     "Lists without more than half of the known objects, repeated for confirmation."},
    {"k8s_sd_json_fallbacks_total", &Metrics::PerKind::json_fallbacks,
     "Fallbacks to plain JSON, because the server sent no other encoding."},
    {"k8s_sd_lists_with_managed_fields_total", &Metrics::PerKind::lists_with_managed_fields,
     "Complete lists with managedFields, although requested without them."},
    {"k8s_sd_lists_without_managed_fields_total", &Metrics::PerKind::lists_without_managed_fields,
     "Complete lists without managedFields, as requested."},
    {"k8s_sd_received_bytes_total", &Metrics::PerKind::bytes_received,
     "Bytes of the bodies of responses, as received."},
    {"k8s_sd_objects", &Metrics::PerKind::objects, "Cached objects."},
    {"k8s_sd_watchers", &Metrics::PerKind::watchers, "Watchers, one for each URL."},
    {"k8s_sd_synced_watchers", &Metrics::PerKind::synced_watchers,
     "Watchers with a complete list."},
    {"k8s_sd_failing_watchers", &Metrics::PerKind::failing_watchers,
     "Watchers with a failed last attempt."},
};

/// The metrics of the whole context.
inline constexpr MetricField<Metrics> context_metrics[] = {
    {"k8s_sd_groups_generated_total", &Metrics::groups_generated, "Generated target groups."},
    {"k8s_sd_target_parts_generated_total", &Metrics::target_parts_generated,
     "Regenerated parts of these groups; the other parts were reused."},
    {"k8s_sd_diffs_delivered_total", &Metrics::diffs_delivered,
     "Diffs delivered by Discoverers; each part of a diff counts as one."},
    {"k8s_sd_job_diffs_delivered_total", &Metrics::job_diffs_delivered,
     "Diffs delivered by DiscoveryManagers."},
    {"k8s_sd_jobs", &Metrics::jobs, "Jobs of DiscoveryManagers."},
    {"k8s_sd_failed_configs", &Metrics::failed_configs, "Unusable configurations of these jobs."},
    {"k8s_sd_providers", &Metrics::providers, "Distinct configurations of these jobs."},
    {"k8s_sd_target_file_scans_total", &Metrics::target_file_scans,
     "Scans of the files of one entry of file_sd_configs."},
    {"k8s_sd_target_file_failures_total", &Metrics::target_file_failures,
     "Unusable files of targets in these scans."},
    {"k8s_sd_target_list_requests_total", &Metrics::target_list_requests,
     "Requests for lists of targets of http_sd_configs."},
    {"k8s_sd_target_list_failures_total", &Metrics::target_list_failures,
     "Requests without a usable list of targets."},
    {"k8s_sd_snapshots_loaded_total", &Metrics::snapshots_loaded,
     "Snapshots used because the API server did not respond."},
    {"k8s_sd_snapshots_ignored_total", &Metrics::snapshots_ignored, "Unusable snapshots."},
    {"k8s_sd_snapshots_written_total", &Metrics::snapshots_written, "Written snapshots."},
    {"k8s_sd_snapshot_failures_total", &Metrics::snapshot_failures,
     "Snapshots not written because of an error."},
    {"k8s_sd_lists_waiting", &Metrics::lists_waiting,
     "Lists waiting for a permit of their API server."},
    {"k8s_sd_lists_running", &Metrics::lists_running, "Lists in progress."},
    {"k8s_sd_open_watches", &Metrics::open_watches, "Watches with a connection."},
    {"k8s_sd_connects_waiting", &Metrics::connects_waiting,
     "Requests waiting for a permit to connect to their API server."},
    {"k8s_sd_connects_running", &Metrics::connects_running, "Connections being established."},
    {"k8s_sd_http2_connections", &Metrics::http2_connections,
     "Open HTTP/2 connections, each shared by several requests."},
    {"k8s_sd_cache_references", &Metrics::cache_references,
     "References to objects of ObjectCaches."},
    {"k8s_sd_cached_objects", &Metrics::cached_objects, "Referenced objects."},
    {"k8s_sd_cache_watches", &Metrics::cache_watches,
     "Watches of ObjectCaches, of single objects and of collections."},
    {"k8s_sd_cache_idle_stops_total", &Metrics::cache_idle_stops,
     "Watches of objects stopped for lack of reads."},
    {"k8s_sd_cache_rewatches_total", &Metrics::cache_rewatches,
     "Objects read again after their watch was stopped."},
    {"k8s_sd_cache_collection_switches_total", &Metrics::cache_collection_switches,
     "Switches of a namespace to a watch of its collection, and back."},
    {"k8s_sd_fleet_memberships", &Metrics::fleet_memberships, "Configured memberships in fleets."},
    {"k8s_sd_fleet_views_total", &Metrics::fleet_views,
     "Adopted views of the members of a fleet; each may move targets."},
    {"k8s_sd_fleet_members", &Metrics::fleet_members, "Members of the fleet in the current view."},
    {"k8s_sd_fleet_alarms", &Metrics::fleet_alarms,
     "1 while the view is held because the observed change is implausible."},
    {"k8s_sd_fleet_epoch", &Metrics::fleet_epoch,
     "A number equal in all members with the same view."},
    {"k8s_sd_fleet_targets_gained_total", &Metrics::fleet_targets_gained,
     "Targets gained by changes of this member's share."},
    {"k8s_sd_fleet_targets_handed_over_total", &Metrics::fleet_targets_handed,
     "Targets handed over to another member."},
    {"k8s_sd_fleet_targets_moving", &Metrics::fleet_targets_moving,
     "Targets still scraped by this member, but owned by another one."},
    {"k8s_sd_fleet_foreign_targets", &Metrics::fleet_foreign_targets,
     "Targets scraped only by other members."},
};

/// Describes Metrics::delivery_latency.
inline constexpr MetricDescription delivery_latency_metric{
    "k8s_sd_delivery_latency_seconds", MetricType::histogram,
    "Time from the arrival of a diff's oldest change to the invocation of the callback."};

template <class Visitor>
void Metrics::visit(Visitor&& visitor) const {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        for (const auto& metric : kind_metrics)
            visitor(metric.description.name, resource_at(i), metric.value(kinds[i]));
    }
    for (const auto& metric : context_metrics) {
        visitor(metric.description.name, std::string_view(), metric.value(*this));
    }
}

template <class Visitor>
void Metrics::visit_described(Visitor&& visitor) const {
    const auto in_use = [](const PerKind& kind) {
        return std::any_of(std::begin(kind_metrics), std::end(kind_metrics),
                           [&](const auto& metric) { return metric.value(kind) != 0; });
    };
    std::array<bool, std::tuple_size_v<decltype(kinds)>> used{};
    std::transform(kinds.begin(), kinds.end(), used.begin(), in_use);
    for (const auto& metric : kind_metrics) {
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            if (used[i]) visitor(metric.description, resource_at(i), metric.value(kinds[i]));
        }
    }
    for (const auto& metric : context_metrics) {
        visitor(metric.description, std::string_view(), metric.value(*this));
    }
}

/// A metric of one API server. Labels: `server`, and `cluster` for a server with a name.
struct ServerMetric {
    MetricDescription description;         ///< the same for all servers
    double (*value)(const ServerHealth&);  ///< the present value
};

/// The metrics of each server.
inline constexpr ServerMetric server_metrics[] = {
    {{"k8s_sd_server_synced", MetricType::gauge,
      "Whether each configuration of the API server has been listed."},
     [](const ServerHealth& s) { return s.synced ? 1.0 : 0.0; }},
    {{"k8s_sd_server_failing", MetricType::gauge,
      "Whether a watch of the API server fails, or a configuration of it is unusable."},
     [](const ServerHealth& s) { return s.error ? 1.0 : 0.0; }},
    {{"k8s_sd_server_configs", MetricType::gauge, "Distinct configurations of the API server."},
     [](const ServerHealth& s) { return static_cast<double>(s.configs); }},
    {{"k8s_sd_server_watches", MetricType::gauge, "Watches of these configurations."},
     [](const ServerHealth& s) { return static_cast<double>(s.watches); }},
    {{"k8s_sd_server_failing_watches", MetricType::gauge, "Watches with a failed last attempt."},
     [](const ServerHealth& s) { return static_cast<double>(s.failing_watches); }},
    {{"k8s_sd_server_objects", MetricType::gauge, "Cached objects of the API server."},
     [](const ServerHealth& s) { return static_cast<double>(s.objects); }},
    {{"k8s_sd_server_targets", MetricType::gauge, "Targets discovered from the API server."},
     [](const ServerHealth& s) { return static_cast<double>(s.targets); }},
    {{"k8s_sd_server_requests_total", MetricType::counter, "Requests sent to the API server."},
     [](const ServerHealth& s) { return static_cast<double>(s.usage.requests); }},
    {{"k8s_sd_server_failures_total", MetricType::counter,
      "Requests of watches failed because of the API server or the network."},
     [](const ServerHealth& s) { return static_cast<double>(s.usage.failures); }},
    {{"k8s_sd_server_received_bytes_total", MetricType::counter,
      "Bytes of the bodies of lists and watches of the API server."},
     [](const ServerHealth& s) { return static_cast<double>(s.usage.received_bytes); }},
    {{"k8s_sd_server_lists_running", MetricType::gauge, "Lists of the API server in progress."},
     [](const ServerHealth& s) { return static_cast<double>(s.usage.lists_running); }},
    {{"k8s_sd_server_lists_waiting", MetricType::gauge, "Lists waiting for a permit."},
     [](const ServerHealth& s) { return static_cast<double>(s.usage.lists_waiting); }},
    {{"k8s_sd_server_open_watches", MetricType::gauge, "Watches with a connection."},
     [](const ServerHealth& s) { return static_cast<double>(s.usage.open_watches); }},
    {{"k8s_sd_server_connects_running", MetricType::gauge,
      "Connections to the API server being established."},
     [](const ServerHealth& s) { return static_cast<double>(s.usage.connects_running); }},
    {{"k8s_sd_server_connections", MetricType::gauge, "Connections to the API server."},
     [](const ServerHealth& s) { return static_cast<double>(s.usage.connections); }},
};

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
    {{"k8s_sd_watch_objects", MetricType::gauge, "Cached objects."},
     [](const WatchStatus& s, TimePoint) -> std::optional<double> {
         return static_cast<double>(s.objects);
     }},
    {{"k8s_sd_watch_failures", MetricType::gauge, "Failed attempts since the last success."},
     [](const WatchStatus& s, TimePoint) -> std::optional<double> { return s.failures; }},
    {{"k8s_sd_watch_last_byte_age_seconds", MetricType::gauge,
      "Time since the last byte of a body."},
     detail::age<&WatchStatus::last_byte>},
    {{"k8s_sd_watch_last_event_age_seconds", MetricType::gauge,
      "Time since the last ADDED, MODIFIED or DELETED event."},
     detail::age<&WatchStatus::last_event>},
    {{"k8s_sd_watch_last_bookmark_age_seconds", MetricType::gauge, "Time since the last bookmark."},
     detail::age<&WatchStatus::last_bookmark>},
    {{"k8s_sd_watch_last_list_age_seconds", MetricType::gauge,
      "Time since the last complete list."},
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
      "Whether the server sends only the watched share, where known."},
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
    "k8s_sd_watch_waiting_seconds", MetricType::gauge, "Time in the present wait state."};

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

/// Labels for all series of an exposition, e.g. {{"cluster", "blue"}} to distinguish the series of
/// two clusters. Names must be valid label names of Prometheus.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

/// Metrics in Prometheus' text format (0.0.4), with HELP and TYPE, to be included in the host's own
/// exposition. Leaves out kinds without any count. Thread-safe.
K8S_SD_EXPORT std::string to_prometheus_text(const Metrics& metrics,
                                             const MetricLabels& labels = {});

/// The metrics of single watches, see visit_watch_metrics(), such as the age of the last event.
/// Their labels are `cluster` (if it has a name), `server`, `resource` and `namespace`, with an
/// empty namespace for all namespaces.
/// \param watches  of one or several calls of status(); duplicates of a URL are dropped
/// \param now      on the clock of the watches, see Environment::clock
K8S_SD_EXPORT std::string to_prometheus_text(const std::vector<WatchStatus>& watches, TimePoint now,
                                             const MetricLabels& labels = {});

/// The metrics of servers in Prometheus' text format, with HELP and TYPE. Servers without a URL
/// have a `cluster` only.
K8S_SD_EXPORT std::string to_prometheus_text(const std::vector<ServerHealth>& servers,
                                             const MetricLabels& labels = {});

}  // namespace k8s_sd::inline v0
