#include "serve/list_routes.hpp"

#include "cli/option_values.hpp"
#include "http/http_message.hpp"
#include "jobs/slow_work.hpp"
#include "lists/list_selection.hpp"
#include "lists/sent_lists.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace k8s_sd_program {

namespace {

using boost::beast::http::field;
using http::HttpRoutes;
using http::HttpServer;
using http::text_reply;

/// In seconds, as sent by Prometheus and vmagent; nullopt: missing or implausible.
std::optional<double> interval_of(const HttpServer::Request& request) {
    constexpr double max_interval = 86'400;
    const auto text = request.header("X-Prometheus-Refresh-Interval-Seconds");
    double interval = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), interval);
    if (error != std::errc{} || !(interval >= 0 && interval <= max_interval)) return std::nullopt;
    return interval;
}

/// The maximum wait of a reader for a change.
constexpr std::chrono::seconds max_wait{300};
/// Limit for tags of a waiting reader; the server's own tags are shorter.
constexpr std::size_t max_tags_size = 256;

/// How a reader waits.
struct ReaderWait {
    bool head_only = false;                           ///< the body is not wanted
    std::optional<std::chrono::seconds> preferred{};  ///< a long poll
    bool held = false;                                ///< `hold=1`
    std::uint64_t connection = 0;
    std::string target{};
};

std::optional<std::chrono::seconds> preferred_wait(const HttpServer::Request& request) {
    const auto [begin, end] = request.headers.equal_range(field::prefer);
    for (auto it = begin; it != end; ++it) {
        const auto value = it->value();
        if (const auto wait = http::preferred_wait({value.data(), value.size()})) {
            return std::min(*wait, max_wait);
        }
    }
    return std::nullopt;
}

/// A Warning header of RFC 7234, not about caches. The words may contain client input.
std::string warning_header(std::string_view words) {
    constexpr std::size_t max_size = 400;
    std::string text = "299 - \"";
    for (const char c : words.substr(0, max_size)) {
        text += c < ' ' || c > '~' || c == '"' || c == '\\' ? '?' : c;
    }
    return text + '"';
}

/// The lists of the jobs.
class ListRoutes {
 public:
    ListRoutes(const ServedJobs& jobs, ServeMetrics& metrics) : jobs_(jobs), metrics_(metrics) {}

    /// \param relabelled  for /sd/{job}/targets
    void answer(const HttpRoutes::Asked& asked, bool relabelled,
                const HttpServer::Respond& respond) const {
        const auto job = jobs_.find(asked.names[0]);
        if (!job) {
            ++metrics_.unknown_jobs;
            return respond(
                missing_job_reply(jobs_, asked.names[0], "; a / in a name is written as %2F"));
        }
        const ListForm form = relabelled ? ListForm::relabelled : ListForm::discovered;
        ListRequest request{.first_list_timeout =
                                std::min(job->options().hold, timeout_of(asked.request))};
        ReaderWait waiting;
        try {
            const ListQuery query = read_list_query(asked.query, form);
            request.content = query.content;
            request.selection = query.selection;
            waiting.held = query.hold;
            waiting.head_only = asked.request.head_only;
        } catch (const BadRequest& e) {
            metrics_.count_poll(form, 400, 0);
            ListPoll poll = k8s_sd_program::poll_of(asked.request, asked.names[0], {form});
            poll.status = 400;
            metrics_.consumers.saw(std::move(poll), std::chrono::system_clock::now());
            return respond(text_reply(400, std::string(e.what()) + "\n"));
        }
        request.gone = asked.request.client.gone;
        wait(request, waiting, asked.request);
        get(*job, request, asked, waiting, respond);
    }

 private:
    /// Sets how long the reader waits for a change, and the tags it knows.
    void wait(ListRequest& request, ReaderWait& waiting, const HttpServer::Request& asked) const {
        const auto tags = asked.header(field::if_none_match);
        waiting.preferred = preferred_wait(asked);
        if (waiting.preferred) {
            request.first_list_timeout =
                std::min<std::chrono::nanoseconds>(request.first_list_timeout, *waiting.preferred);
        }
        if (waiting.preferred && !tags.empty() && tags.size() <= max_tags_size) {
            request.known = tags;
            request.wait = *waiting.preferred;
        } else if (waiting.held) {
            waiting.connection = asked.client.connection;
            (waiting.target.append(asked.path) += '?').append(asked.query);
            request.known = sent_->last(waiting.connection, waiting.target);
            request.wait = std::min<std::chrono::nanoseconds>(timeout_of(asked), max_wait);
        }
    }

    /// The request, without the response. A waiting reader cannot poll more often than this.
    static ListPoll poll_of(const HttpRoutes::Asked& asked, const ListRequest& request,
                            const ReaderWait& waiting) {
        ListPoll poll = k8s_sd_program::poll_of(asked.request, asked.names[0], request.content);
        poll.selection = request.selection;
        for (const auto& [name, value] : asked.query) {
            if (name == "member") poll.member = value;
        }
        if (waiting.preferred || waiting.held) poll.kind = ReaderKind::long_poll;
        if (waiting.preferred) {
            poll.interval = std::max(poll.interval.value_or(0),
                                     static_cast<double>(waiting.preferred->count()));
        }
        return poll;
    }

    void get(ServedJob& job, const ListRequest& request, const HttpRoutes::Asked& asked,
             const ReaderWait& waiting, const HttpServer::Respond& respond) const {
        const HttpServer::Request& headers = asked.request;
        Reader reader{std::string(headers.header(field::if_none_match)),
                      std::string(headers.header(field::accept_encoding))};
        job.get(request, guarded(respond, [&metrics = metrics_, sent = sent_,
                                           form = request.content.form, reader = std::move(reader),
                                           waiting, poll = poll_of(asked, request, waiting),
                                           respond](const ListAnswer& answer) {
                    // A reader refused for the limit must not try again at once.
                    const bool later =
                        !answer.body || (waiting.preferred && answer.why == Refusal::limit);
                    HttpServer::Reply reply =
                        later ? later_reply(answer.refusal) : list_reply(*answer.body, reader);
                    if (!answer.warning.empty()) {
                        reply.headers.emplace_back(field::warning, warning_header(answer.warning));
                    }
                    if (waiting.preferred && !later) {
                        reply.headers.emplace_back(field::preference_applied,
                                                   "wait=" +
                                                       std::to_string(waiting.preferred->count()));
                    }
                    if (waiting.held && !later && !waiting.head_only) {
                        sent->sent(waiting.connection, waiting.target, answer.body->tag());
                    }
                    const bool sends_list = reply.status == 200 && !waiting.head_only;
                    metrics.count_poll(form, reply.status, sends_list ? reply.body->size() : 0);
                    ListPoll answered = poll;
                    answered.status = reply.status;
                    if (sends_list) answered.bytes = reply.body->size();
                    if (answer.body) answered.tag = answer.body->tag();
                    metrics.consumers.saw(std::move(answered), std::chrono::system_clock::now());
                    respond(std::move(reply));
                }));
    }

    static constexpr std::size_t remembered_connections = 10'000;

    const ServedJobs& jobs_;
    ServeMetrics& metrics_;
    std::shared_ptr<SentLists> sent_ = std::make_shared<SentLists>(remembered_connections);
};

}  // namespace

HttpServer::Reply later_reply(const std::string& reason) {
    HttpServer::Reply reply = text_reply(503, reason + "\n");
    reply.headers.emplace_back(field::retry_after, "5");
    return reply;
}

OnList guarded(const HttpServer::Respond& respond, OnList on_list) {
    const OnFailure failed = [respond](const std::exception_ptr&) {
        respond(later_reply("there is not enough memory for this answer"));
    };
    return [failed, on_list = std::move(on_list)](const ListAnswer& answer) {
        attempt(failed, [&] { on_list(answer); });
    };
}

HttpServer::Reply missing_job_reply(const ServedJobs& jobs, const std::string& name,
                                    const std::string& hint) {
    const std::string why = jobs.why_missing(name);
    // Some agents treat a missing list as an empty one.
    if (jobs.left_out().why(name)) return later_reply(why);
    return text_reply(404, why + hint + "\n");
}

ListPoll poll_of(const HttpServer::Request& request, const std::string& job,
                 const ListContent& content) {
    return {.address = request.client.address,
            .agent = std::string(request.header(field::user_agent)),
            .job = job,
            .content = content,
            .interval = interval_of(request)};
}

std::chrono::nanoseconds timeout_of(const HttpServer::Request& request) {
    constexpr double usual = 60;
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(0.8 * interval_of(request).value_or(usual)));
}

HttpServer::Reply list_reply(const ListBody& body, const Reader& reader) {
    const bool gzip = http::accepts_coding(reader.accept_encoding, "gzip");
    HttpServer::Reply reply;
    reply.headers = {{field::etag, gzip ? body.gzip_tag() : body.tag()},
                     {field::vary, "Accept-Encoding"},
                     {field::cache_control, "no-cache"}};
    if (is_known(body, reader.if_none_match)) {
        reply.status = 304;
        return reply;
    }
    // Prometheus accepts only this type.
    reply.headers.emplace_back(field::content_type, "application/json");
    if (gzip) reply.headers.emplace_back(field::content_encoding, "gzip");
    reply.body = gzip ? body.gzip() : body.bytes();
    return reply;
}

void add_list_routes(HttpRoutes& routes, const ServedJobs& jobs, ServeMetrics& metrics) {
    const ListRoutes lists(jobs, metrics);
    routes.on("GET", "/sd/{job}", [lists](const auto& asked, const auto& respond) {
        lists.answer(asked, false, respond);
    });
    routes.on("GET", "/sd/{job}/targets", [lists](const auto& asked, const auto& respond) {
        lists.answer(asked, true, respond);
    });
}

}  // namespace k8s_sd_program
