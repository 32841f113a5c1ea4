#include "list_routes.hpp"

#include "selection.hpp"
#include "support/http_message.hpp"
#include "support/option_values.hpp"

#include <charconv>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace bridge {

namespace {

using boost::beast::http::field;
using support::HttpRoutes;
using support::HttpServer;
using support::text_reply;

/// In seconds, as Prometheus and vmagent tell it; nullopt: the reader does not, or no usual one.
std::optional<double> interval_of(const HttpServer::Request& request) {
    constexpr double longest = 86'400;
    const auto text = request.header("X-Prometheus-Refresh-Interval-Seconds");
    double interval = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), interval);
    if (error != std::errc{} || !(interval >= 0 && interval <= longest)) return std::nullopt;
    return interval;
}

/// The lists of the jobs.
class ListRoutes {
 public:
    ListRoutes(const ServedJobs& jobs, BridgeMetrics& metrics) : jobs_(jobs), metrics_(metrics) {}

    /// \param relabelled  of /sd/{job}/targets
    void answer(const HttpRoutes::Asked& asked, bool relabelled,
                const HttpServer::Respond& respond) const {
        const auto job = jobs_.find(asked.names[0]);
        if (!job) {
            ++metrics_.unknown_jobs;
            return respond(unknown_job(asked.names[0]));
        }
        ListRequest request{relabelled ? ListForm::relabelled : ListForm::discovered,
                            {},
                            patience_of(asked.request)};
        try {
            const ListQuery query = read_list_query(asked.query);
            if (query.urls && !relabelled) {
                throw BadRequest("form=urls: is a form of /sd/{job}/targets");
            }
            request.selection = query.selection;
            if (query.urls) request.form = ListForm::urls;
        } catch (const BadRequest& e) {
            metrics_.count_poll(request.form, 400, 0);
            ListPoll poll = poll_of(asked, request.form);
            poll.status = 400;
            metrics_.consumers.saw(std::move(poll), std::chrono::system_clock::now());
            return respond(text_reply(400, std::string(e.what()) + "\n"));
        }
        get(*job, request, asked, respond);
    }

 private:
    HttpServer::Reply unknown_job(const std::string& name) const {
        return text_reply(404, "there is no job " + name +
                                   support::suggestion(name, jobs_.names()) +
                                   "; a / in a name is written as %2F\n");
    }

    /// Who asks for which list, without the answer.
    static ListPoll poll_of(const HttpRoutes::Asked& asked, ListForm form) {
        const HttpServer::Request& request = asked.request;
        return {.who = {request.client.address, std::string(request.header(field::user_agent)),
                        asked.names[0], std::string(to_string(form)), std::string(request.query)},
                .interval = interval_of(request)};
    }

    void get(ServedJob& job, const ListRequest& request, const HttpRoutes::Asked& asked,
             const HttpServer::Respond& respond) const {
        const HttpServer::Request& headers = asked.request;
        Reader reader{std::string(headers.header(field::if_none_match)),
                      std::string(headers.header(field::accept_encoding))};
        job.get(request, [&metrics = metrics_, form = request.form, reader = std::move(reader),
                          poll = poll_of(asked, request.form), respond](const ListAnswer& answer) {
            HttpServer::Reply reply =
                answer.body ? list_reply(*answer.body, reader) : later_reply(answer.refusal);
            const bool sends_list = reply.status == 200;
            metrics.count_poll(form, reply.status, sends_list ? reply.body->size() : 0);
            ListPoll answered = poll;
            answered.status = reply.status;
            if (sends_list) answered.bytes = reply.body->size();
            if (answer.body) answered.tag = answer.body->tag();
            metrics.consumers.saw(std::move(answered), std::chrono::system_clock::now());
            respond(std::move(reply));
        });
    }

    const ServedJobs& jobs_;
    BridgeMetrics& metrics_;
};

}  // namespace

HttpServer::Reply later_reply(const std::string& reason) {
    HttpServer::Reply reply = text_reply(503, reason + "\n");
    reply.headers.emplace_back(field::retry_after, "5");
    return reply;
}

std::chrono::nanoseconds patience_of(const HttpServer::Request& request) {
    constexpr double usual = 60;
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(0.8 * interval_of(request).value_or(usual)));
}

HttpServer::Reply list_reply(const ListBody& body, const Reader& reader) {
    const bool gzip = support::accepts_coding(reader.accept_encoding, "gzip");
    HttpServer::Reply reply;
    reply.headers = {{field::etag, gzip ? body.gzip_tag() : body.tag()},
                     {field::vary, "Accept-Encoding"},
                     {field::cache_control, "no-cache"}};
    if (support::matches_tag(reader.if_none_match, body.tag()) ||
        support::matches_tag(reader.if_none_match, body.gzip_tag())) {
        reply.status = 304;
        return reply;
    }
    // Prometheus takes this type only.
    reply.headers.emplace_back(field::content_type, "application/json");
    if (gzip) reply.headers.emplace_back(field::content_encoding, "gzip");
    reply.body = gzip ? body.gzip() : body.bytes();
    return reply;
}

void add_list_routes(HttpRoutes& routes, const ServedJobs& jobs, BridgeMetrics& metrics) {
    const ListRoutes lists(jobs, metrics);
    routes.on("GET", "/sd/{job}", [lists](const auto& asked, const auto& respond) {
        lists.answer(asked, false, respond);
    });
    routes.on("GET", "/sd/{job}/targets", [lists](const auto& asked, const auto& respond) {
        lists.answer(asked, true, respond);
    });
}

}  // namespace bridge
