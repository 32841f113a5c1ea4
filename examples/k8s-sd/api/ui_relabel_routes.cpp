#include "api/ui_relabel_routes.hpp"

#include "api/api_reply.hpp"
#include "jobs/job_walk.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/relabel/relabel_yaml.hpp"
#include "support/option_values.hpp"
#include "table/label_json.hpp"
#include "table/laboratory.hpp"

#include <boost/json/object.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace bridge {

namespace {

namespace json = boost::json;
using boost::beast::http::field;
using support::HttpRoutes;
using support::HttpServer;
using Clock = std::chrono::steady_clock;

constexpr int most_at_a_time = 4;  // whole jobs that are tried

/// What is to be tried.
struct Question {
    std::string job{};
    std::optional<std::string> id{};
    std::optional<k8s_sd::LabelMap> labels{};
    std::optional<std::string> rules{};
    bool effect = false;
};

std::string text_of(const json::value& value, std::string_view name) {
    if (!value.is_string()) throw BadRequest(std::string(name) + ": must be a text");
    return std::string(value.as_string());
}

Question read_question(std::string_view body) {
    const json::value value = read_json(body);
    if (!value.is_object()) throw BadRequest("the body must be an object");
    Question question;
    for (const auto& [key, given] : value.as_object()) {
        const std::string_view name(key.data(), key.size());
        if (name == "job") {
            question.job = text_of(given, name);
        } else if (name == "id") {
            question.id = text_of(given, name);
        } else if (name == "labels") {
            question.labels = read_labels(given);
        } else if (name == "rules") {
            question.rules = text_of(given, name);
        } else if (name == "effect") {
            if (!given.is_bool()) throw BadRequest("effect: must be true or false");
            question.effect = given.as_bool();
        } else {
            throw BadRequest("there is no key " + std::string(name) +
                             "; there are job, id, labels, rules and effect");
        }
    }
    if (question.id && question.labels) throw BadRequest("id and labels both say which target");
    return question;
}

/// One question while it is worked on.
struct Trial {
    Trial(Question asked, k8s_sd::ScrapeConfig config)
        : question(std::move(asked)), laboratory(std::move(config)) {}

    Walk look(TargetTable& table) {
        if (!read_on(table)) return Walk::again;
        if (std::exchange(looks_for_row, false) && !find(table)) return Walk::end;
        if (!question.effect) return Walk::end;
        return laboratory.try_on_all(table, for_a_turn()) ? Walk::again : Walk::end;
    }

    bool find(const TargetTable& table) {
        const TargetRow* row = table.find(read_id(*question.id));
        if (row) laboratory.try_on(*row);
        return found = row != nullptr;
    }

    const Question question;
    Laboratory laboratory;
    bool looks_for_row = question.id.has_value();
    bool found = !looks_for_row;
};

k8s_sd::ScrapeConfig config_of(const ServedJobs& jobs, const Question& question) {
    const auto job = jobs.config(question.job);
    if (!job) {
        throw BadRequest(jobs.why_missing(question.job));
    }
    k8s_sd::ScrapeConfig config = job->scrape;
    if (question.rules) {
        config.relabel_configs =
            k8s_sd::parse_relabel_configs(*question.rules, relabel_options(config), "rules");
    }
    return config;
}

void answer_relabel(const ServedJobs& jobs, const Gate& effects, const HttpRoutes::Asked& asked,
                    const HttpServer::Respond& respond) {
    if (!asked.request.header(field::content_type).starts_with("application/json")) {
        return respond(json_error(415, "the Content-Type must be application/json"));
    }
    Question question = read_question(asked.request.body);
    k8s_sd::ScrapeConfig config = config_of(jobs, question);
    const Gate::Pass pass = question.effect ? effects.enter() : nullptr;
    if (question.effect && !pass) {
        return respond(json_error(503, "4 whole jobs are being tried already; ask again"));
    }
    const auto trial = std::make_shared<Trial>(std::move(question), std::move(config));
    if (trial->question.labels) trial->laboratory.try_on(*trial->question.labels);
    const bool looks = trial->question.effect || trial->looks_for_row;
    const std::string coding(asked.request.header(field::accept_encoding));
    walk(
        looks ? jobs_named(jobs, trial->question.job) : std::vector<NamedJob>(),
        [trial](const std::string&, JobTargets& targets) {
            return trial->look(targets.table(Clock::now()));
        },
        [trial, pass, respond, coding](bool complete) {
            if (!complete && trial->looks_for_row) return respond(too_long());
            if (!complete) trial->laboratory.give_up();
            respond(trial->found
                        ? ui_reply(trial->laboratory.text(), coding)
                        : json_error(404, "the job has no target of this id, or no longer"));
        });
}

}  // namespace

void add_relabel_routes(HttpRoutes& routes, const ServedJobs& jobs, const Gate& gate) {
    const Gate effects(most_at_a_time);
    routes.on("POST", "/api/ui/relabel",
              question(gate, [&jobs, effects](const auto& asked, const auto& respond) {
                  answer_relabel(jobs, effects, asked, respond);
              }));
}

}  // namespace bridge
