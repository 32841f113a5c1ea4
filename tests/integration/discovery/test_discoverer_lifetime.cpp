#include "support/host.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace discoverer_lifetime_tests {

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

struct Pods : Simulation {
    explicit Pods(sim::TransportFaults faults = {}) : Simulation({}, faults) {
        server.apply(pod({.name = "p1"}));
    }
    DiscoveryConfig config() {
        DiscoveryConfig config{.watch = plain_lists()};
        config.api_server.url = server.url();
        return config;
    }
    std::int64_t watchers() const { return metrics->of(Kind::pod).watchers; }
    /// No trace of the discovery is left, and no work is pending.
    void check_quiet() {
        settle();
        CHECK(watchers() == 0);
        CHECK(server.open_connections() == 0);
        CHECK(clock->next_expiry() == TimePoint::max());
        take_requests();
        advance(1h);
        CHECK(take_requests().empty());
    }
};

}  // namespace

// --- cancellation --------------------------------------------------------------------------------

TEST_CASE("Discoverer: cancel ends it promptly, and once") {
    Pods p;
    Host host(p.context.get_executor(), p.config());
    host.run();
    p.settle();
    host.discoverer->cancel();
    CHECK_FALSE(host.ended());  // the handler is posted, not called
    host.discoverer->cancel();
    p.server.apply(pod({.name = "p2"}));
    p.settle();
    CHECK(host.ended() == asio::error::operation_aborted);
    CHECK(host.diffs == 1);
    p.check_quiet();
}

TEST_CASE("Discoverer: cancelled before it runs, it ends at once") {
    Pods p;
    Host host(p.context.get_executor(), p.config());
    host.discoverer->cancel();
    host.run();
    p.settle();
    CHECK(host.ended() == asio::error::operation_aborted);
    CHECK(host.diffs == 0);
    CHECK(p.take_requests().empty());
    p.check_quiet();
}

TEST_CASE("Discoverer: once cancelled it cannot be run again") {
    Pods p;
    Host host(p.context.get_executor(), p.config());
    host.run();
    p.settle();
    host.discoverer->cancel();
    p.settle();
    std::optional<error_code> second;
    host.discoverer->async_run([&](error_code ec) { second = ec; });
    p.settle();
    CHECK(second == asio::error::operation_aborted);
    p.check_quiet();
}

TEST_CASE("Discoverer: it runs once at a time") {
    Pods p;
    Host host(p.context.get_executor(), p.config());
    host.run();
    std::optional<error_code> second;
    host.discoverer->async_run([&](error_code ec) { second = ec; });
    p.settle();
    CHECK(second == asio::error::already_started);
    CHECK_FALSE(host.ended());
    CHECK(host.diffs == 1);
    host.discoverer->cancel();
    p.settle();
    CHECK(host.ended() == asio::error::operation_aborted);
}

TEST_CASE("Discoverer: cancel in the callback makes that call the last one") {
    Pods p;
    Host host(p.context.get_executor(), p.config());
    host.after_diff = [&](const auto&) {
        p.server.apply(pod({.name = "p2"}));
        host.discoverer->cancel();
    };
    host.run();
    p.settle();
    CHECK(host.diffs == 1);
    CHECK(host.ended() == asio::error::operation_aborted);
    p.check_quiet();
}

TEST_CASE("Discoverer: a diff that was posted is not delivered after cancel") {
    Pods p;
    Host host(p.context.get_executor(), p.config());
    host.run();
    // Cancels between any two handlers.
    const int steps = GENERATE(range(0, 30));
    for (int i = 0; i < steps; ++i) p.context.poll_one();
    const std::size_t before = host.diffs;
    host.discoverer->cancel();
    p.settle();
    CHECK(host.diffs == before);
    CHECK(host.ended() == asio::error::operation_aborted);
    p.check_quiet();
}

TEST_CASE("Discoverer: cancel from another thread") {
    Pods p;
    Host host(p.context.get_executor(), p.config());
    host.run();
    p.settle();
    std::thread([&] { host.discoverer->cancel(); }).join();
    p.settle();
    CHECK(host.ended() == asio::error::operation_aborted);
    p.check_quiet();
}

TEST_CASE("Discoverer: the operation can be cancelled by a signal") {
    Pods p;
    Host host(p.context.get_executor(), p.config());
    asio::cancellation_signal signal;
    std::optional<error_code> ended;
    host.discoverer->async_run(
        asio::bind_cancellation_slot(signal.slot(), [&](error_code ec) { ended = ec; }));
    p.settle();
    signal.emit(asio::cancellation_type::total);
    p.settle();
    CHECK_FALSE(ended);
    signal.emit(GENERATE(asio::cancellation_type::terminal, asio::cancellation_type::partial,
                         asio::cancellation_type::all));
    p.settle();
    CHECK(ended == asio::error::operation_aborted);
    signal.emit(asio::cancellation_type::all);
    host.discoverer.reset();
    signal.emit(asio::cancellation_type::all);
    p.check_quiet();
}

TEST_CASE("Discoverer: a signal before anything ran, and two at once") {
    Pods p;
    Host host(p.context.get_executor(), p.config());
    asio::cancellation_signal signal;
    std::optional<error_code> ended;
    host.discoverer->async_run(
        asio::bind_cancellation_slot(signal.slot(), [&](error_code ec) { ended = ec; }));
    signal.emit(asio::cancellation_type::terminal);
    signal.emit(asio::cancellation_type::terminal);
    p.settle();
    CHECK(ended == asio::error::operation_aborted);
    CHECK(host.diffs == 0);
    p.check_quiet();
}

// --- completion tokens ---------------------------------------------------------------------------

TEST_CASE("Discoverer: the operation can be deferred") {
    Pods p;
    Host host(p.context.get_executor(), p.config());
    auto operation = host.discoverer->async_run();
    p.settle();
    CHECK(p.take_requests().empty());
    std::optional<error_code> ended;
    std::move(operation)([&](error_code ec) { ended = ec; });
    p.settle();
    CHECK(host.diffs == 1);
    host.discoverer->cancel();
    p.settle();
    CHECK(ended == asio::error::operation_aborted);
}

TEST_CASE("Discoverer: the operation can be a future") {
    Pods p;
    Host host(p.context.get_executor(), p.config());
    std::future<void> future = host.discoverer->async_run(asio::use_future);
    p.settle();
    CHECK(host.diffs == 1);
    CHECK(future.wait_for(0s) == std::future_status::timeout);
    host.discoverer->cancel();
    p.settle();
    REQUIRE(future.wait_for(0s) == std::future_status::ready);
    CHECK_THROWS_AS(future.get(), boost::system::system_error);
}

TEST_CASE("Discoverer: a handler that can only be moved, on an executor of its own") {
    Pods p;
    asio::io_context other;
    Host host(p.context.get_executor(), p.config());
    auto owned = std::make_unique<int>(7);
    int seen = 0;
    host.discoverer->async_run(asio::bind_executor(
        other.get_executor(), [&seen, owned = std::move(owned)](error_code) { seen = *owned; }));
    p.settle();
    host.discoverer->cancel();
    p.settle();
    CHECK(seen == 0);
    CHECK(settle(other) == 1);
    CHECK(seen == 7);
}

TEST_CASE("Discoverer: a running discoverer keeps run() from returning, nothing else does") {
    Pods p;
    Host host(p.context.get_executor(), p.config());
    p.settle();
    CHECK(p.context.stopped());
    host.run();
    p.settle();
    CHECK_FALSE(p.context.stopped());
    host.discoverer->cancel();
    p.settle();
    CHECK(p.context.stopped());
}

// --- lifetimes -----------------------------------------------------------------------------------

TEST_CASE("Discoverer: it can be destroyed at any moment") {
    const auto action = GENERATE(0, 1);
    const int steps = GENERATE(range(0, 60, 3));
    CAPTURE(steps, action);
    Pods p({.max_read = 100});
    auto host = std::make_unique<Host>(p.context.get_executor(), p.config());
    host->run();
    for (int i = 0; i < steps; ++i) p.context.poll_one();
    action == 0 ? host->discoverer.reset() : host.reset();
    p.check_quiet();
}

TEST_CASE("Discoverer: it can be destroyed while it cannot reach the server") {
    Pods p;
    Host host(p.context.get_executor(), p.config());
    SECTION("connecting") {
        host.run();
        p.context.poll_one();
    }
    SECTION("waiting for an answer") {
        p.server.fail_next(sim::Response::never());
        host.run();
        p.settle();
    }
    SECTION("sleeping") {
        p.server.accept_connections(false);
        host.run();
        p.settle();
    }
    SECTION("not yet running") {}
    host.discoverer.reset();
    p.check_quiet();
    CHECK(host.diffs == 0);
}

TEST_CASE("Discoverer: it can be destroyed in its callback") {
    Pods p;
    Host host(p.context.get_executor(), p.config());
    host.after_diff = [&](const auto&) { host.discoverer.reset(); };
    host.run();
    p.settle();
    CHECK(host.diffs == 1);
    CHECK(host.ended() == asio::error::operation_aborted);
    p.check_quiet();
}

TEST_CASE("Discoverer: it can be destroyed in its handler, and in another one's callback") {
    Pods p;
    auto first = std::make_unique<Host>(p.context.get_executor(), p.config());
    std::optional<Discoverer> second;
    second.emplace(p.context.get_executor(), p.config(), [&](const auto&) { first.reset(); });
    second->async_run([&](error_code) { second.reset(); });
    first->run();
    p.settle();
    CHECK_FALSE(first);
    second->cancel();
    p.settle();
    CHECK_FALSE(second);
    p.check_quiet();
}

TEST_CASE("Discoverer: moving keeps it running, assigning ends the one before") {
    Pods p;
    int diffs = 0;
    std::optional<error_code> first_ended;
    std::optional<error_code> second_ended;
    Discoverer first(p.context.get_executor(), p.config(), [&](const auto&) { ++diffs; });
    first.async_run([&](error_code ec) { first_ended = ec; });
    Discoverer moved(std::move(first));
    p.settle();
    CHECK(diffs == 1);
    Discoverer second(p.context.get_executor(), p.config(), [&](const auto&) { ++diffs; });
    second.async_run([&](error_code ec) { second_ended = ec; });
    p.settle();
    CHECK(diffs == 2);
    moved = std::move(second);
    p.settle();
    CHECK(first_ended == asio::error::operation_aborted);
    CHECK_FALSE(second_ended);
    p.server.apply(pod({.name = "p2"}));
    p.settle();
    CHECK(diffs == 3);
}

TEST_CASE("Discoverer: groups outlive everything") {
    std::map<std::string, TargetGroupPtr> kept;
    {
        Pods p;
        Host host(p.context.get_executor(), p.config());
        host.run();
        p.settle();
        kept = host.groups;
    }
    REQUIRE(kept.size() == 1);
    CHECK(kept.begin()->second->source() == "pod/default/p1");
    CHECK(kept.begin()->second->merged(0).at("__meta_kubernetes_pod_name") == "p1");
}

TEST_CASE("Discoverer: the context may be destroyed with everything pending") {
    const int steps = GENERATE(range(0, 40, 2));
    CAPTURE(steps);
    auto alive = std::make_shared<int>();
    bool called_back = false;
    {
        Pods p;
        std::vector<std::unique_ptr<Discoverer>> discoverers;
        for (int i = 0; i < 3; ++i) {
            discoverers.push_back(std::make_unique<Discoverer>(p.context.get_executor(), p.config(),
                                                               [alive](const auto&) {}));
            discoverers.back()->async_run(
                [alive, &called_back](error_code) { called_back = true; });
        }
        for (int i = 0; i < steps; ++i) p.context.poll_one();
        discoverers.clear();
        // Their handlers are destroyed with the context.
    }
    CHECK_FALSE(called_back);
    CHECK(alive.use_count() == 1);
}

TEST_CASE("Discoverer: the context may be destroyed with real clock and connector") {
    auto alive = std::make_shared<int>();
    {
        asio::io_context context;
        Environment environment;
        environment.logger.level = LogLevel::off;
        install(context, environment);
        DiscoveryConfig config{.watch = plain_lists()};
        config.api_server.url = "http://127.0.0.1:1";  // the port refuses, then the watch sleeps
        Discoverer discoverer(context.get_executor(), config, [alive](const auto&) {});
        discoverer.async_run([alive](error_code) {});
        while (!discoverer.status().error) context.run_one_for(1s);
    }
    CHECK(alive.use_count() == 1);
}

}  // namespace discoverer_lifetime_tests
