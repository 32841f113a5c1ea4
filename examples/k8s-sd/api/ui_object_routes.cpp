#include "api/ui_object_routes.hpp"

#include "api/api_reply.hpp"
#include "api/object_question.hpp"
#include "jobs/job_walk.hpp"
#include "table/json_writer.hpp"
#include "table/row_reader.hpp"
#include "table/target_json.hpp"

#include <chrono>
#include <memory>
#include <set>
#include <utility>

namespace bridge {

namespace {

using boost::beast::http::field;
using support::HttpRoutes;
using support::HttpServer;
using Clock = std::chrono::steady_clock;

constexpr std::size_t most_rows = 20;     // of each kind, of a job
constexpr std::size_t most_objects = 20;  // that are named

/// What is found in one job.
struct Found {
    std::string in{}, not_in{};  ///< rows
    std::size_t in_total = 0, not_total = 0;
    std::string reason{};  ///< of the first one that is not in it
};

class Answer {
 public:
    explicit Answer(ObjectQuestion question) : question_(std::move(question)) {}

    Walk look(const std::string& job, TargetTable& table) {
        if (!read_on(table)) return Walk::again;
        if (std::exchange(reading_, job) != job) reader_ = {};
        const bool more = for_a_while([&] {
            return reader_.read(table, rows_a_step, [&](const TargetRow& row, std::size_t) {
                take(table, row);
                return true;
            });
        });
        if (more) return Walk::again;
        write_job(job, table);
        found_ = {};
        return Walk::next;
    }

    std::string text() const {
        std::string text;
        JsonWriter json(text);
        json.begin('{').name("objects").begin('[');
        for (const std::string& object : objects_) json.value(object);
        json.end(']').member("found", !objects_.empty());
        json.name("jobs").begin('[').raw(jobs_).end(']').end('}');
        return text;
    }

 private:
    void take(const TargetTable& table, const TargetRow& row) {
        std::string object = question_.object_of(row);
        if (object.empty()) return;
        if (objects_.size() < most_objects) objects_.insert(std::move(object));
        const bool in = row.state == TargetState::active;
        std::size_t& total = in ? found_.in_total : found_.not_total;
        std::string& rows = in ? found_.in : found_.not_in;
        if (!in && total == 0) found_.reason = table.reason(row);
        if (++total > most_rows) return;
        if (!rows.empty()) rows += ',';
        JsonWriter json(rows);
        write_row(json, table, row);
    }

    std::string in_words(const TargetTable& table) const {
        if (found_.in_total != 0 && found_.not_total == 0) return "is in it";
        if (found_.in_total != 0) return "is in it, and other targets of it are not";
        if (found_.not_total != 0) return "is not in it: " + found_.reason;
        return "is none of its " + std::to_string(table.rows().size()) + " discovered targets";
    }

    void write_job(const std::string& job, const TargetTable& table) {
        jobs_json_.begin('{').member("job", job);
        jobs_json_.name("in").begin('[').raw(found_.in).end(']');
        jobs_json_.member("in_total", found_.in_total);
        jobs_json_.name("not").begin('[').raw(found_.not_in).end(']');
        jobs_json_.member("not_total", found_.not_total);
        jobs_json_.member("text", in_words(table)).end('}');
    }

    const ObjectQuestion question_;
    std::set<std::string> objects_;
    Found found_;
    std::string jobs_, reading_;
    JsonWriter jobs_json_{jobs_};
    RowReader reader_;
};

void answer_object(const ServedJobs& jobs, const HttpRoutes::Asked& asked,
                   const HttpServer::Respond& respond) {
    const Parameters given(asked.query, {"q"});
    const auto answer = std::make_shared<Answer>(ObjectQuestion(given.text_or("q", "")));
    const std::string coding(asked.request.header(field::accept_encoding));
    walk(
        jobs_named(jobs),
        [answer](const std::string& job, JobTargets& targets) {
            return answer->look(job, targets.table(Clock::now()));
        },
        [answer, respond, coding] { respond(json_reply(answer->text(), coding)); });
}

}  // namespace

void add_object_routes(HttpRoutes& routes, const ServedJobs& jobs, const Gate& gate) {
    routes.on("GET", "/api/ui/object",
              question(gate, [&jobs](const auto& asked, const auto& respond) {
                  answer_object(jobs, asked, respond);
              }));
}

}  // namespace bridge
