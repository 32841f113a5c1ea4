#include "api/prometheus_routes.hpp"

#include "api/api_reply.hpp"
#include "api/prometheus_targets.hpp"
#include "jobs/job_yaml.hpp"
#include "table/label_json.hpp"
#include "table/laboratory.hpp"
#include "table/rule_text.hpp"
#include "table/target_json.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

namespace k8s_sd_program {

namespace {

using boost::beast::http::field;
using http::HttpRoutes;
using http::HttpServer;

constexpr std::size_t max_targets = 5000;  // of a response with a limit
constexpr std::size_t max_matches = 100;   // match[]
constexpr int max_streams = 10;            // concurrent streams of all targets

HttpServer::Reply success(std::string_view data) {
    std::string text;
    JsonWriter(text).begin('{').member("status", "success").name("data").raw(data).end('}');
    return json_reply(std::move(text));
}

HttpServer::Reply failure(unsigned status, std::string_view type, std::string_view words) {
    std::string text;
    JsonWriter json(text);
    json.begin('{').member("status", "error").member("errorType", type);
    json.member("error", words).end('}');
    HttpServer::Reply reply = json_reply(std::move(text));
    reply.status = status;
    return reply;
}

HttpServer::Reply bad_data(std::string_view words) { return failure(400, "bad_data", words); }

HttpServer::Reply unavailable(std::string_view words) { return failure(503, "unavailable", words); }

OnFailure reporting_to(const HttpServer::Respond&);

/// The last value of the name; as in Prometheus, only one is allowed. Empty: none.
std::string value_of(const http::Query& query, std::string_view name) {
    for (const auto& [known, value] : query) {
        if (known == name) return value;
    }
    return {};
}

std::string lower_case(std::string text) {
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return text;
}

PrometheusRequest read_request(const http::Query& query) {
    PrometheusRequest request;
    const std::string state = lower_case(value_of(query, "state"));
    const bool any = state.empty() || state == "any";
    request.active = any || state == "active";
    request.dropped = any || state == "dropped";
    request.pool = value_of(query, "scrapePool");
    QueryBudget budget;
    for (const auto& [name, value] : query) {
        if (name != "match[]") continue;
        if (request.match.size() == max_matches) {
            throw BadRequest("there can be " + std::to_string(max_matches) + " match[] at most");
        }
        request.match.emplace_back(value, budget);
    }
    if (!value_of(query, "limit").empty()) {
        const http::Query limit{{"limit", value_of(query, "limit")}};
        request.limit = Parameters(limit, {"limit"}).number("limit", 0, 1, max_targets);
    }
    if (const std::string cursor = value_of(query, "cursor"); !cursor.empty()) {
        request.after = read_cursor(cursor);
        if (!request.limit) throw BadRequest("cursor goes with limit");
    }
    return request;
}

void answer_targets(const ServedJobs& jobs, const Gate& streams, const HttpRoutes::Asked& asked,
                    const HttpServer::Respond& respond) {
    PrometheusRequest request = read_request(asked.query);
    Gate::Pass pass = request.limit ? nullptr : streams.enter();
    if (!request.limit && !pass) {
        return respond(unavailable("10 clients read all targets already, which is the limit; ask "
                                   "again, or with limit"));
    }
    std::vector<PrometheusPool> pools;
    for (NamedJob& job : jobs_named(jobs)) {
        const std::size_t keep = jobs.config(job.first)->scrape.keep_dropped_targets;
        pools.push_back({std::move(job), keep});
    }
    answer_prometheus_targets(std::move(pools), std::move(request), std::move(pass),
                              unavailable("the answer would take longer than 10 s; ask for one "
                                          "pool, or without match[]"),
                              respond, reporting_to(respond));
}

HttpServer::Reply pools(const ServedJobs& jobs) {
    std::string data;
    JsonWriter json(data);
    json.begin('{').name("scrapePools").begin('[');
    for (const std::string_view name : jobs.names()) json.value(name);
    json.end(']').end('}');
    return success(data);
}

std::shared_ptr<const k8s_sd::ScrapeJob> pool_named(const ServedJobs& jobs,
                                                    const std::string& name) {
    if (name.empty()) throw BadRequest("no scrapePool parameter provided");
    auto config = jobs.config(name);
    if (!config) throw BadRequest("scrape pool \"" + name + "\" not found");
    return config;
}

HttpServer::Reply config_of(const ServedJobs& jobs, const http::Query& query) {
    const auto job = pool_named(jobs, value_of(query, "scrapePool"));
    std::string data;
    JsonWriter(data).begin('{').member("yaml", to_yaml(*job)).end('}');
    return success(data);
}

/// The request is valid, but has no result.
class NoAnswer : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// Rules after a dropping one are not evaluated.
/// \throws NoAnswer
std::string steps_of(const k8s_sd::ScrapeConfig& config, k8s_sd::LabelMap labels) {
    k8s_sd::RelabelOptions options = relabel_options(config);
    options.limits = own_rules_limits;
    const k8s_sd::Relabeler relabeler(config.relabel_configs, options);
    k8s_sd::MutableLabels changed;
    const k8s_sd::LabelMap given = labels;
    for (const auto& [name, value] : given) changed.set(name, value);
    const auto steps = relabeler.explain(changed);
    if (!steps.empty() && steps.back().refused) {
        throw NoAnswer(k8s_sd::RelabelError(steps.back().rule, steps.back().reason).what());
    }
    auto step = steps.begin();
    bool kept = true;
    std::string data;
    JsonWriter json(data);
    json.begin('{').name("steps").begin('[');
    for (std::size_t rule = 0; rule < config.relabel_configs.size(); ++rule) {
        for (; step != steps.end() && step->rule == rule; ++step) {
            apply(labels, *step);
            kept = kept && !step->dropped;
        }
        if (data.size() + bytes_of(labels) > shown_steps_bytes) {
            throw NoAnswer("the steps are longer than " + std::to_string(shown_steps_bytes) +
                           " bytes, which is the limit; ask with fewer labels");
        }
        json.begin('{').name("rule");
        write_rule(json, config.relabel_configs[rule]);
        json.member("output", kept ? labels : k8s_sd::LabelMap()).member("keep", kept).end('}');
    }
    json.end(']').end('}');
    return data;
}

/// The form in the body of a POST, as in Prometheus.
http::Query form_of(const HttpServer::Request& request) {
    if (auto query = http::parse_query(request.body)) return *query;
    throw BadRequest("the body is no form (application/x-www-form-urlencoded)");
}

HttpServer::Reply reply_to(const std::exception_ptr& failed) {
    try {
        std::rethrow_exception(failed);
    } catch (const QueryError& e) {
        return bad_data("match[]: " + std::string(e.what()) + " at byte " + std::to_string(e.at()));
    } catch (const BadRequest& e) {
        return bad_data(e.what());
    } catch (const NoAnswer& e) {
        return failure(422, "execution", e.what());
    } catch (const SlowWork::Stopped& e) {
        return unavailable(e.what());
    } catch (const std::bad_alloc&) {
        return unavailable("there is not enough memory for this answer");
    } catch (const std::exception& e) {
        return failure(500, "internal", e.what());
    }
}

/// Reports errors in the format of Prometheus.
OnFailure reporting_to(const HttpServer::Respond& respond) {
    return [respond](const std::exception_ptr& failed) { respond(reply_to(failed)); };
}

template <class Answer>
HttpRoutes::Handler reporting(Answer answer) {
    return [answer](const HttpRoutes::Asked& asked, const HttpServer::Respond& respond) {
        attempt(reporting_to(respond), [&] { answer(asked, respond); });
    };
}

/// The client's labels may be slow to match, so they are matched off the server's thread.
void answer_steps(const ServedJobs& jobs, const std::shared_ptr<SlowWork>& slow,
                  const http::Query& query, const HttpServer::Respond& respond) {
    const auto job = pool_named(jobs, value_of(query, "scrapePool"));
    std::string labels = value_of(query, "labels");
    if (labels.empty()) throw BadRequest("no labels parameter provided");
    slow->run([job, labels = std::move(labels),
               respond] { respond(success(steps_of(job->scrape, read_labels(labels)))); },
              reporting_to(respond));
}

}  // namespace

void add_prometheus_routes(HttpRoutes& routes, const ServedJobs& jobs, const Gate& gate,
                           const std::shared_ptr<SlowWork>& slow) {
    const Gate streams(max_streams);
    auto targets = reporting([&jobs, streams](const auto& asked, const auto& respond) {
        answer_targets(jobs, streams, asked, respond);
    });
    routes.on("GET", "/api/v1/targets", through(gate, std::move(targets), unavailable));
    routes.get("/api/v1/scrape_pools", [&jobs](const auto&) { return pools(jobs); });
    routes.on("GET", "/api/v1/scrape_pools/config",
              reporting([&jobs](const auto& asked, const auto& respond) {
                  respond(config_of(jobs, asked.query));
              }));
    auto steps = reporting([&jobs, slow](const auto& asked, const auto& respond) {
        answer_steps(jobs, slow, asked.query, respond);
    });
    routes.on("GET", "/api/v1/targets/relabel_steps", through(gate, std::move(steps), unavailable));
    auto posted_steps = reporting([&jobs, slow](const auto& asked, const auto& respond) {
        answer_steps(jobs, slow, form_of(asked.request), respond);
    });
    routes.on("POST", "/api/v1/targets/relabel_steps",
              through(gate, std::move(posted_steps), unavailable));
}

}  // namespace k8s_sd_program
