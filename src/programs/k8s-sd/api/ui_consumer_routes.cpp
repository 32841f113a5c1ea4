#include "api/ui_consumer_routes.hpp"

#include "api/api_reply.hpp"
#include "jobs/job_walk.hpp"
#include "table/json_writer.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd_program {

namespace {

using boost::beast::http::field;
using http::HttpRoutes;
using http::HttpServer;

constexpr std::size_t max_consumers = 1000;  // in a response
constexpr std::size_t usual_consumers = 200;

/// Strips the quotes of an ETag.
std::string_view version_in(std::string_view tag) {
    return tag.size() < 2 ? std::string_view() : tag.substr(1, tag.size() - 2);
}

/// A reader, and the present version of its list.
struct Reader {
    Consumers::Consumer consumer;
    std::optional<std::string> tag{};  ///< see JobTargets::known_tag()

    bool is_current() const { return tag && !tag->empty() && consumer.last.tag == *tag; }
    bool is_outdated() const { return tag && !consumer.last.tag.empty() && !is_current(); }
    /// Readers in need of attention come first.
    int rank() const {
        constexpr unsigned first_error = 400;
        if (consumer.late) return 0;
        if (consumer.last.status >= first_error) return 1;
        return is_outdated() ? 2 : 3;
    }
};

void write_text(JsonWriter& json, std::string_view name, std::string_view text) {
    json.name(name);
    text.empty() ? json.null() : json.value(text);
}

void write(JsonWriter& json, const Reader& reader) {
    const auto& [key, last, last_poll, polls, bytes, errors, late] = reader.consumer;
    json.begin('{').member("address", key.address).member("agent", key.agent);
    json.member("job", key.job).member("list", key.list).member("selection", key.selection);
    json.member("kind", to_string(last.kind));
    write_text(json, "member", last.member);
    json.name("shard");
    const bool sharded = last.selection && last.selection->division.shards != 0;
    sharded ? json.value(last.selection->shard) : json.null();
    write_text(json, "node", last.selection ? last.selection->node : std::string());
    json.name("interval");
    last.interval ? json.value(*last.interval) : json.null();
    json.member("last_poll",
                std::chrono::duration_cast<std::chrono::milliseconds>(last_poll.time_since_epoch())
                    .count());
    json.member("polls", polls).member("status", last.status);
    json.member("bytes", bytes).member("errors", errors);
    write_text(json, "version", version_in(last.tag));
    write_text(json, "current_version", version_in(reader.tag.value_or("")));
    json.member("current", reader.is_current()).member("late", late).end('}');
}

/// The requested page: so many readers after the first ones.
struct ConsumerPage {
    std::size_t after = 0, limit = usual_consumers;
    bool only_late = false;
};

class ConsumersAnswer {
 public:
    ConsumersAnswer(std::vector<Consumers::Consumer> consumers,
                    const AllocationViewPtr& collectors) {
        for (Consumers::Consumer& consumer : consumers) {
            if (consumer.last.selection && !consumer.last.selection->collector.empty()) {
                consumer.last.selection->division.collectors = collectors;
            }
            by_job_[consumer.key.job].push_back(readers_.size());
            readers_.push_back({std::move(consumer)});
        }
    }

    Walk visit(const std::string& job, const JobTargets& targets) {
        for (const std::size_t index : by_job_[job]) {
            Reader& reader = readers_[index];
            const ListPoll& last = reader.consumer.last;
            if (last.selection) reader.tag = targets.known_tag(last.content, *last.selection);
        }
        return Walk::next;
    }

    std::string text(const ConsumerPage& page, std::uint64_t dropped) {
        std::sort(readers_.begin(), readers_.end(), [](const Reader& a, const Reader& b) {
            if (a.rank() != b.rank()) return a.rank() < b.rank();
            return a.consumer.last_poll != b.consumer.last_poll
                       ? a.consumer.last_poll > b.consumer.last_poll
                       : a.consumer.key < b.consumer.key;
        });
        std::string text;
        JsonWriter json(text);
        json.begin('{').member("total", readers_.size()).member("late", late());
        json.member("outdated", outdated()).member("dropped", dropped);
        const std::size_t shown = page.only_late ? late() : readers_.size();
        const std::size_t begin = std::min(page.after, shown);
        const std::size_t end = std::min(begin + page.limit, shown);
        json.name("consumers").begin('[');
        for (std::size_t i = begin; i < end; ++i) write(json, readers_[i]);
        json.end(']').name("next");
        end < shown ? json.value(std::to_string(end)) : json.null();
        json.end('}');
        return text;
    }

 private:
    std::size_t late() const {
        return count([](const Reader& reader) { return reader.consumer.late; });
    }
    std::size_t outdated() const {
        return count([](const Reader& reader) { return reader.is_outdated(); });
    }
    template <class Predicate>
    std::size_t count(Predicate holds) const {
        return static_cast<std::size_t>(std::count_if(readers_.begin(), readers_.end(), holds));
    }

    std::vector<Reader> readers_;
    std::map<std::string, std::vector<std::size_t>, std::less<>> by_job_;
};

void answer_consumers(const ServedJobs& jobs, const TargetAllocator& allocator,
                      Consumers& consumers, const HttpRoutes::Asked& asked,
                      const HttpServer::Respond& respond) {
    const Parameters given(asked.query, {"limit", "after", "late"});
    const ConsumerPage page{given.number("after", 0, 0, Consumers::default_max),
                            given.number("limit", usual_consumers, 1, max_consumers),
                            given.flag("late")};
    const auto answer = std::make_shared<ConsumersAnswer>(
        consumers.all(std::chrono::system_clock::now()), allocator.view());
    walk(
        jobs_named(jobs),
        [answer](const std::string& job, JobTargets& targets) {
            return answer->visit(job, targets);
        },
        [answer, page, dropped = consumers.dropped(), respond,
         coding = std::string(asked.request.header(field::accept_encoding))](bool) {
            respond(ui_reply(answer->text(page, dropped), coding));
        },
        failing(respond));
}

}  // namespace

void add_consumer_routes(HttpRoutes& routes, const ServedJobs& jobs,
                         const TargetAllocator& allocator, Consumers& consumers, const Gate& gate) {
    routes.on("GET", "/api/ui/consumers",
              question(gate, [&](const auto& asked, const auto& respond) {
                  answer_consumers(jobs, allocator, consumers, asked, respond);
              }));
}

}  // namespace k8s_sd_program
