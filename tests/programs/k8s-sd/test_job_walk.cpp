#include "jobs/gate.hpp"
#include "jobs/job_walk.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

using namespace k8s_sd_program;

namespace {

/// Jobs of these names, and a thread for them.
struct WalkedJobs {
    explicit WalkedJobs(const std::vector<std::string>& names) {
        for (const std::string& name : names) {
            k8s_sd::ScrapeConfig config;
            config.job_name = name;
            jobs.emplace_back(name, std::make_shared<ServedJob>(
                                        io.get_executor(), config, ServeOptions{},
                                        [] { return std::string("why"); }, metrics));
        }
    }
    /// The visited jobs.
    std::string walk_all(const std::function<Walk(const std::string&)>& visit) {
        std::string seen;
        walk(
            jobs,
            [&, visit](const std::string& job, JobTargets&) {
                seen += job;
                return visit(job);
            },
            [&](bool complete) {
                ++done;
                was_complete = complete;
                if (done_throws) throw std::bad_alloc();
            },
            [&](const std::exception_ptr& error) {
                ++failed;
                failure = error;
            },
            longest);
        io.run();
        return seen;
    }

    boost::asio::io_context io;
    ListMetrics metrics;
    std::vector<NamedJob> jobs;
    std::chrono::nanoseconds longest = max_walk_time;
    int done = 0, failed = 0;
    bool was_complete = false, done_throws = false;
    std::exception_ptr failure;
};

}  // namespace

TEST_CASE("walk: visits one job after the other, again where there is more to do") {
    WalkedJobs jobs({"a", "b", "c"});
    int times = 0;
    CHECK(jobs.walk_all([&](const std::string& job) {
        return job == "b" && ++times < 3 ? Walk::again : Walk::next;
    }) == "abbbc");
    CHECK(jobs.done == 1);
}

TEST_CASE("walk: an exception of a visit ends the walk, and nothing else") {
    WalkedJobs jobs({"a", "b", "c"});
    CHECK(jobs.walk_all([](const std::string& job) {
        if (job == "b") throw std::bad_alloc();
        return Walk::next;
    }) == "ab");
    CHECK(jobs.done == 0);
    CHECK(jobs.failed == 1);
    CHECK_THROWS_AS(std::rethrow_exception(jobs.failure), std::bad_alloc);
}

TEST_CASE("walk: an exception of the end is reported as well") {
    WalkedJobs jobs({"a"});
    jobs.done_throws = true;
    CHECK(jobs.walk_all([](const std::string&) { return Walk::next; }) == "a");
    CHECK(jobs.done == 1);
    CHECK(jobs.failed == 1);
    WalkedJobs none({});
    none.done_throws = true;
    none.walk_all([](const std::string&) { return Walk::next; });
    CHECK(none.failed == 1);
}

TEST_CASE("SlowWork: a piece that throws fails alone, and pieces behind the end do not begin") {
    boost::asio::io_context io;
    SlowWork slow(io.get_executor());
    std::atomic<int> ran = 0, failed = 0, stopped = 0;
    const OnFailure failing = [&](const std::exception_ptr& error) {
        ++failed;
        try {
            std::rethrow_exception(error);
        } catch (const SlowWork::Stopped&) {
            ++stopped;
        } catch (const std::bad_alloc&) {
        }
        throw std::bad_alloc();  // no memory for an answer
    };
    // A context that has run out of work stays stopped.
    auto all_are_there = boost::asio::make_work_guard(io);
    slow.run([] { throw std::bad_alloc(); }, failing);
    slow.run([&] { ++ran; }, failing);
    slow.run([&] { slow.stop(); }, failing);
    slow.run([&] { ++ran; }, failing);
    // The context has work until all parts have ended.
    all_are_there.reset();
    io.run();
    CHECK(ran == 1);
    CHECK(failed == 2);
    CHECK(stopped == 1);
}

TEST_CASE("walk: ends where nothing of the other jobs is needed") {
    WalkedJobs jobs({"a", "b", "c"});
    CHECK(jobs.walk_all(
              [](const std::string& job) { return job == "b" ? Walk::end : Walk::next; }) == "ab");
    CHECK(jobs.done == 1);
}

TEST_CASE("walk: a job that has ended, or ends meanwhile, does not delay the others") {
    WalkedJobs jobs({"a", "b", "c", "d"});
    jobs.jobs[1].second->stop("gone");
    CHECK(jobs.walk_all([&](const std::string& job) {
                  if (job == "c") jobs.jobs[2].second->stop("gone");
                  return job == "c" ? Walk::again : Walk::next;
              })
              .ends_with("d"));
    CHECK(jobs.done == 1);
}

TEST_CASE("walk: without jobs it is done at once") {
    WalkedJobs jobs({});
    CHECK(jobs.walk_all([](const std::string&) { return Walk::next; }).empty());
    CHECK(jobs.done == 1);
}

TEST_CASE("walk: ends when its time is over, and says so") {
    WalkedJobs jobs({"a", "b"});
    jobs.longest = std::chrono::nanoseconds(0);
    CHECK(jobs.walk_all([](const std::string&) { return Walk::again; }) == "a");
    CHECK(jobs.done == 1);
    CHECK_FALSE(jobs.was_complete);
}

TEST_CASE("walk: a walk that has visited all jobs is complete, however late") {
    WalkedJobs jobs({"a"});
    jobs.longest = std::chrono::nanoseconds(0);
    CHECK(jobs.walk_all([](const std::string&) { return Walk::next; }) == "a");
    CHECK(jobs.was_complete);
}

TEST_CASE("ServedJob: drops a table without requests, even if the job does not change") {
    boost::asio::io_context io;
    ListMetrics metrics;
    ServeOptions options;
    options.lists.forget_after = {};
    options.sweep = {};
    const auto job = std::make_shared<ServedJob>(
        io.get_executor(), k8s_sd::ScrapeConfig{.job_name = "a"}, options,
        [] { return std::string("why"); }, metrics);
    bool kept = false;
    job->visit([&](JobTargets& targets) {
        targets.table(std::chrono::steady_clock::now());
        kept = targets.keeps_something();
    });
    io.run();
    CHECK(kept);
    io.restart();
    job->visit([&](JobTargets& targets) { kept = targets.keeps_something(); });
    io.run();
    CHECK_FALSE(kept);
}

TEST_CASE("Gate: lets so many in at a time") {
    const Gate gate(2);
    const Gate same = gate;
    auto first = gate.enter();
    const auto second = same.enter();
    CHECK((first && second));
    CHECK_FALSE(gate.enter());
    const auto copy = first;
    first = nullptr;
    CHECK_FALSE(gate.enter());
}

TEST_CASE("Gate: who leaves makes room") {
    const Gate gate(1);
    for (int i = 0; i < 3; ++i) {
        const auto pass = gate.enter();
        CHECK(pass);
    }
}
