#include "integration/discovery/job_fixture.hpp"
#include "support/plain_lists.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

// --- running and cancelling ----------------------------------------------------------------------

TEST_CASE("DiscoveryManager: what was applied before it runs begins when it does") {
    Jobs j;
    JobHost host(j.context.get_executor());
    host.manager->apply_config({{"gone", {j.nodes()}}, {"a", {j.services()}}});
    host.manager->apply_config({{"a", {j.pods()}}, {"empty", {}}});
    j.settle();
    CHECK(j.take_requests().empty());
    CHECK(host.diffs == 0);
    CHECK(host.manager->status().size() == 2);
    CHECK(host.manager->status()[0].configs.at(0).status.watches.empty());
    CHECK(j.metrics->providers == 1);
    host.run();
    j.settle();
    CHECK(host.take_diffs() == "empty(full):; a(full): 3(full)[~p1 ~p2]");
    CHECK(j.take_requests().size() == 2);
    CHECK(host.problems() == "");
}

TEST_CASE("DiscoveryManager: cancel ends it promptly, and once") {
    Jobs j;
    j.settle_with({{"a", {j.pods(), Jobs::unusable()}}});
    j.host.manager->cancel();
    CHECK_FALSE(j.host.ended());  // the handler is posted, not called
    j.host.manager->cancel();
    CHECK(j.host.manager->status().empty());
    CHECK_FALSE(j.host.manager->snapshot("a"));
    j.server.apply(pod({.name = "p3"}));
    j.settle();
    CHECK(j.host.ended() == asio::error::operation_aborted);
    CHECK(j.host.take_diffs() == "a(full): 1(full)[~p1 ~p2]");  // no last diff without a change
    CHECK(j.settle_with({{"b", {Jobs::unusable(), j.pods()}}}).size() == 1);
    CHECK(j.host.manager->status().empty());
    CHECK(j.host.take_diffs().empty());
    CHECK(j.is_quiet());
}

TEST_CASE("DiscoveryManager: cancelled before it runs, it ends at once") {
    Jobs j;
    JobHost host(j.context.get_executor());
    host.manager->apply_config({{"a", {j.pods()}}});
    host.manager->cancel();
    host.run();
    j.host.manager->cancel();
    j.settle();
    CHECK(host.ended() == asio::error::operation_aborted);
    CHECK(host.diffs == 0);
    CHECK(j.is_quiet());
}

TEST_CASE("DiscoveryManager: it runs once at a time, and once at all") {
    Jobs j;
    j.settle_with({{"a", {j.pods()}}});
    std::optional<error_code> second;
    j.host.manager->async_run([&](error_code ec) { second = ec; });
    CHECK_FALSE(second);  // nothing from within async_run
    j.settle();
    CHECK(second == asio::error::already_started);
    CHECK(j.host.diffs == 1);
    j.host.manager->cancel();
    j.settle();
    CHECK(j.host.ended() == asio::error::operation_aborted);
    j.host.manager->async_run([&](error_code ec) { second = ec; });
    j.settle();
    CHECK(second == asio::error::operation_aborted);
    CHECK(j.is_quiet());
}

TEST_CASE("DiscoveryManager: the operation can be cancelled by a signal") {
    Jobs j;
    JobHost host(j.context.get_executor());
    asio::cancellation_signal signal;
    std::optional<error_code> ended;
    host.manager->async_run(
        asio::bind_cancellation_slot(signal.slot(), [&](error_code ec) { ended = ec; }));
    host.manager->apply_config({{"a", {j.pods()}}});
    j.settle();
    signal.emit(asio::cancellation_type::total);
    j.settle();
    CHECK_FALSE(ended);
    signal.emit(GENERATE(asio::cancellation_type::terminal, asio::cancellation_type::partial));
    j.settle();
    CHECK(ended == asio::error::operation_aborted);
    signal.emit(asio::cancellation_type::all);
    j.host.manager.reset();
    CHECK(j.is_quiet());
}

TEST_CASE("DiscoveryManager: the operation can be deferred, or a future") {
    Jobs j;
    JobHost deferred(j.context.get_executor());
    auto operation = deferred.manager->async_run();
    deferred.manager->apply_config({{"a", {j.pods()}}});
    j.settle();
    CHECK(deferred.diffs == 0);
    std::optional<error_code> ended;
    std::move(operation)([&](error_code ec) { ended = ec; });
    JobHost waited_for(j.context.get_executor());
    std::future<void> future = waited_for.manager->async_run(asio::use_future);
    j.settle();
    CHECK(deferred.diffs == 1);
    CHECK(future.wait_for(0s) == std::future_status::timeout);
    deferred.manager->cancel();
    waited_for.manager->cancel();
    j.settle();
    CHECK(ended == asio::error::operation_aborted);
    CHECK_THROWS_AS(future.get(), boost::system::system_error);
}

TEST_CASE("DiscoveryManager: a running manager keeps run() from returning, also without jobs") {
    Jobs j;
    j.settle();
    CHECK_FALSE(j.context.stopped());
    j.host.manager->cancel();
    j.settle();
    CHECK(j.context.stopped());
}

TEST_CASE("DiscoveryManager: nothing is delivered after cancel, whenever it comes") {
    Jobs j;
    j.apply({{"a", {j.pods()}}, {"b", {j.pods()}}, {"c", {}}});
    const int steps = GENERATE(range(0, 40));
    for (int i = 0; i < steps; ++i) j.context.poll_one();
    const std::size_t before = j.host.diffs;
    j.host.manager->cancel();
    j.settle();
    CHECK(j.host.diffs == before);
    CHECK(j.host.ended() == asio::error::operation_aborted);
    CHECK(j.is_quiet());
}

TEST_CASE("DiscoveryManager: a timer that waits for an interval does not outlive it") {
    Jobs j;
    j.settle_with({{"a", {j.pods()}, 10s}});
    j.label("p1", "1");
    j.settle();
    j.host.manager.reset();
    CHECK(j.is_quiet());
    CHECK(j.host.diffs == 1);
}

// --- in the callback -----------------------------------------------------------------------------

TEST_CASE("DiscoveryManager: a configuration can be applied in the callback") {
    Jobs j;
    j.host.after_diff = [&](const JobDiff& diff) {
        if (diff.job == "a" && diff.full) j.apply({{"b", {j.pods(), j.services()}}});
        if (diff.job == "b" && diff.full) j.apply({{"b", {j.services()}}, {"c", {j.pods()}}});
    };
    j.settle_with({{"a", {j.pods()}}});
    CHECK(j.host.jobs.size() == 2);
    CHECK(j.host.sources("b") == "s1");
    CHECK(j.host.sources("c") == "p1 p2");
    CHECK(j.take_requests().size() == 4);
    CHECK(j.host.problems() == "");
}

TEST_CASE("DiscoveryManager: the name of a job that is taken away in its callback stays readable") {
    Jobs j;
    const std::string name(100, 'a');
    std::string seen;
    j.host.after_diff = [&](const JobDiff& diff) {
        if (!diff.full) return;
        j.apply({});
        j.host.manager->cancel();
        seen = diff.job;
    };
    j.settle_with({{name, {j.pods()}}});
    CHECK(seen == name);
}

TEST_CASE("DiscoveryManager: cancel in the callback makes that call the last one") {
    Jobs j;
    j.host.after_diff = [&](const auto&) {
        j.server.apply(pod({.name = "p3"}));
        j.host.manager->cancel();
    };
    j.settle_with({{"a", {j.pods()}}, {"b", {j.pods()}}});
    CHECK(j.host.diffs == 1);
    CHECK(j.host.ended() == asio::error::operation_aborted);
    CHECK(j.is_quiet());
}

TEST_CASE("DiscoveryManager: it can be destroyed in its callback, and in its handler") {
    Jobs j;
    SECTION("callback") {
        j.host.after_diff = [&](const auto&) { j.host.manager.reset(); };
        j.settle_with({{"a", {j.pods()}}, {"b", {j.pods()}}});
        CHECK(j.host.diffs == 1);
        CHECK(j.host.ended() == asio::error::operation_aborted);
    }
    SECTION("handler") {
        std::optional<DiscoveryManager> manager;
        manager.emplace(j.context.get_executor(), [](const auto&) {});
        manager->async_run([&](error_code) { manager.reset(); });
        manager->apply_config({{"a", {j.pods()}}});
        j.settle();
        manager->cancel();
        j.settle();
        CHECK_FALSE(manager);
        j.host.manager.reset();
    }
    CHECK(j.is_quiet());
}

TEST_CASE("DiscoveryManager: an exception of the callback leaves through run, later diffs come") {
    Jobs j;
    bool broken = true;
    j.host.after_diff = [&](const auto&) {
        if (broken) throw std::runtime_error("host");
    };
    j.apply({{"a", {j.pods()}}, {"b", {j.pods()}}});
    CHECK_THROWS_AS(j.settle(), std::runtime_error);
    CHECK(j.host.diffs == 1);
    CHECK_THROWS_AS(j.settle(), std::runtime_error);  // the other job
    j.settle();
    CHECK(j.host.diffs == 2);  // they count as delivered
    j.label("p1", "1");
    CHECK_THROWS_AS(j.settle(), std::runtime_error);
    broken = false;
    j.settle();
    CHECK(j.host.diffs == 4);
    CHECK(j.host.take_diffs() ==
          "a(full): 1(full)[~p1 ~p2]; b(full): 1(full)[~p1 ~p2]; a: 1[~p1]; b: 1[~p1]");
    CHECK(j.host.problems() == "");
}

// --- lifetimes -----------------------------------------------------------------------------------

TEST_CASE("DiscoveryManager: it can be destroyed at any moment") {
    const int steps = GENERATE(range(0, 60, 3));
    Jobs j({.max_read = 100});
    j.apply({{"a", {j.pods(), j.services()}}, {"b", {j.pods()}, 5s}});
    for (int i = 0; i < steps; ++i) j.context.poll_one();
    j.apply({{"c", {j.services()}}, {"a", {j.pods()}}});
    for (int i = 0; i < steps; ++i) j.context.poll_one();
    j.host.manager.reset();
    CHECK(j.is_quiet());
}

TEST_CASE("DiscoveryManager: replacing one by another one asks the server nothing") {
    Jobs j;
    j.settle_with({{"a", {j.pods()}}});
    j.take_requests();
    JobHost next(j.context.get_executor());
    SECTION("the new one first") {
        next.manager->apply_config({{"a", {j.pods()}}});
        next.run();
        j.host.manager.reset();
    }
    SECTION("the old one just before") {
        j.host.manager.reset();
        next.run();
        next.manager->apply_config({{"a", {j.pods()}}});
    }
    j.settle();
    CHECK(j.take_requests().empty());
    CHECK(next.take_diffs() == "a(full): 1(full)[~p1 ~p2]");
    CHECK(next.problems() == "");
}

TEST_CASE("DiscoveryManager: moving keeps it running, assigning ends the one before") {
    Jobs j;
    int diffs = 0;
    std::optional<error_code> first_ended;
    DiscoveryManager first(j.context.get_executor(), [&](const auto&) { ++diffs; });
    first.async_run([&](error_code ec) { first_ended = ec; });
    first.apply_config({{"a", {j.pods()}}});
    DiscoveryManager moved(std::move(first));
    j.settle();
    CHECK(diffs == 1);
    DiscoveryManager second(j.context.get_executor(), [&](const auto&) { ++diffs; });
    second.async_run([](error_code) {});
    second.apply_config({{"a", {j.pods()}}});
    j.settle();
    CHECK(diffs == 2);
    moved = std::move(second);
    j.settle();
    CHECK(first_ended == asio::error::operation_aborted);
    j.server.apply(pod({.name = "p3"}));
    j.settle();
    CHECK(diffs == 3);
}

TEST_CASE("DiscoveryManager: the context may be destroyed with everything pending") {
    const int steps = GENERATE(range(0, 40, 2));
    CAPTURE(steps);
    auto alive = std::make_shared<int>();
    bool called_back = false;
    {
        Jobs j;
        j.host.manager.reset();
        std::optional<DiscoveryManager> manager;
        manager.emplace(j.context.get_executor(), [alive](const auto&) {});
        manager->async_run([alive, &called_back](error_code) { called_back = true; });
        manager->apply_config({{"a", {j.pods()}, 5s}, {"b", {j.pods(), j.services()}}});
        for (int i = 0; i < steps; ++i) j.context.poll_one();
        manager.reset();
        // Its handler is destroyed with the context.
    }
    CHECK_FALSE(called_back);
    CHECK(alive.use_count() == 1);
}

TEST_CASE("DiscoveryManager: the context may be destroyed with real clock and connector") {
    auto alive = std::make_shared<int>();
    {
        asio::io_context context;
        Environment environment;
        environment.logger.level = LogLevel::off;
        install(context, environment);
        DiscoveryConfig config{.watch = plain_lists()};
        config.api_server.url = "http://127.0.0.1:1";  // the port refuses, then the watch sleeps
        std::optional<DiscoveryManager> manager;
        int calls = 0;
        manager.emplace(context.get_executor(), [alive, &calls](const auto&) { ++calls; });
        manager->async_run([alive](error_code) {});
        manager->apply_config({{"a", {config}}, {"b", {}, 1h}});
        while (calls == 0 || !manager->status()[0].configs.at(0).status.error) {
            context.run_one_for(1s);
        }
        manager->apply_config({{"a", {config}}, {"b", {config}, 1h}});  // a timer is set
        context.poll();
    }
    CHECK(alive.use_count() == 1);
}

namespace {

/// Runs a manager during its destruction, twice: the second call is refused.
struct RunsAtItsEnd {
    explicit RunsAtItsEnd(std::shared_ptr<DiscoveryManager> m) : manager(std::move(m)) {}
    RunsAtItsEnd(RunsAtItsEnd&&) = default;
    ~RunsAtItsEnd() {
        if (!manager) return;
        manager->async_run([](error_code) {});
        manager->async_run([asks = AsksAtItsEnd(manager)](error_code) {});
    }
    void operator()() const {}

    /// Objects owned by a handler may use the manager in their destructors.
    struct AsksAtItsEnd {
        explicit AsksAtItsEnd(std::shared_ptr<DiscoveryManager> m) : manager(std::move(m)) {}
        AsksAtItsEnd(AsksAtItsEnd&&) = default;
        ~AsksAtItsEnd() {
            if (manager) manager->status();
        }
        std::shared_ptr<DiscoveryManager> manager;
    };
    std::shared_ptr<DiscoveryManager> manager;
};

}  // namespace

TEST_CASE("DiscoveryManager: a context that ends may destroy a refused handler at once") {
    auto context = std::make_unique<asio::io_context>();
    auto manager =
        std::make_shared<DiscoveryManager>(asio::make_strand(*context), [](const JobDiff&) {});
    asio::post(*context, RunsAtItsEnd(std::move(manager)));
    context.reset();
}
