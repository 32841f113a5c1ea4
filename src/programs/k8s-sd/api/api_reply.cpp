#include "api/api_reply.hpp"

#include "cli/option_values.hpp"
#include "jobs/job_walk.hpp"
#include "k8s_sd/error.hpp"
#include "lists/list_body.hpp"
#include "table/json_writer.hpp"
#include "table/target_query.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace k8s_sd_program {

using boost::beast::http::field;
using http::HttpServer;

namespace {

HttpServer::Reply query_error(const QueryError& error) {
    std::string text;
    JsonWriter(text).begin('{').member("error", error.what()).member("at", error.at()).end('}');
    HttpServer::Reply reply = ui_reply(std::move(text));
    reply.status = 400;
    return reply;
}

}  // namespace

HttpServer::Reply json_reply(std::string json, std::string_view accept_encoding) {
    constexpr std::size_t worth_it = 1024;
    HttpServer::Reply reply;
    reply.headers = {{field::content_type, "application/json"},
                     {field::cache_control, "no-store"},
                     {field::vary, "Accept-Encoding"}};
    if (json.size() > worth_it && http::accepts_coding(accept_encoding, "gzip")) {
        reply.headers.emplace_back(field::content_encoding, "gzip");
        reply.body = ListBody(std::move(json)).gzip();
    } else {
        reply.body = std::make_shared<const std::string>(std::move(json));
    }
    return reply;
}

HttpServer::Reply json_error(unsigned status, std::string_view words) {
    std::string text;
    JsonWriter(text).begin('{').member("error", words).end('}');
    HttpServer::Reply reply = ui_reply(std::move(text));
    reply.status = status;
    return reply;
}

std::string with_now(std::string json) {
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    return json.insert(1, "\"now\":" + std::to_string(now.count()) + ",");
}

HttpServer::Reply ui_reply(std::string json, std::string_view accept_encoding) {
    return json_reply(with_now(std::move(json)), accept_encoding);
}

HttpServer::Reply too_long() {
    return json_error(503, "the answer would take longer than " +
                               std::to_string(max_walk_time.count()) +
                               " s; ask for one job, or for something simpler");
}

void require_job(const ServedJobs& jobs, const std::string& name) {
    if (name.empty() || jobs.find(name)) return;
    if (jobs.left_out().why(name)) throw NotYet(jobs.why_missing(name));
    throw NotFound(jobs.why_missing(name));
}

HttpServer::Reply failure_reply(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const QueryError& e) {
        return query_error(e);
    } catch (const BadRequest& e) {
        return json_error(400, e.what());
    } catch (const NotFound& e) {
        return json_error(404, e.what());
    } catch (const NotYet& e) {
        return json_error(503, e.what());
    } catch (const k8s_sd::ConfigError& e) {
        return json_error(400, e.what());
    } catch (const SlowWork::Stopped& e) {
        return json_error(503, e.what());
    } catch (const std::bad_alloc&) {
        return json_error(503, "there is not enough memory for this answer");
    } catch (const std::exception& e) {
        return json_error(500, e.what());
    }
}

OnFailure failing(const HttpServer::Respond& respond) {
    return [respond](const std::exception_ptr& failure) { respond(failure_reply(failure)); };
}

http::HttpRoutes::Handler reporting_mistakes(http::HttpRoutes::Handler handler) {
    return [handler = std::move(handler)](const auto& asked, const auto& respond) {
        attempt(failing(respond), [&] { handler(asked, respond); });
    };
}

namespace {

/// \param pass  held until the response
HttpServer::Respond once(Gate::Pass pass, HttpServer::Respond respond) {
    return [pass = std::move(pass), respond = std::move(respond),
            answered = std::make_shared<std::atomic<bool>>(false)](HttpServer::Reply reply) {
        if (!answered->exchange(true)) respond(std::move(reply));
    };
}

}  // namespace

http::HttpRoutes::Handler through(const Gate& gate, http::HttpRoutes::Handler handler,
                                  std::function<HttpServer::Reply(std::string_view)> refuse) {
    return [gate, handler = std::move(handler), refuse = std::move(refuse)](const auto& asked,
                                                                            const auto& respond) {
        if (Gate::Pass pass = gate.enter()) return handler(asked, once(std::move(pass), respond));
        HttpServer::Reply reply = refuse(std::to_string(gate.max_inside()) +
                                         " questions about targets are being answered, which is "
                                         "the limit; ask again");
        reply.headers.emplace_back(field::retry_after, "1");
        respond(std::move(reply));
    };
}

http::HttpRoutes::Handler question(const Gate& gate, http::HttpRoutes::Handler handler) {
    return through(gate, reporting_mistakes(std::move(handler)),
                   [](std::string_view words) { return json_error(503, words); });
}

Parameters::Parameters(const http::Query& query, std::initializer_list<std::string_view> known)
    : query_(query) {
    for (const auto& [name, value] : query) {
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        throw BadRequest("there is no parameter " + name + "; there are " +
                         cli::listed(std::vector<std::string_view>(known)));
    }
}

std::optional<std::string> Parameters::text(std::string_view name) const {
    for (const auto& [known, value] : query_) {
        if (known == name && !value.empty()) return value;
    }
    return std::nullopt;
}

std::vector<std::string> Parameters::texts(std::string_view name) const {
    std::vector<std::string> values;
    for (const auto& [known, value] : query_) {
        if (known == name && !value.empty()) values.push_back(value);
    }
    return values;
}

std::string Parameters::text_or(std::string_view name, std::string_view usual) const {
    return text(name).value_or(std::string(usual));
}

std::size_t Parameters::number(std::string_view name, std::size_t usual, std::size_t min,
                               std::size_t max) const {
    const auto given = text(name);
    if (!given) return usual;
    const std::string allowed =
        "a number from " + std::to_string(min) + " to " + std::to_string(max);
    try {
        return cli::number(*given, min, max, allowed.c_str());
    } catch (const cli::UsageError& e) {
        throw BadRequest(std::string(name) + ": " + e.what());
    }
}

}  // namespace k8s_sd_program
