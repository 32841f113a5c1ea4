#include "api/ui_fleet_routes.hpp"

#include "api/api_reply.hpp"
#include "jobs/job_walk.hpp"
#include "table/json_writer.hpp"
#include "table/row_reader.hpp"
#include "table/shard_counts.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace bridge {

namespace {

using boost::beast::http::field;
using support::HttpRoutes;
using support::HttpServer;
using Clock = std::chrono::steady_clock;

constexpr std::size_t most_consumers = 1000;  // in an answer
constexpr std::size_t most_shards = 4096;     // as of lists
constexpr std::size_t most_replicas = 4;      // the same

void write(JsonWriter& json, const Consumers::Consumer& consumer) {
    const ConsumerKey& key = consumer.key;
    json.begin('{').member("address", key.address).member("agent", key.agent);
    json.member("job", key.job).member("list", key.list).member("selection", key.selection);
    json.name("interval");
    consumer.interval ? json.value(*consumer.interval) : json.null();
    json.member("last_poll", std::chrono::duration_cast<std::chrono::milliseconds>(
                                 consumer.last_poll.time_since_epoch())
                                 .count());
    json.member("polls", consumer.polls).member("status", consumer.status);
    json.member("bytes", consumer.bytes).member("errors", consumer.errors);
    json.member("current", consumer.current).member("late", consumer.late).end('}');
}

std::string consumers_json(const Consumers& consumers) {
    std::string text;
    JsonWriter json(text);
    json.begin('{').name("consumers").begin('[');
    for (const auto& consumer : consumers.all(std::chrono::system_clock::now(), most_consumers)) {
        write(json, consumer);
    }
    json.end(']').member("dropped", consumers.dropped()).end('}');
    return text;
}

struct ShardWalk {
    ShardCounts counts;
    std::string reading{};
    RowReader reader{};

    Walk look(const std::string& job, TargetTable& table) {
        if (!read_on(table)) return Walk::again;
        if (std::exchange(reading, job) != job) reader = {};
        const bool more = for_a_while([&] {
            return reader.read(table, rows_a_step, [&](const TargetRow& row, std::size_t) {
                counts.add(row, job);
                return true;
            });
        });
        return more ? Walk::again : Walk::next;
    }
};

ShardCounts read_shards(const Parameters& given) {
    const auto number = [&](std::string_view name, std::size_t usual, std::size_t most) {
        return static_cast<unsigned>(given.number(name, usual, 1, most));
    };
    const unsigned shards = number("shards", 8, most_shards);
    std::optional<unsigned> to;
    if (given.text("to")) to = number("to", 1, most_shards);
    return {shards, number("replicas", 1, most_replicas), to};
}

void answer_shards(const ServedJobs& jobs, const HttpRoutes::Asked& asked,
                   const HttpServer::Respond& respond) {
    const Parameters given(asked.query, {"job", "shards", "replicas", "to"});
    const auto shards = std::make_shared<ShardWalk>(ShardWalk{read_shards(given)});
    const std::string coding(asked.request.header(field::accept_encoding));
    walk(
        jobs_named(jobs, given.text_or("job", "")),
        [shards](const std::string& job, JobTargets& targets) {
            return shards->look(job, targets.table(Clock::now()));
        },
        [shards, respond, coding] { respond(json_reply(shards->counts.text(), coding)); });
}

}  // namespace

void add_fleet_routes(HttpRoutes& routes, const ServedJobs& jobs, const BridgeMetrics& metrics,
                      const Gate& gate) {
    routes.get("/api/ui/consumers", [&metrics](const HttpRoutes::Asked& asked) {
        return json_reply(consumers_json(metrics.consumers),
                          asked.request.header(field::accept_encoding));
    });
    routes.on("GET", "/api/ui/shards",
              question(gate, [&jobs](const auto& asked, const auto& respond) {
                  answer_shards(jobs, asked, respond);
              }));
}

}  // namespace bridge
