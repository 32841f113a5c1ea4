#include "api/ui_monitor_routes.hpp"

#include "api/api_reply.hpp"
#include "jobs/job_walk.hpp"
#include "monitors/target_advice.hpp"
#include "table/json_writer.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd_program {

namespace {

using http::HttpRoutes;
using http::HttpServer;

std::string monitor_job_text(const std::string& name, const TargetTable& table,
                             const k8s_sd::ScrapeJob& job) {
    const auto advice = advice_on_targets(table, job).value_or(k8s_sd::MonitorRefusal());
    const RowCounts& counts = table.counts();
    std::string text;
    JsonWriter json(text);
    json.begin('{').member("job", name).member("discovered", table.rows().size());
    json.member("active", counts.of(TargetState::active));
    json.member("dropped", counts.of(TargetState::dropped));
    json.member("failed", counts.of(TargetState::failed));
    json.member("reason", advice.reason).member("remedy", advice.remedy).end('}');
    return text;
}

void answer_monitor(const ServedJobs& jobs, const HttpRoutes::Asked& asked,
                    const HttpServer::Respond& respond) {
    const Parameters given(asked.query, {"job"});
    const std::string name = given.text_or("job", "");
    if (name.empty()) throw BadRequest("job says which one");
    require_job(jobs, name);
    const auto config = jobs.config(name);
    const auto answer = std::make_shared<std::optional<HttpServer::Reply>>();
    walk(
        jobs_named(jobs, name),
        [answer, config](const std::string& job, JobTargets& targets) {
            TargetTable& table = targets.table(std::chrono::steady_clock::now());
            if (!read_on(table)) return Walk::again;
            *answer = ui_reply(monitor_job_text(job, table, *config));
            return Walk::next;
        },
        [answer, respond](bool complete) {
            respond(complete && *answer ? std::move(**answer) : too_long());
        },
        failing(respond));
}

/// "ServiceMonitor/shop/web".
k8s_sd::MonitorName monitor_name(std::string_view text) {
    const std::size_t first = text.find('/');
    const std::size_t second = first == text.npos ? first : text.find('/', first + 1);
    for (std::size_t i = 0; second != text.npos && i < k8s_sd::monitor_kind_count; ++i) {
        const auto kind = static_cast<k8s_sd::MonitorKind>(i);
        if (to_string(kind) != text.substr(0, first)) continue;
        return {kind, std::string(text.substr(first + 1, second - first - 1)),
                std::string(text.substr(second + 1))};
    }
    throw BadRequest("after: is no KIND/NAMESPACE/NAME of a monitor");
}

MonitorPage monitor_page(const http::Query& query) {
    const Parameters given(query, {"after", "limit"});
    MonitorPage page;
    if (const auto after = given.text("after")) page.after = monitor_name(*after);
    page.limit = given.number("limit", MonitorPage::max, 1, MonitorPage::max);
    return page;
}

}  // namespace

void add_monitor_routes(HttpRoutes& routes, const ServedJobs& jobs, const Gate& gate,
                        std::function<std::string(const MonitorPage&)> monitors) {
    const auto answer_monitors = [monitors = std::move(monitors)](const auto& asked,
                                                                  const auto& respond) {
        respond(ui_reply(monitors(monitor_page(asked.query)),
                         asked.request.header(boost::beast::http::field::accept_encoding)));
    };
    routes.on("GET", "/api/ui/monitors", reporting_mistakes(answer_monitors));
    routes.on("GET", "/api/ui/monitor",
              question(gate, [&jobs](const auto& asked, const auto& respond) {
                  answer_monitor(jobs, asked, respond);
              }));
}

}  // namespace k8s_sd_program
