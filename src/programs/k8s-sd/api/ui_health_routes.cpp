#include "api/ui_health_routes.hpp"

#include "api/api_reply.hpp"
#include "api/remedy.hpp"
#include "table/json_writer.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd_program {

namespace {

using http::HttpRoutes;

/// Unix time in milliseconds.
std::int64_t unix_ms(k8s_sd::TimePoint time) {
    const auto ago = std::chrono::steady_clock::now() - time;
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               (std::chrono::system_clock::now() - ago).time_since_epoch())
        .count();
}

void write_time(JsonWriter& json, const char* name, std::optional<k8s_sd::TimePoint> time) {
    json.name(name);
    time&&* time != k8s_sd::TimePoint() ? json.value(unix_ms(*time)) : json.null();
}

std::string_view state_of(bool synced, bool fails) {
    if (fails) return synced ? "stale" : "failing";
    return synced ? "synced" : "waiting";
}

/// Since when the known state may be stale; nullopt: it is fresh, or unknown.
std::optional<k8s_sd::TimePoint> stale_since(bool synced, const k8s_sd::error_code& error,
                                             k8s_sd::TimePoint since) {
    return synced && error ? std::optional(since) : std::nullopt;
}

/// All lists but the first one.
std::uint64_t relists(const k8s_sd::WatchStatus& watch) {
    const auto all = std::accumulate(watch.lists.begin(), watch.lists.end(), std::uint64_t{0});
    return all - watch.lists[static_cast<std::size_t>(k8s_sd::ListReason::first)];
}

void write(JsonWriter& json, const k8s_sd::WatchStatus& watch) {
    json.begin('{').member("kind", to_string(watch.kind)).member("namespace", watch.ns);
    json.member("state", state_of(watch.synced, static_cast<bool>(watch.error)));
    json.member("synced", watch.synced).member("message", watch.message);
    json.member("remedy", remedy_for(watch.error, watch.message));
    json.member("failures", watch.failures);
    json.member("waiting", to_string(watch.waiting)).member("objects", watch.objects);
    json.member("relists", relists(watch)).member("http_version", watch.http_version);
    write_time(json, "since", watch.since);
    write_time(json, "stale_since", stale_since(watch.synced, watch.error, watch.since));
    write_time(json, "waiting_since", watch.waiting_since);
    write_time(json, "last_event", watch.last_event);
    write_time(json, "last_list", watch.last_list);
    json.end('}');
}

/// Distinguishes the configuration from others of its job.
struct Source {
    std::string role, server;
    std::string cluster{};
};

/// \param config  index among the configurations of the job
Source source_of(const k8s_sd::Job* job, const k8s_sd::JobConfigStatus& status,
                 std::size_t config) {
    if (status.origin != k8s_sd::TargetOrigin::kubernetes) {
        return {std::string(to_string(status.origin)), {}};
    }
    if (!job || config >= job->configs.size()) return {"kubernetes", {}, status.status.cluster};
    const k8s_sd::DiscoveryConfig& known = job->configs[config];
    const std::string& url = known.api_server.url;
    return {std::string(to_string(known.role)),
            !url.empty()                    ? url
            : known.kubeconfig_file.empty() ? "in-cluster"
                                            : "kubeconfig " + known.kubeconfig_file,
            known.cluster.name};
}

void write(JsonWriter& json, const k8s_sd::JobConfigStatus& config, const Source& source) {
    const k8s_sd::DiscovererStatus& status = config.status;
    std::uint64_t all_relists = 0;
    std::size_t objects = 0;
    unsigned failures = 0;
    std::optional<k8s_sd::TimePoint> last_event;
    for (const k8s_sd::WatchStatus& watch : status.watches) {
        all_relists += relists(watch);
        objects += watch.objects;
        failures = std::max(failures, watch.failures);
        last_event = std::max(last_event, watch.last_event);
    }
    const bool fails = static_cast<bool>(status.error) || !config.provider;
    json.begin('{').member("role", source.role).member("server", source.server);
    json.member("cluster", source.cluster);
    json.member("state", config.provider ? state_of(status.synced, fails) : "unusable");
    const k8s_sd::error_code error =
        config.provider ? status.error : make_error_code(k8s_sd::errc::invalid_config);
    json.member("message", status.message).member("remedy", remedy_for(error, status.message));
    json.member("synced", status.synced).member("failures", failures);
    write_time(json, "since", status.since);
    write_time(json, "stale_since", stale_since(status.synced, status.error, status.since));
    write_time(json, "last_event", last_event);
    json.member("relists", all_relists).member("objects", objects);
    json.member("unconfirmed", status.unconfirmed).name("watches").begin('[');
    for (const k8s_sd::WatchStatus& watch : status.watches) write(json, watch);
    json.end(']').end('}');
}

void write(JsonWriter& json, const k8s_sd::ServerHealth& server) {
    const k8s_sd::ServerUsage& usage = server.usage;
    json.begin('{').member("cluster", server.cluster).member("server", server.server);
    const bool usable = server.unusable < server.configs;
    json.member("state", usable ? state_of(server.synced, static_cast<bool>(server.error))
                                : std::string_view("unusable"));
    json.member("message", server.message);
    json.member("remedy", remedy_for(server.error, server.message));
    write_time(json, "since", server.since);
    json.member("configs", server.configs).member("unusable", server.unusable);
    json.member("watches", server.watches).member("failing_watches", server.failing_watches);
    json.member("objects", server.objects).member("targets", server.targets);
    json.member("requests", usage.requests).member("failures", usage.failures);
    json.member("received_bytes", usage.received_bytes);
    json.member("lists_running", usage.lists_running).member("lists_waiting", usage.lists_waiting);
    json.member("open_watches", usage.open_watches).member("connections", usage.connections);
    json.end('}');
}

void write_lines(JsonWriter& json, std::string_view lines) {
    json.begin('[');
    while (!lines.empty()) {
        const std::string_view line = lines.substr(0, lines.find('\n'));
        json.value(line);
        lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    }
    json.end(']');
}

/// \param notes  one a line
std::string health_json(const ServedJobs& jobs, const std::vector<k8s_sd::ServerHealth>& servers,
                        const std::string& notes) {
    std::string text;
    JsonWriter json(text);
    json.begin('{').name("notes");
    write_lines(json, notes);
    json.name("servers").begin('[');
    for (const k8s_sd::ServerHealth& server : servers) write(json, server);
    json.end(']').name("jobs").begin('[');
    for (const k8s_sd::JobStatus& job : jobs.status()) {
        const auto config = jobs.config(job.name);
        json.begin('{').member("job", job.name).member("synced", job.synced);
        const auto served = jobs.find(job.name);
        json.name("missing_clusters").begin('[');
        if (served && served->complete())
            for (const std::string& name : served->missing_clusters()) json.value(name);
        json.end(']');
        json.name("configs").begin('[');
        for (std::size_t i = 0; i < job.configs.size(); ++i) {
            write(json, job.configs[i],
                  source_of(config ? &config->discovery : nullptr, job.configs[i], i));
        }
        json.end(']').end('}');
    }
    json.end(']').end('}');
    return text;
}

}  // namespace

void add_health_routes(HttpRoutes& routes, const ServedJobs& jobs,
                       std::function<std::vector<k8s_sd::ServerHealth>()> servers,
                       std::function<std::string()> trouble) {
    routes.get("/api/ui/health", [&jobs, servers = std::move(servers),
                                  trouble = std::move(trouble)](const auto& asked) {
        const std::string notes = jobs.left_out().lines() + trouble() + jobs.without_clusters();
        return ui_reply(health_json(jobs, servers(), notes),
                        asked.request.header(boost::beast::http::field::accept_encoding));
    });
}

}  // namespace k8s_sd_program
