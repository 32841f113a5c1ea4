#pragma once

#include "k8s_sd/kind.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace k8s_sd::inline v0 {

/// Counters of one execution context. Cheap to update; may be read from any thread at any time.
/// All are counters since the start, but those that are a Gauge: what there is now.
struct Metrics {
    /// Only grows.
    using Counter = std::atomic<std::uint64_t>;
    /// What there is now.
    using Gauge = std::atomic<std::int64_t>;

    /// What concerns one kind of objects.
    struct PerKind {
        Counter lists{0};              ///< complete LISTs
        Counter watches{0};            ///< WATCH requests that were accepted
        Counter events{0};             ///< ADDED, MODIFIED and DELETED events
        Counter bookmarks{0};          ///< BOOKMARK events
        Counter added{0};              ///< objects that came
        Counter updated{0};            ///< objects of which something that reaches a label changed
        Counter removed{0};            ///< objects that are gone
        Counter bad_objects{0};        ///< objects of the wrong shape, skipped
        Counter expired{0};            ///< 410 answers and events
        Counter unauthorized{0};       ///< 401 answers
        Counter forbidden{0};          ///< 403 answers
        Counter not_found{0};          ///< 404 answers
        Counter too_many_requests{0};  ///< 429 answers
        Counter server_errors{0};      ///< 5xx answers
        Counter malformed{0};          ///< bodies that are not what was asked for
        Counter network_errors{0};     ///< no connection, broken connections, timeouts
        Counter other_errors{0};       ///< any other failure of a request
        Counter bytes_received{0};     ///< bodies, as they came
        Gauge objects{0};              ///< objects that are kept
        Gauge watchers{0};             ///< URLs that are watched
        Gauge synced_watchers{0};      ///< those of them that have been listed
    };

    std::array<PerKind, kind_count> kinds;  ///< indexed by Kind
    Counter groups_generated{0};            ///< target groups that were computed
    Counter diffs_delivered{0};             ///< calls of the callbacks of Discoverers
    Counter job_diffs_delivered{0};         ///< calls of the callbacks of DiscoveryManagers
    Gauge jobs{0};                          ///< of DiscoveryManagers
    Gauge failed_configs{0};                ///< of these jobs: those that cannot be used
    Gauge providers{0};                     ///< distinct configurations that these jobs have

    // Of all ObjectCaches.
    Gauge cache_references{0};    ///< references and subscriptions of hosts
    Gauge cached_objects{0};      ///< names that are referred to
    Gauge cache_watches{0};       ///< connections: of single objects, and of collections
    Counter cache_idle_stops{0};  ///< objects whose watch was stopped because nobody read them
    Counter cache_revivals{0};    ///< and that were read again
    Counter cache_collection_switches{0};  ///< of namespaces, to a collection watch and back

    /// The metrics of one kind.
    PerKind& of(Kind kind) noexcept { return kinds[static_cast<std::size_t>(kind)]; }
    /// The metrics of one kind.
    const PerKind& of(Kind kind) const noexcept { return kinds[static_cast<std::size_t>(kind)]; }

    /// Calls `visitor(name, resource, value)` for every value; `resource` is empty where the value
    /// is not about one kind. Names follow Prometheus' conventions.
    template <class Visitor>
    void visit(Visitor&& visitor) const;
};

template <class Visitor>
void Metrics::visit(Visitor&& visitor) const {
    for (std::size_t i = 0; i < kind_count; ++i) {
        const PerKind& k = kinds[i];
        const auto kind = to_string(static_cast<Kind>(i));
        const auto counter = [&](std::string_view name, const Counter& value) {
            visitor(name, kind, static_cast<std::int64_t>(value.load(std::memory_order_relaxed)));
        };
        const auto gauge = [&](std::string_view name, const Gauge& value) {
            visitor(name, kind, value.load(std::memory_order_relaxed));
        };
        counter("k8s_sd_lists_total", k.lists);
        counter("k8s_sd_watches_total", k.watches);
        counter("k8s_sd_events_total", k.events);
        counter("k8s_sd_bookmarks_total", k.bookmarks);
        counter("k8s_sd_objects_added_total", k.added);
        counter("k8s_sd_objects_updated_total", k.updated);
        counter("k8s_sd_objects_removed_total", k.removed);
        counter("k8s_sd_bad_objects_total", k.bad_objects);
        counter("k8s_sd_expired_total", k.expired);
        counter("k8s_sd_unauthorized_total", k.unauthorized);
        counter("k8s_sd_forbidden_total", k.forbidden);
        counter("k8s_sd_not_found_total", k.not_found);
        counter("k8s_sd_too_many_requests_total", k.too_many_requests);
        counter("k8s_sd_server_errors_total", k.server_errors);
        counter("k8s_sd_malformed_responses_total", k.malformed);
        counter("k8s_sd_network_errors_total", k.network_errors);
        counter("k8s_sd_other_errors_total", k.other_errors);
        counter("k8s_sd_received_bytes_total", k.bytes_received);
        gauge("k8s_sd_objects", k.objects);
        gauge("k8s_sd_watchers", k.watchers);
        gauge("k8s_sd_synced_watchers", k.synced_watchers);
    }
    const auto total = [&](std::string_view name, const auto& value) {
        visitor(name, std::string_view(),
                static_cast<std::int64_t>(value.load(std::memory_order_relaxed)));
    };
    total("k8s_sd_groups_generated_total", groups_generated);
    total("k8s_sd_diffs_delivered_total", diffs_delivered);
    total("k8s_sd_job_diffs_delivered_total", job_diffs_delivered);
    total("k8s_sd_jobs", jobs);
    total("k8s_sd_failed_configs", failed_configs);
    total("k8s_sd_providers", providers);
    total("k8s_sd_cache_references", cache_references);
    total("k8s_sd_cached_objects", cached_objects);
    total("k8s_sd_cache_watches", cache_watches);
    total("k8s_sd_cache_idle_stops_total", cache_idle_stops);
    total("k8s_sd_cache_revivals_total", cache_revivals);
    total("k8s_sd_cache_collection_switches_total", cache_collection_switches);
}

}  // namespace k8s_sd::inline v0
