#include "api/ui_routes.hpp"

#include "api/api_reply.hpp"
#include "jobs/job_walk.hpp"
#include "k8s_sd/version.hpp"
#include "support/option_values.hpp"
#include "table/target_json.hpp"
#include "table/target_page.hpp"

#include <chrono>
#include <memory>
#include <utility>

namespace bridge {

namespace {

using boost::beast::http::field;
using support::HttpRoutes;
using support::HttpServer;
using Clock = std::chrono::steady_clock;

constexpr std::size_t most_rows = 1000;                    // of a page
constexpr auto patience = std::chrono::milliseconds(100);  // with tables that are not complete

std::int64_t unix_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::set<TargetState> read_states(const std::string& text) {
    std::set<TargetState> states;
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::string_view name = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), name.size() + 1));
        bool known = false;
        for (std::size_t i = 0; i < target_state_count; ++i) {
            const auto state = static_cast<TargetState>(i);
            if (name != to_string(state)) continue;
            states.insert(state);
            known = true;
        }
        if (!known) {
            throw BadRequest("state: there is no " + std::string(name) +
                             "; there are active, dropped, failed and duplicate");
        }
    }
    return states;
}

PageRequest read_page_request(const Parameters& given) {
    PageRequest request;
    request.filter.query = TargetQuery(given.text_or("q", ""));
    request.filter.states = read_states(given.text_or("state", ""));
    request.filter.ns = given.text("namespace");
    request.filter.node = given.text("node");
    request.filter.reason = given.text("reason");
    request.limit = given.number("limit", request.limit, 1, most_rows);
    if (const auto after = given.text("after")) request.after = read_cursor(*after);
    request.facets = given.flag("facets");
    return request;
}

void answer_targets(const ServedJobs& jobs, const HttpRoutes::Asked& asked,
                    const HttpServer::Respond& respond) {
    const Parameters given(asked.query, {"q", "job", "state", "namespace", "node", "reason",
                                         "limit", "after", "facets"});
    const auto page = std::make_shared<TargetPage>(read_page_request(given));
    const std::vector<NamedJob> found = jobs_named(jobs, given.text_or("job", ""));
    const std::string coding(asked.request.header(field::accept_encoding));
    const auto until = Clock::now() + patience;
    walk(
        found,
        [page, until](const std::string& job, JobTargets& targets) {
            TargetTable& table = targets.table(Clock::now());
            if (!read_on(table) && Clock::now() < until) return Walk::again;
            if (for_a_while([&] { return page->read(job, table, rows_a_step); })) {
                return Walk::again;
            }
            page->missing(table.unread_groups());
            return Walk::next;
        },
        [page, respond, coding, found] {
            respond(json_reply(page->text(), coding));
            if (page->is_complete()) return;
            // Others who wait for the same tables may be at it already.
            static const Gate completing(2);
            if (const auto pass = completing.enter()) complete_tables(found, pass);
        });
}

std::string target_text(const TargetTable& table, const TargetRow& row) {
    const auto explanation = table.builder().explain(*row.group, row.index);
    std::string text;
    JsonWriter json(text);
    json.begin('{').name("row");
    write_row(json, table, row);
    json.member("discovered", explanation.discovered).name("labels");
    explanation.labels ? json.value(*explanation.labels) : json.null();
    json.member("url", explanation.url).name("steps");
    write_steps(json, explanation, table.config().relabel_configs);
    json.name("after").begin('[');
    for (const std::string& step : explanation.steps) json.value(step);
    json.end(']').end('}');
    return text;
}

void answer_target(const ServedJobs& jobs, const HttpRoutes::Asked& asked,
                   const HttpServer::Respond& respond) {
    const Parameters given(asked.query, {"job", "id"});
    const std::string job = given.text_or("job", "");
    const std::string text = given.text_or("id", "");
    if (job.empty() || text.empty()) throw BadRequest("job and id say which target");
    const auto answer = std::make_shared<HttpServer::Reply>(json_error(
        404, jobs.find(job) ? "the job has no target of this id, or no longer"
                            : "there is no job " + job + support::suggestion(job, jobs.names())));
    const std::string coding(asked.request.header(field::accept_encoding));
    walk(
        jobs_named(jobs, job),
        [answer, id = read_id(text), coding](const std::string&, JobTargets& targets) {
            TargetTable& table = targets.table(Clock::now());
            if (!read_on(table)) return Walk::again;
            if (const TargetRow* row = table.find(id)) {
                *answer = json_reply(target_text(table, *row), coding);
            }
            return Walk::next;
        },
        [answer, respond] { respond(std::move(*answer)); });
}

using Answer = void (*)(const ServedJobs&, const HttpRoutes::Asked&, const HttpServer::Respond&);

void add(HttpRoutes& routes, const ServedJobs& jobs, const Gate& gate, const char* path,
         Answer answer) {
    routes.on("GET", path, question(gate, [&jobs, answer](const auto& asked, const auto& respond) {
                  answer(jobs, asked, respond);
              }));
}

}  // namespace

std::string status_json(const ServedJobs& jobs) {
    std::string text;
    JsonWriter json(text);
    json.begin('{').member("version", K8S_SD_VERSION).member("now", unix_ms());
    json.name("jobs").begin('[');
    for (const auto& [name, job] : jobs.metrics()) {
        const TargetCounts& n = job.targets;
        json.begin('{').member("name", name).member("complete", job.complete);
        json.member("rules", jobs.config(name)->scrape.relabel_configs.size());
        json.member("discovered", n.discovered).member("active", n.active);
        json.member("dropped", n.dropped).member("failed", n.failed);
        json.member("duplicate",
                    n.discovered - std::min(n.discovered, n.active + n.dropped + n.failed));
        json.end('}');
    }
    json.end(']').name("limits").begin('{').member("page_rows", most_rows);
    json.member("query_bytes", TargetQuery::max_bytes).end('}').end('}');
    return text;
}

void add_ui_routes(HttpRoutes& routes, const ServedJobs& jobs, const Gate& gate) {
    routes.get("/api/ui/status", [&jobs](const HttpRoutes::Asked& asked) {
        return json_reply(status_json(jobs), asked.request.header(field::accept_encoding));
    });
    add(routes, jobs, gate, "/api/ui/targets", answer_targets);
    add(routes, jobs, gate, "/api/ui/target", answer_target);
}

}  // namespace bridge
