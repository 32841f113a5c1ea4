#include "serve/watch_routes.hpp"

#include "cli/option_values.hpp"
#include "lists/list_selection.hpp"
#include "lists/list_versions.hpp"
#include "serve/list_routes.hpp"
#include "serve/watch_stream.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd_program {

namespace {

using boost::beast::http::field;
using http::HttpRoutes;
using http::HttpServer;
using http::text_reply;

/// Takes a parameter out of the query. \throws BadRequest if it occurs twice
std::optional<std::string> take(http::Query& query, std::string_view name) {
    std::optional<std::string> value;
    for (auto& parameter : query) {
        if (parameter.first != name) continue;
        if (value) throw BadRequest(std::string(name) + " is there twice");
        value = std::move(parameter.second);
    }
    std::erase_if(query, [&](const auto& parameter) { return parameter.first == name; });
    return value;
}

ListForm form_of(const std::string& list) {
    if (list == "discovered") return ListForm::discovered;
    if (list == "targets") return ListForm::relabelled;
    throw BadRequest("list: \"" + list + "\" is not allowed; allowed are targets, discovered");
}

/// Ignores versions not made by this program.
std::string version_in(std::string_view text) {
    if (text.starts_with('"') && text.ends_with('"') && text.size() > 1) {
        text = text.substr(1, text.size() - 2);
    }
    constexpr std::size_t digits = 32;
    const bool ours = text.size() == digits &&
                      text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    return ours ? std::string(text) : std::string();
}

/// Spreads the reconnects after the end of a server.
std::chrono::milliseconds retry_of(std::uint64_t connection) {
    constexpr std::uint64_t min = 2'000;
    constexpr std::uint64_t spread = 3'000;
    constexpr std::uint64_t step = 619;  // consecutive connections are far apart
    return std::chrono::milliseconds(min + connection * step % spread);
}

class WatchRoutes {
 public:
    WatchRoutes(const ServedJobs& jobs, ServeMetrics& metrics) : jobs_(jobs), metrics_(metrics) {}

    HttpServer::Reply answer(const HttpRoutes::Asked& asked) const {
        HttpServer::Reply reply;
        try {
            reply = stream(asked);
        } catch (const BadRequest& e) {
            reply = text_reply(400, std::string(e.what()) + "\n");
        }
        // Requests for missing jobs are counted separately.
        if (reply.status != 404) metrics_.count_watch(reply.status);
        return reply;
    }

 private:
    HttpServer::Reply stream(const HttpRoutes::Asked& asked) const {
        http::Query query = asked.query;
        const auto name = take(query, "job");
        if (!name) throw BadRequest("job=NAME is required: it names the watched list");
        const auto list = take(query, "list");
        const auto after = take(query, "after");
        const ListQuery wanted = read_list_query(query, form_of(list.value_or("targets")));
        if (wanted.hold) throw BadRequest("hold: applies to lists; a stream waits in any case");
        Watch watch;
        watch.content = wanted.content;
        watch.selection = wanted.selection;
        watch.job = jobs_.find(*name);
        if (!watch.job) {
            ++metrics_.unknown_jobs;
            return missing_job_reply(jobs_, *name);
        }
        if (metrics_.watch_readers >= watch.job->options().watch_readers) return full(watch);
        // Browsers send it when they reconnect to a URL with an older version.
        const auto last_event = asked.request.header("Last-Event-ID");
        watch.after = version_in(last_event.empty() ? after.value_or("") : last_event);
        const bool sse =
            asked.request.header(field::accept).find("text/event-stream") != std::string_view::npos;
        watch.format = sse ? EventFormat::sse : EventFormat::ndjson;
        watch.heartbeat = watch.job->options().heartbeat;
        watch.poll = poll_of(asked.request, *name, watch.content);
        watch.poll.selection = wanted.selection;
        // `k8s-sd follow` identifies itself.
        watch.poll.kind =
            watch.poll.agent == "k8s-sd-follow" ? ReaderKind::file : ReaderKind::stream;
        watch.poll.interval = std::chrono::duration<double>(watch.heartbeat).count();
        watch.gone = asked.request.client.gone;
        watch.retry = retry_of(asked.request.client.connection);
        return {
            .headers = {{field::content_type, sse ? "text/event-stream" : "application/x-ndjson"},
                        {field::vary, "Accept"},
                        {field::cache_control, "no-store"}},
            .stream = std::make_shared<WatchStream>(std::move(watch), versions_, metrics_)};
    }

    static HttpServer::Reply full(const Watch& watch) {
        HttpServer::Reply reply =
            text_reply(503, std::to_string(watch.job->options().watch_readers) +
                                " readers watch lists, which is the limit (--max-watches)\n");
        reply.headers.emplace_back(field::retry_after, "5");
        return reply;
    }

    const ServedJobs& jobs_;
    ServeMetrics& metrics_;
    std::shared_ptr<ListVersions> versions_ = std::make_shared<ListVersions>();
};

}  // namespace

void add_watch_routes(HttpRoutes& routes, const ServedJobs& jobs, ServeMetrics& metrics) {
    const WatchRoutes watches(jobs, metrics);
    routes.get("/v1/watch", [watches](const auto& asked) { return watches.answer(asked); });
}

}  // namespace k8s_sd_program
