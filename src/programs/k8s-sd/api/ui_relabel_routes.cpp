#include "api/ui_relabel_routes.hpp"

#include "api/api_reply.hpp"
#include "cli/option_values.hpp"
#include "jobs/job_walk.hpp"
#include "table/label_json.hpp"
#include "table/laboratory.hpp"

#include <boost/json/object.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd_program {

namespace {

namespace json = boost::json;
using boost::beast::http::field;
using http::HttpRoutes;
using http::HttpServer;
using Clock = std::chrono::steady_clock;

constexpr int max_concurrent = 4;  // trials of whole jobs

/// The parameters of a trial.
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
            throw BadRequest("unknown key " + std::string(name) +
                             "; the keys are job, id, labels, rules and effect");
        }
    }
    if (question.id && question.labels) throw BadRequest("id and labels exclude each other");
    return question;
}

k8s_sd::ScrapeConfig config_of(const ServedJobs& jobs, const Question& question) {
    const auto job = jobs.config(question.job);
    if (!job) {
        throw BadRequest(jobs.why_missing(question.job));
    }
    return job->scrape;
}

/// One request in progress: SlowWork compiles and tries the rules, and the job's strand reads the
/// job's table.
class Trial : public std::enable_shared_from_this<Trial> {
 public:
    /// \param jobs    the job in question
    /// \param coding  Accept-Encoding
    Trial(Question asked, k8s_sd::ScrapeConfig config, std::vector<NamedJob> jobs,
          std::shared_ptr<SlowWork> slow, std::string coding, HttpServer::Respond respond)
        : question_(std::move(asked)),
          config_(std::move(config)),
          jobs_(std::move(jobs)),
          slow_(std::move(slow)),
          coding_(std::move(coding)),
          respond_(std::move(respond)) {}

    void start() { slowly(&Trial::prepare); }

 private:
    using Step = void (Trial::*)();
    using TakeFrom = void (Trial::*)(TargetTable&);

    void slowly(Step step) {
        slow_->run([self = shared_from_this(), step] { (self.get()->*step)(); }, failing(respond_));
    }

    /// Reads the job's table, then continues.
    void visit(TakeFrom take, Step then) {
        found_ = false;
        walk(
            jobs_,
            [self = shared_from_this(), take](const std::string&, JobTargets& targets) {
                TargetTable& table = targets.table(Clock::now());
                if (!read_on(table)) return Walk::again;
                self->found_ = true;
                (self.get()->*take)(table);
                return Walk::end;
            },
            [self = shared_from_this(), then](bool complete) {
                self->slowly(complete ? then : &Trial::end_late);
            },
            failing(respond_), end_ - Clock::now());
    }

    void prepare() {
        if (question_.rules) config_.relabel_configs = read_tried_rules(*question_.rules, config_);
        laboratory_.emplace(std::move(config_), question_.rules ? tried_limits : own_rules_limits);
        if (question_.labels) laboratory_->try_on(*question_.labels);
        if (question_.id) return visit(&Trial::find_target, &Trial::try_target);
        go_on();
    }
    void go_on() {
        if (!question_.effect) return answer();
        visit(&Trial::take_targets, &Trial::try_targets);
    }

    void find_target(TargetTable& table) {
        const TargetRow* row = table.find(read_id(*question_.id));
        if (row) target_.emplace(*row);
    }
    void try_target() {
        if (!target_) {
            return respond_(json_error(404, "the job has no target with this id, or no longer"));
        }
        laboratory_->try_on(*target_);
        go_on();
    }

    void take_targets(TargetTable& table) { more_ = laboratory_->take(table, for_a_time_slice()); }
    void try_targets() {
        const auto pause = Clock::now() + std::chrono::milliseconds(100);
        const bool more_taken = laboratory_->try_on_taken([pause] { return Clock::now() < pause; });
        const bool late = (more_taken || more_) && Clock::now() >= end_;
        if (late) laboratory_->give_up();
        // A job that has ended has no targets.
        if (late || !found_) return visit(&Trial::read_examples, &Trial::answer);
        if (more_taken) return slowly(&Trial::try_targets);
        if (more_) return visit(&Trial::take_targets, &Trial::try_targets);
        visit(&Trial::read_examples, &Trial::answer);
    }
    void read_examples(TargetTable& table) { laboratory_->read_examples(table); }

    /// The time was over before the table was read.
    void end_late() {
        if (!question_.effect || (question_.id && !target_)) return respond_(too_long());
        laboratory_->give_up();
        answer();
    }
    void answer() { respond_(ui_reply(laboratory_->text(), coding_)); }

    const Question question_;
    k8s_sd::ScrapeConfig config_;  ///< until the laboratory exists
    const std::vector<NamedJob> jobs_;
    const std::shared_ptr<SlowWork> slow_;
    const std::string coding_;
    const HttpServer::Respond respond_;
    const Clock::time_point end_ = Clock::now() + max_walk_time;
    std::optional<Laboratory> laboratory_;
    std::optional<TakenTarget> target_;
    bool found_ = false;  ///< the job's table was available
    bool more_ = false;   ///< targets remain to be taken
};

void answer_relabel(const ServedJobs& jobs, const Gate& effects,
                    const std::shared_ptr<SlowWork>& slow, const HttpRoutes::Asked& asked,
                    const HttpServer::Respond& respond) {
    if (!asked.request.header(field::content_type).starts_with("application/json")) {
        return respond(json_error(415, "the Content-Type must be application/json"));
    }
    Question question = read_question(asked.request.body);
    k8s_sd::ScrapeConfig config = config_of(jobs, question);
    const Gate::Pass pass = question.effect ? effects.enter() : nullptr;
    if (question.effect && !pass) {
        return respond(json_error(503, "4 whole jobs are already being evaluated; try again"));
    }
    std::vector<NamedJob> named = jobs_named(jobs, question.job);
    std::make_shared<Trial>(std::move(question), std::move(config), std::move(named), slow,
                            std::string(asked.request.header(field::accept_encoding)),
                            [pass, respond](HttpServer::Reply reply) { respond(std::move(reply)); })
        ->start();
}

}  // namespace

void add_relabel_routes(HttpRoutes& routes, const ServedJobs& jobs, const Gate& gate,
                        const std::shared_ptr<SlowWork>& slow) {
    const Gate effects(max_concurrent);
    routes.on("POST", "/api/ui/relabel",
              question(gate, [&jobs, effects, slow](const auto& asked, const auto& respond) {
                  answer_relabel(jobs, effects, slow, asked, respond);
              }));
}

}  // namespace k8s_sd_program
