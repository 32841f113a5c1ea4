#include "api/ui_fleet_routes.hpp"

#include "api/owner_parameters.hpp"
#include "jobs/job_walk.hpp"
#include "table/json_writer.hpp"
#include "table/row_reader.hpp"
#include "table/shard_counts.hpp"
#include "table/target_owners.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
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

struct ShardWalk {
    ShardCounts counts;
    std::string reading{};
    RowReader reader{};

    Walk visit(const std::string& job, TargetTable& table) {
        if (!read_on(table)) return Walk::again;
        if (std::exchange(reading, job) != job) reader = {};
        const bool more =
            reader.read(table, for_a_time_slice(), [&](const TargetRow& row, std::size_t) {
                counts.add(row, job);
                return true;
            });
        return more ? Walk::again : Walk::next;
    }
};

ShardCounts read_counts(const Parameters& given) {
    constexpr unsigned usual = 8;
    return {read_shards(given).value_or(usual), read_replicas(given), read_shards(given, "to")};
}

void answer_shards(const ServedJobs& jobs, const HttpRoutes::Asked& asked,
                   const HttpServer::Respond& respond) {
    const Parameters given(asked.query, {"job", "shards", "replicas", "to"});
    const std::string job = given.text_or("job", "");
    require_job(jobs, job);
    const auto shards = std::make_shared<ShardWalk>(ShardWalk{read_counts(given)});
    const std::string coding(asked.request.header(field::accept_encoding));
    walk(
        jobs_named(jobs, job),
        [shards](const std::string& name, JobTargets& targets) {
            return shards->visit(name, targets.table(Clock::now()));
        },
        [shards, respond, coding](bool complete) {
            respond(complete ? ui_reply(shards->counts.text(), coding) : too_long());
        },
        failing(respond));
}

/// The number of active targets of each collector.
class CollectorCounts {
 public:
    /// \param idle  present collectors without targets
    CollectorCounts(AllocationViewPtr view, const std::set<std::string, std::less<>>& idle)
        : view_(std::move(view)) {
        for (const Collector& member : view_->present().members()) counts_[member.name];
        for (const std::string& name : idle) counts_[name];
    }

    Walk visit(const std::string& job, TargetTable& table) {
        if (!read_on(table)) return Walk::again;
        if (reading_ != job) begin(job);
        const bool more =
            reader_.read(table, for_a_time_slice(), [&](const TargetRow& row, std::size_t) {
                if (row.state == TargetState::active) add(row);
                return true;
            });
        return more ? Walk::again : Walk::next;
    }

    std::string text() const {
        std::string text;
        JsonWriter json(text);
        json.begin('{').member("enabled", true).name("collectors").begin('[');
        for (const auto& [name, targets] : counts_) {
            json.begin('{').member("name", name).member("targets", targets);
            json.member("ready", view_->present().contains(name)).end('}');
        }
        std::size_t unassigned = 0;
        for (const OfJob& of_job : jobs_) unassigned += of_job.unassigned;
        json.end(']').member("unassigned", unassigned).name("jobs").begin('[');
        for (const OfJob& of_job : jobs_) {
            json.begin('{').member("job", of_job.job).member("targets", of_job.targets);
            json.member("unassigned", of_job.unassigned).end('}');
        }
        json.end(']').end('}');
        return text;
    }

 private:
    struct OfJob {
        std::string job;
        std::size_t targets = 0, unassigned = 0;
    };

    void begin(const std::string& job) {
        reading_ = job;
        reader_ = {};
        jobs_.push_back({job});
    }
    void add(const TargetRow& row) {
        ++jobs_.back().targets;
        const auto owners = collectors_of(row, *view_);
        if (owners.empty()) ++jobs_.back().unassigned;
        // During a handover one that has gone is among them.
        for (const std::string_view owner : owners) ++counts_[std::string(owner)];
    }

    const AllocationViewPtr view_;
    std::map<std::string, std::size_t> counts_;
    std::vector<OfJob> jobs_;
    std::string reading_;
    RowReader reader_;
};

/// \param trouble  why the collectors are unknown
std::string without_collectors(bool enabled, const std::string& trouble) {
    std::string text;
    JsonWriter json(text);
    json.begin('{').member("enabled", enabled).name("collectors").begin('[').end(']');
    json.member("unassigned", 0).name("jobs").begin('[').end(']');
    json.member("trouble", trouble).end('}');
    return text;
}

void answer_collectors(const ServedJobs& jobs, const TargetAllocator& allocator,
                       const HttpRoutes::Asked& asked, const HttpServer::Respond& respond) {
    const Parameters none(asked.query, {});
    const bool enabled = allocator.options().enabled();
    if (!allocator.view()) {
        return respond(
            ui_reply(without_collectors(enabled, enabled ? allocator.trouble() : std::string())));
    }
    const auto counts = std::make_shared<CollectorCounts>(allocator.view(), allocator.idle());
    walk(
        jobs_named(jobs),
        [counts](const std::string& job, JobTargets& targets) {
            return counts->visit(job, targets.table(Clock::now()));
        },
        [counts, respond, coding = std::string(asked.request.header(field::accept_encoding))](
            bool complete) { respond(complete ? ui_reply(counts->text(), coding) : too_long()); },
        failing(respond));
}

}  // namespace

void add_fleet_routes(HttpRoutes& routes, const ServedJobs& jobs, const TargetAllocator& allocator,
                      const Gate& gate) {
    routes.on("GET", "/api/ui/shards",
              question(gate, [&jobs](const auto& asked, const auto& respond) {
                  answer_shards(jobs, asked, respond);
              }));
    routes.on("GET", "/api/ui/collectors",
              question(gate, [&jobs, &allocator](const auto& asked, const auto& respond) {
                  answer_collectors(jobs, allocator, asked, respond);
              }));
}

}  // namespace k8s_sd_program
