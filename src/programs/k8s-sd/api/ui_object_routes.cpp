#include "api/ui_object_routes.hpp"

#include "api/api_reply.hpp"
#include "api/object_question.hpp"
#include "api/owner_parameters.hpp"
#include "cli/terminal_text.hpp"
#include "jobs/job_walk.hpp"
#include "jobs/job_yaml.hpp"
#include "table/json_writer.hpp"
#include "table/row_reader.hpp"
#include "table/target_json.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd_program {

namespace {

using boost::beast::http::field;
using http::HttpRoutes;
using http::HttpServer;
using Clock = std::chrono::steady_clock;

constexpr std::size_t max_rows_of_kind = 20;                 // of each kind, of a job
constexpr std::size_t max_objects = 20;                      // in the response
constexpr std::size_t max_row_bytes = std::size_t{1} << 20;  // of the rows of all jobs

/// The result in one job.
struct Found {
    std::string in{}, not_in{};  ///< rows
    std::size_t in_total = 0, not_total = 0;
    std::string reason{};  ///< of the first target not in the job
};

/// Facts about a job besides its targets.
struct KnownJob {
    std::string scope{};                          ///< in words
    std::optional<std::string> why_incomplete{};  ///< nullopt: it is complete
};
using KnownJobs = std::map<std::string, KnownJob, std::less<>>;

KnownJobs known_jobs(const ServedJobs& jobs) {
    KnownJobs known;
    for (const std::string_view name : jobs.names()) {
        known[std::string(name)].scope = in_words(jobs.config(name)->discovery);
    }
    for (auto& [name, why] : jobs.incomplete()) known[name].why_incomplete = std::move(why);
    return known;
}

class ObjectAnswer {
 public:
    ObjectAnswer(ObjectQuestion question, KnownJobs known, TargetOwners owners)
        : question_(std::move(question)), known_(std::move(known)), owners_(std::move(owners)) {}

    Walk visit(const std::string& job, TargetTable& table) {
        if (!read_on(table)) return Walk::again;
        if (std::exchange(reading_, job) != job) reader_ = {};
        const bool more =
            reader_.read(table, for_a_time_slice(), [&](const TargetRow& row, std::size_t) {
                take(table, row);
                return true;
            });
        if (more) return Walk::again;
        write_job(job, table);
        found_ = {};
        return Walk::next;
    }

    std::string text(bool complete) const {
        std::string text;
        JsonWriter json(text);
        json.begin('{').name("objects").begin('[');
        for (const std::string& object : objects_) json.value(object);
        json.end(']').member("found", !objects_.empty()).name("jobs").begin('[');
        for (const std::string& job : with_hits_) json.raw(job);
        for (const std::string& job : without_hits_) json.raw(job);
        json.end(']').member("complete", complete).end('}');
        return text;
    }

 private:
    void take(const TargetTable& table, const TargetRow& row) {
        std::string object = question_.object_of(row);
        if (object.empty()) return;
        if (objects_.size() < max_objects) objects_.insert(std::move(object));
        const bool in = row.state == TargetState::active;
        std::size_t& total = in ? found_.in_total : found_.not_total;
        std::string& rows = in ? found_.in : found_.not_in;
        if (!in && total == 0) found_.reason = cut(table.reason(row));
        if (++total > max_rows_of_kind || bytes_ > max_row_bytes) return;
        const std::size_t before = rows.size();
        if (!rows.empty()) rows += ',';
        JsonWriter json(rows);
        write_row(json, table, row, owners_);
        bytes_ += rows.size() - before;
    }

    std::string in_words(const std::string& name, const KnownJob& job,
                         std::size_t discovered) const {
        const auto targets = [](std::size_t number) { return cli::counted(number, "target"); };
        const std::string rest = job.why_incomplete ? "; " + *job.why_incomplete : std::string();
        if (found_.in_total != 0) {
            std::string text = "In job " + name + ": " + targets(found_.in_total);
            if (found_.not_total != 0) text += "; " + targets(found_.not_total) + " not";
            return text + rest;
        }
        if (found_.not_total != 0) return "Not in job " + name + ": " + found_.reason + rest;
        const std::string scope = "looks at " + job.scope;
        if (job.why_incomplete) {
            return "Not known yet of job " + name + ": " + scope + "; " + *job.why_incomplete;
        }
        return "Not in job " + name + ": " + scope + "; none of its " + targets(discovered) +
               " has " + question_.subject();
    }

    void write_job(const std::string& name, const TargetTable& table) {
        const KnownJob& job = known_.at(name);
        const bool hit = found_.in_total + found_.not_total != 0;
        JsonWriter json((hit ? with_hits_ : without_hits_).emplace_back());
        json.begin('{').member("job", name).member("complete", !job.why_incomplete);
        json.name("in").begin('[').raw(found_.in).end(']').member("in_total", found_.in_total);
        json.name("not").begin('[').raw(found_.not_in).end(']');
        json.member("not_total", found_.not_total);
        json.member("text", in_words(name, job, table.rows().size())).end('}');
    }

    const ObjectQuestion question_;
    const KnownJobs known_;
    const TargetOwners owners_;
    std::set<std::string> objects_;
    Found found_;
    std::size_t bytes_ = 0;                              ///< of the rows of all jobs
    std::vector<std::string> with_hits_, without_hits_;  ///< jobs, as JSON
    std::string reading_;
    RowReader reader_;
};

void answer_object(const ServedJobs& jobs, const TargetAllocator& allocator,
                   const HttpRoutes::Asked& asked, const HttpServer::Respond& respond) {
    const Parameters given(asked.query, {"q", "shards", "replicas"});
    const auto answer = std::make_shared<ObjectAnswer>(
        ObjectQuestion(given.text_or("q", "")), known_jobs(jobs), read_owners(given, allocator));
    const std::string coding(asked.request.header(field::accept_encoding));
    walk(
        jobs_named(jobs),
        [answer](const std::string& job, JobTargets& targets) {
            return answer->visit(job, targets.table(Clock::now()));
        },
        [answer, respond, coding](bool complete) {
            respond(ui_reply(answer->text(complete), coding));
        },
        failing(respond));
}

}  // namespace

void add_object_routes(HttpRoutes& routes, const ServedJobs& jobs, const TargetAllocator& allocator,
                       const Gate& gate) {
    routes.on("GET", "/api/ui/object",
              question(gate, [&jobs, &allocator](const auto& asked, const auto& respond) {
                  answer_object(jobs, allocator, asked, respond);
              }));
}

}  // namespace k8s_sd_program
