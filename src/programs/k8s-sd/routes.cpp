#include "routes.hpp"

#include "api/prometheus_routes.hpp"
#include "api/ui_consumer_routes.hpp"
#include "api/ui_fleet_routes.hpp"
#include "api/ui_health_routes.hpp"
#include "api/ui_live_routes.hpp"
#include "api/ui_monitor_routes.hpp"
#include "api/ui_object_routes.hpp"
#include "api/ui_relabel_routes.hpp"
#include "api/ui_routes.hpp"
#include "cli/terminal_text.hpp"
#include "collectors/allocator_routes.hpp"
#include "page/page_routes.hpp"
#include "serve/list_routes.hpp"
#include "serve/watch_routes.hpp"

namespace k8s_sd_program {

namespace {

/// Jobs and clusters are without number, and probes keep the answer.
constexpr std::size_t max_readiness = std::size_t{64} << 10;

using support::HttpRoutes;
using support::HttpServer;
using support::text_reply;

HttpServer::Reply readiness(const ServedJobs& jobs, const TargetAllocator& allocator,
                            const RouteEvents& events) {
    const std::string left_out = jobs.left_out().lines();
    std::string waits = (events.ready_with_left_out_jobs ? "" : left_out) + jobs.not_ready();
    if (allocator.options().enabled() && !allocator.view()) waits += allocator.trouble() + "\n";
    const std::string notes = (events.ready_with_left_out_jobs ? left_out : "") + events.trouble() +
                              jobs.failed() + jobs.failed_targets() + jobs.stale() +
                              jobs.without_clusters() + jobs.unconfirmed() + events.idle_monitors();
    if (!waits.empty()) return text_reply(503, support::first_lines(waits + notes, max_readiness));
    return text_reply(200, support::first_lines("ok\n" + notes, max_readiness));
}

}  // namespace

HttpRoutes routes(const ServedJobs& jobs, const TargetAllocator& allocator, ServeMetrics& metrics,
                  const RouteEvents& events) {
    HttpRoutes routes;
    add_list_routes(routes, jobs, metrics);
    add_allocator_routes(routes, allocator, jobs, metrics);
    add_page_routes(routes, jobs, events.page_directory);
    const Gate questions(16);  // each blocks lists of a job for 10 ms at a time
    add_prometheus_routes(routes, jobs, questions, events.slow);
    add_ui_routes(routes, jobs, allocator, questions);
    add_object_routes(routes, jobs, allocator, questions);
    add_relabel_routes(routes, jobs, questions, events.slow);
    add_health_routes(routes, jobs, events.servers, events.trouble);
    add_monitor_routes(routes, jobs, questions, events.monitors);
    add_fleet_routes(routes, jobs, allocator, questions);
    add_consumer_routes(routes, jobs, allocator, metrics.consumers, questions);
    add_live_routes(routes, jobs, events.executor);
    add_watch_routes(routes, jobs, metrics);
    routes.get("/metrics", [&jobs, &metrics, events](const auto&) {
        return support::metrics_reply(events.metrics() + to_text(metrics, jobs.metrics()));
    });
    for (const char* path : {"/livez", "/-/healthy"}) {
        routes.get(path, [](const auto&) { return text_reply(200, "ok\n"); });
    }
    for (const char* path : {"/readyz", "/-/ready"}) {
        routes.get(path, [&jobs, &allocator, events](const auto&) {
            return readiness(jobs, allocator, events);
        });
    }
    routes.on("POST", "/-/reload", events.reload);
    return routes;
}

}  // namespace k8s_sd_program
