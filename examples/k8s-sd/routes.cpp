#include "routes.hpp"

#include "list_routes.hpp"
#include "watch_routes.hpp"

namespace bridge {

namespace {

using support::HttpRoutes;
using support::HttpServer;
using support::text_reply;

HttpServer::Reply readiness(const ServedJobs& jobs) {
    const std::string waits = jobs.not_ready();
    if (!waits.empty()) return text_reply(503, waits + jobs.failed());
    return text_reply(200, "ok\n" + jobs.failed());
}

}  // namespace

HttpRoutes routes(const ServedJobs& jobs, BridgeMetrics& metrics, const RouteEvents& events) {
    HttpRoutes routes;
    add_list_routes(routes, jobs, metrics);
    add_watch_routes(routes, jobs, metrics);
    routes.get("/metrics", [&jobs, &metrics, events](const auto&) {
        return support::metrics_reply(events.metrics() + to_text(metrics, jobs.metrics()));
    });
    for (const char* path : {"/livez", "/-/healthy"}) {
        routes.get(path, [](const auto&) { return text_reply(200, "ok\n"); });
    }
    for (const char* path : {"/readyz", "/-/ready"}) {
        routes.get(path, [&jobs](const auto&) { return readiness(jobs); });
    }
    routes.on("POST", "/-/reload", events.reload);
    return routes;
}

}  // namespace bridge
