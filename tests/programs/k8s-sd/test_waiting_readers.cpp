#include "jobs/waiting_readers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using k8s_sd_program::is_known;
using k8s_sd_program::ListAnswer;
using k8s_sd_program::ListBody;
using k8s_sd_program::ListRequest;
using k8s_sd_program::Refusal;
using k8s_sd_program::WaitingReaders;
using namespace std::chrono_literals;

namespace {

/// A job with one list, and a stopped clock.
class Waiters {
 public:
    explicit Waiters(std::size_t most = 10) : readers(most, 100ms) {}

    void put(const std::string& text) {
        list = std::make_shared<const ListBody>(text);
        readers.changed();
        work();
    }
    /// \returns the number of the reader
    std::size_t ask(const std::string& known = "", std::chrono::seconds wait = 0s,
                    std::chrono::seconds first_list_timeout = 0s,
                    std::shared_ptr<const std::atomic<bool>> gone = {}) {
        answers.emplace_back();
        const std::size_t number = answers.size() - 1;
        readers.add(
            {.first_list_timeout = first_list_timeout,
             .known = known,
             .wait = wait,
             .gone = std::move(gone)},
            [this, number](const ListAnswer& answer) { answers[number].push_back(answer); }, now,
            [this](const ListRequest& request) { return answer_for(request); });
        return number;
    }
    void work() {
        readers.work(now, [this](const ListRequest& request) { return answer_for(request); });
    }
    ListAnswer answer_for(const ListRequest&) {
        if (list != seen) ++bodies;
        seen = list;
        if (list) return {list};
        return {{}, "not yet", Refusal::incomplete};
    }
    /// The response to a reader, "?" without one.
    std::string received(std::size_t number) const {
        if (answers[number].empty()) return "?";
        CHECK(answers[number].size() == 1);
        const ListAnswer& answer = answers[number][0];
        return answer.body ? *answer.body->bytes() : answer.refusal;
    }

    WaitingReaders::TimePoint now{1h};
    WaitingReaders readers;
    k8s_sd_program::ListBodyPtr list;
    k8s_sd_program::ListBodyPtr seen;
    std::size_t bodies = 0;  ///< the number of serialised bodies
    std::vector<std::vector<ListAnswer>> answers;
};

}  // namespace

TEST_CASE("WaitingReaders: the first complete list answers who waited for it") {
    Waiters job;
    const auto reader = job.ask("", 0s, 20s);
    CHECK(job.received(reader) == "?");
    CHECK(job.readers.due() == job.now + 20s);
    job.put("a");
    CHECK(job.received(reader) == "a");
    CHECK_FALSE(job.readers.due());
}

TEST_CASE("WaitingReaders: a timeout of the first list ends with the reason") {
    Waiters job;
    const auto reader = job.ask("", 100s, 20s);
    CHECK(job.received(job.ask()) == "not yet");
    job.now += 20s;
    job.work();
    CHECK(job.received(reader) == "not yet");
    CHECK(job.readers.size() == 0);
}

TEST_CASE("WaitingReaders: who knows the list waits for another one") {
    Waiters job;
    job.put("a");
    const auto reader = job.ask(job.list->tag(), 10s);
    const auto compressed = job.ask("\"x\", W/" + job.list->gzip_tag(), 10s);
    CHECK(job.received(job.ask("\"other\"", 10s)) == "a");
    CHECK(job.received(job.ask(job.list->tag())) == "a");
    CHECK(job.received(reader) == "?");
    job.now += 1s;
    job.put("b");
    CHECK(job.received(reader) == "b");
    CHECK(job.received(compressed) == "b");
}

TEST_CASE("WaitingReaders: when nothing changes in time the known list is the answer") {
    Waiters job;
    job.put("a");
    const auto reader = job.ask(job.list->tag(), 10s);
    job.now += 9s;
    job.work();
    CHECK(job.received(reader) == "?");
    job.now += 1s;
    job.work();
    CHECK(job.received(reader) == "a");
}

TEST_CASE("WaitingReaders: a reverted change wakes no reader") {
    Waiters job;
    job.put("a");
    const auto reader = job.ask(job.list->tag(), 10s);
    job.now += 1s;
    job.put("a");
    CHECK(job.received(reader) == "?");
}

TEST_CASE("WaitingReaders: lists that change all the time are put together at a pace") {
    Waiters job;
    job.put("0");
    const std::string first = job.list->tag();
    auto reader = job.ask(first, 100s);
    job.bodies = 0;
    std::string last = first;
    for (int i = 1; i <= 1000; ++i) {
        job.now += 1ms;
        job.put(std::to_string(i));
        if (job.received(reader) == "?") continue;
        // A reader that sends its next request at once.
        last = job.answers[reader][0].body->tag();
        reader = job.ask(last, 100s);
    }
    CHECK(job.bodies <= 11);
    CHECK(job.bodies >= 9);
    // The latest change is delivered after the pacing interval.
    REQUIRE(job.readers.due());
    CHECK(*job.readers.due() <= job.now + 100ms);
    job.now += 100ms;
    job.work();
    CHECK(job.received(reader) == "1000");
}

TEST_CASE("WaitingReaders: who does not wait is answered whatever the pace") {
    Waiters job;
    job.put("a");
    const auto waiting = job.ask(job.list->tag(), 10s);
    job.now += 1s;
    job.put("b");
    job.put("c");
    CHECK(job.received(waiting) == "b");
    CHECK(job.received(job.ask()) == "c");
    CHECK(job.received(job.ask("", 10s)) == "c");
}

TEST_CASE("WaitingReaders: a change that a reader has seen does not make it wait for the next") {
    Waiters job;
    job.put("a");
    job.now += 1s;
    const auto reader = job.ask(job.list->tag(), 10s);
    job.work();
    job.now += 1ms;
    job.put("b");
    CHECK(job.received(reader) == "b");
}

TEST_CASE("WaitingReaders: no reader waits above the limit") {
    Waiters job(1);
    job.put("a");
    const auto first = job.ask(job.list->tag(), 10s);
    const auto second = job.ask(job.list->tag(), 10s);
    CHECK(job.received(first) == "?");
    REQUIRE(job.answers[second].size() == 1);
    CHECK(job.answers[second][0].why == Refusal::limit);
    CHECK(job.answers[second][0].refusal ==
          "1 requests wait for lists of the job, which is the limit");
    CHECK(job.received(job.ask("\"other\"", 10s)) == "a");
}

TEST_CASE("WaitingReaders: at the end all are answered") {
    Waiters job;
    job.put("a");
    const auto reader = job.ask(job.list->tag(), 10s);
    job.readers.end([&](const ListRequest& request) { return job.answer_for(request); });
    CHECK(job.received(reader) == "a");
    CHECK_FALSE(job.readers.due());
}

TEST_CASE("WaitingReaders: who is gone is forgotten within a second, without an answer") {
    Waiters job;
    job.put("a");
    const auto gone = std::make_shared<std::atomic<bool>>(false);
    const auto leaves = job.ask(job.list->tag(), 100s, 0s, gone);
    const auto stays = job.ask(job.list->tag(), 100s);
    job.work();
    *gone = true;
    CHECK(job.readers.due() == job.now + 1s);
    job.now += 1s;
    job.work();
    CHECK(job.readers.size() == 1);
    CHECK(job.readers.due() == job.now + 99s);
    job.now += 1s;
    job.put("b");
    CHECK(job.received(leaves) == "?");
    CHECK(job.received(stays) == "b");
}

TEST_CASE("WaitingReaders: readers that have left do not count towards the limit") {
    Waiters job(1);
    const auto gone = std::make_shared<std::atomic<bool>>(false);
    const auto leaves = job.ask("", 0s, 100s, gone);
    *gone = true;
    job.now += 100ms;
    const auto next = job.ask("", 0s, 100s);
    CHECK(job.received(leaves) == "?");
    job.put("a");
    CHECK(job.received(next) == "a");
}
