#include "api/ui_routes.hpp"

#include "api/api_reply.hpp"
#include "api/owner_parameters.hpp"
#include "cli/option_values.hpp"
#include "jobs/job_walk.hpp"
#include "k8s_sd/version.hpp"
#include "table/target_json.hpp"
#include "table/target_page.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

namespace k8s_sd_program {

namespace {

using boost::beast::http::field;
using http::HttpRoutes;
using http::HttpServer;
using Clock = std::chrono::steady_clock;

constexpr std::size_t max_page_rows = 1000;                     // of a page
constexpr auto table_timeout = std::chrono::milliseconds(100);  // for incomplete tables

/// Reads `state`; one parameter may contain several states, separated by commas.
TargetSelection::Values read_states(const Parameters& given, const TargetAllocator& allocator) {
    TargetSelection::Values states;
    for (const std::string& text : given.texts("state")) {
        std::string_view rest = text;
        while (!rest.empty()) {
            const std::string_view name = rest.substr(0, rest.find(','));
            rest.remove_prefix(std::min(rest.size(), name.size() + 1));
            states.emplace(name);
        }
    }
    std::vector<std::string_view> known;
    for (std::size_t i = 0; i < target_state_count; ++i) {
        known.push_back(to_string(static_cast<TargetState>(i)));
    }
    if (allocator.options().enabled()) known.push_back(unowned_state);
    for (const std::string& state : states) {
        if (std::find(known.begin(), known.end(), state) != known.end()) continue;
        throw BadRequest("state: there is no " + state + "; there are " + cli::listed(known));
    }
    if (states.contains(unowned_state) && !allocator.view()) throw NotYet(allocator.trouble());
    return states;
}

PageRequest read_page_request(const Parameters& given, const TargetAllocator& allocator) {
    PageRequest request;
    TargetSelection& filter = request.filter;
    filter.query = TargetQuery(given.text_or("q", ""));
    filter.collectors = allocator.view();
    filter.of(Facet::state) = read_states(given, allocator);
    for (const Facet facet : {Facet::job, Facet::ns, Facet::node, Facet::reason}) {
        const auto texts = given.texts(to_string(facet));
        filter.of(facet) = {texts.begin(), texts.end()};
    }
    request.limit = given.number("limit", request.limit, 1, max_page_rows);
    if (const auto after = given.text("after")) request.after = read_cursor(*after);
    request.facets = given.flag("facets");
    return request;
}

/// The jobs to read: with facets also the unselected ones, because their values are counted.
std::vector<NamedJob> jobs_of(const ServedJobs& jobs, PageRequest& request) {
    const TargetSelection::Values& wanted = request.filter.of(Facet::job);
    if (wanted.empty() || request.facets) return jobs_named(jobs);
    std::vector<NamedJob> found;
    for (const std::string& name : wanted) found.emplace_back(name, jobs.find(name));
    return found;
}

void answer_targets(const ServedJobs& jobs, const TargetAllocator& allocator,
                    const HttpRoutes::Asked& asked, const HttpServer::Respond& respond) {
    const Parameters given(asked.query, {"q", "job", "state", "namespace", "node", "reason",
                                         "limit", "after", "facets"});
    PageRequest request = read_page_request(given, allocator);
    for (const std::string& name : request.filter.of(Facet::job)) require_job(jobs, name);
    const std::vector<NamedJob> found = jobs_of(jobs, request);
    const auto page = std::make_shared<TargetPage>(std::move(request));
    const std::string coding(asked.request.header(field::accept_encoding));
    const auto until = Clock::now() + table_timeout;
    walk(
        found,
        [page, until](const std::string& job, JobTargets& targets) {
            TargetTable& table = targets.table(Clock::now());
            if (!read_on(table) && Clock::now() < until) return Walk::again;
            if (page->read(job, table, for_a_time_slice())) return Walk::again;
            page->missing(table.unread_groups());
            return Walk::next;
        },
        [page, respond, coding, found](bool complete) {
            respond(ui_reply(page->text(complete), coding));
            if (page->has_all_groups()) return;
            // Another request may already be completing the same tables.
            static const Gate completing(2);
            if (const auto pass = completing.enter()) complete_tables(found, pass);
        },
        failing(respond));
}

/// The requested target: by id, otherwise by object and address.
struct WantedTarget {
    std::uint64_t id = 0;
    std::string object{}, address{};

    const TargetRow* find(const TargetTable& table) const {
        if (const TargetRow* row = table.find(id)) return row;
        if (object.empty() || address.empty()) return nullptr;
        const auto& rows = table.rows();
        const auto row = std::find_if(rows.begin(), rows.end(), [&](const TargetRow& known) {
            const bool there = known.address == address ||
                               (known.target && known.target->get("__address__") == address);
            return there && object_of(*known.group, known.index) == object;
        });
        return row != rows.end() ? &*row : nullptr;
    }
};

std::string target_text(const TargetTable& table, const TargetRow& row,
                        const TargetOwners& owners) {
    const auto explanation = table.builder().explain(*row.group, row.index);
    std::string text;
    JsonWriter json(text);
    json.begin('{').name("row");
    write_row(json, table, row, owners);
    json.member("discovered", explanation.discovered).name("labels");
    explanation.labels ? json.value(*explanation.labels) : json.null();
    json.member("url", explanation.url);
    write_steps(json, explanation, table.config().relabel_configs);
    json.name("after").begin('[');
    for (const std::string& step : explanation.steps) json.value(step);
    json.end(']').end('}');
    return text;
}

HttpServer::Reply no_target(const std::string& object) {
    std::string text;
    JsonWriter json(text);
    json.begin('{').member("error", "the job has no such target, or no longer");
    json.member("object", object).end('}');
    HttpServer::Reply reply = ui_reply(std::move(text));
    reply.status = 404;
    return reply;
}

void answer_target(const ServedJobs& jobs, const TargetAllocator& allocator,
                   const HttpRoutes::Asked& asked, const HttpServer::Respond& respond) {
    const Parameters given(asked.query, {"job", "id", "object", "address", "shards", "replicas"});
    const std::string job = given.text_or("job", "");
    const WantedTarget wanted{read_id(given.text_or("id", "")), given.text_or("object", ""),
                              given.text_or("address", "")};
    if (job.empty() || !(given.text("id") || (given.text("object") && given.text("address")))) {
        throw BadRequest("job and id, or job, object and address, are required");
    }
    require_job(jobs, job);
    const auto answer = std::make_shared<HttpServer::Reply>(no_target(wanted.object));
    const std::string coding(asked.request.header(field::accept_encoding));
    walk(
        jobs_named(jobs, job),
        [answer, wanted, owners = read_owners(given, allocator), coding](const std::string&,
                                                                         JobTargets& targets) {
            TargetTable& table = targets.table(Clock::now());
            if (!read_on(table)) return Walk::again;
            if (const TargetRow* row = wanted.find(table)) {
                *answer = ui_reply(target_text(table, *row, owners), coding);
            }
            return Walk::next;
        },
        [answer, respond](bool complete) { respond(complete ? std::move(*answer) : too_long()); },
        failing(respond));
}

using Responder = void (*)(const ServedJobs&, const TargetAllocator&, const HttpRoutes::Asked&,
                           const HttpServer::Respond&);

void add(HttpRoutes& routes, const ServedJobs& jobs, const TargetAllocator& allocator,
         const Gate& gate, const char* path, Responder answer) {
    routes.on("GET", path,
              question(gate, [&jobs, &allocator, answer](const auto& asked, const auto& respond) {
                  answer(jobs, allocator, asked, respond);
              }));
}

}  // namespace

std::string status_json(const ServedJobs& jobs) {
    std::string text;
    JsonWriter json(text);
    json.begin('{').member("version", K8S_SD_VERSION);
    json.name("jobs").begin('[');
    for (const auto& [name, job] : jobs.metrics()) {
        const JobTargetCounts& n = job.targets;
        json.begin('{').member("name", name).member("complete", job.complete);
        json.member("rules", jobs.config(name)->scrape.relabel_configs.size());
        json.member("discovered", n.discovered).member("active", n.active);
        json.member("dropped", n.dropped).member("failed", n.failed);
        json.member("duplicate",
                    n.discovered - std::min(n.discovered, n.active + n.dropped + n.failed));
        json.end('}');
    }
    json.end(']').name("limits").begin('{').member("page_rows", max_page_rows);
    json.member("query_bytes", TargetQuery::max_bytes).end('}').end('}');
    return text;
}

void add_ui_routes(HttpRoutes& routes, const ServedJobs& jobs, const TargetAllocator& allocator,
                   const Gate& gate) {
    routes.get("/api/ui/status", [&jobs](const HttpRoutes::Asked& asked) {
        return ui_reply(status_json(jobs), asked.request.header(field::accept_encoding));
    });
    add(routes, jobs, allocator, gate, "/api/ui/targets", answer_targets);
    add(routes, jobs, allocator, gate, "/api/ui/target", answer_target);
}

}  // namespace k8s_sd_program
