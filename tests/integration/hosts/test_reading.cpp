#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "support/objects.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

using Lines = std::vector<std::string>;

struct Read : Simulation {
    template <class Config>
    Config config() {
        Config config;
        config.api_server.url = server.url();
        return config;
    }
};

std::string text_of(const ObjectDiff<api::Pod>& diff) {
    std::string text = diff.full ? "full" : "";
    for (const auto& pod : diff.added) text += " +" + std::string(pod->metadata.name);
    for (const auto& [before, after] : diff.changed)
        text += " ~" + std::string(after->metadata.name);
    for (const auto& pod : diff.removed) text += " -" + std::string(pod->metadata.name);
    return text;
}

std::string text_of(const TargetGroupDiff& diff) {
    std::string text = diff.full ? "full" : "";
    for (const GroupChange& change : diff.updated)
        text += " " + std::string(change.group->source());
    for (const TargetGroupPtr& group : diff.removed) text += " -" + std::string(group->source());
    return text;
}

/// A handle of a reading host, and the results of its reads.
template <class Handle, class Config>
struct ReadingHost {
    explicit ReadingHost(Read& read) : handle(read.context.get_executor(), read.config<Config>()) {}
    void next() {
        handle.async_next([this](error_code ec, const auto& diff) {
            received.push_back(ec ? ec.message() : text_of(diff));
        });
    }
    Lines take() { return std::exchange(received, {}); }

    Handle handle;
    Lines received;
};
using ReadingWatcher = ReadingHost<Watcher<api::Pod>, WatcherConfig>;
using ReadingDiscoverer = ReadingHost<Discoverer, DiscoveryConfig>;

const std::string aborted = error_code(asio::error::operation_aborted).message();
const std::string started = error_code(asio::error::already_started).message();
const std::string invalid = error_code(asio::error::invalid_argument).message();

}  // namespace

TEST_CASE("reading: the complete state comes first, then what has changed since, all in one") {
    Read read;
    read.server.apply(pod({.name = "a"}));
    ReadingWatcher pods(read);
    read.settle();
    CHECK(read.server.requests().empty());  // no read has started yet
    pods.next();
    read.settle();
    CHECK(pods.take() == Lines{"full +a"});
    for (int i = 0; i < 10; ++i) {
        read.server.apply(pod({.name = "a", .node = "n" + std::to_string(i)}));
        read.server.apply(pod({.name = "b" + std::to_string(i)}));
        read.server.remove("pods", "default", "b" + std::to_string(i));
        read.settle();
    }
    CHECK(pods.take().empty());
    pods.next();
    read.settle();
    CHECK(pods.take() == Lines{" ~a"});
    pods.next();
    read.settle();
    CHECK(pods.take().empty());
    read.server.remove("pods", "default", "a");
    read.settle();
    CHECK(pods.take() == Lines{" -a"});
}

TEST_CASE("reading: a discoverer is read like a watcher") {
    Read read;
    read.server.apply(pod({.name = "a"}));
    ReadingDiscoverer pods(read);
    pods.next();
    read.settle();
    CHECK(pods.take() == Lines{"full pod/default/a"});
    read.server.apply(pod({.name = "b"}));
    read.server.remove("pods", "default", "a");
    read.settle();
    pods.next();
    read.settle();
    CHECK(pods.take() == Lines{" pod/default/b -pod/default/a"});
}

TEST_CASE("reading: one at a time, and not where there is a callback") {
    Read read;
    ReadingWatcher pods(read);
    pods.next();
    pods.next();
    read.settle();
    CHECK(pods.take() == Lines{started, "full"});

    Watcher<api::Pod> called(read.context.get_executor(), read.config<WatcherConfig>(),
                             [](const ObjectDiff<api::Pod>&) {});
    std::string said;
    called.async_next([&](error_code ec, const ObjectDiff<api::Pod>&) { said = ec.message(); });
    read.settle();
    CHECK(said == invalid);
}

TEST_CASE("reading: a handle that is cancelled or destroyed ends the reading") {
    Read read;
    ReadingWatcher pods(read);
    pods.next();
    read.settle();
    pods.take();
    pods.next();
    read.settle();
    CHECK(pods.received.empty());
    pods.handle.cancel();
    read.settle();
    CHECK(pods.take() == Lines{aborted});
    pods.next();
    read.settle();
    CHECK(pods.take() == Lines{aborted});

    Lines received;
    std::optional<Discoverer> discoverer(std::in_place, read.context.get_executor(),
                                         read.config<DiscoveryConfig>());
    discoverer->async_next(
        [&](error_code ec, const TargetGroupDiff&) { received.push_back(ec.message()); });
    discoverer.reset();
    CHECK(received.empty());
    read.settle();
    CHECK(received == Lines{aborted});
}

TEST_CASE("reading: what a cancelled read would have brought is brought by the next one") {
    Read read;
    read.server.apply(pod({.name = "a"}));
    ReadingWatcher pods(read);
    asio::cancellation_signal signal;
    std::string said;
    pods.handle.async_next(asio::bind_cancellation_slot(
        signal.slot(), [&](error_code ec, const auto&) { said = ec.message(); }));
    signal.emit(asio::cancellation_type::partial);
    read.settle();
    CHECK(said == aborted);
    pods.next();
    read.settle();
    CHECK(pods.take() == Lines{"full +a"});
}

TEST_CASE("reading: a large diff is read in parts, at once after each other") {
    Read read;
    for (const char* name : {"a", "b", "c"}) read.server.apply(pod({.name = name}));
    DiscoveryConfig config = read.config<DiscoveryConfig>();
    config.max_groups_per_diff = 2;
    config.min_update_interval = 10s;
    Discoverer discoverer(read.context.get_executor(), config);
    std::vector<TargetGroupDiff> received;
    const auto next = [&] {
        discoverer.async_next(
            [&](error_code, const TargetGroupDiff& diff) { received.push_back(diff); });
        read.settle();
    };
    next();
    REQUIRE(received.size() == 1);
    CHECK(received[0].full);
    CHECK(received[0].more);
    CHECK(received[0].updated.size() == 2);
    next();
    REQUIRE(received.size() == 2);
    CHECK_FALSE(received[1].full);
    CHECK_FALSE(received[1].more);
    CHECK(received[1].updated.size() == 1);
    next();
    read.server.remove("pods", "default", "a");
    read.advance(9s);
    CHECK(received.size() == 2);
    read.advance(1s);
    CHECK(received.size() == 3);
}

TEST_CASE("reading: the least interval holds") {
    Read read;
    WatcherConfig config = read.config<WatcherConfig>();
    config.min_update_interval = 10s;
    Watcher<api::Pod> watcher(read.context.get_executor(), config);
    Lines received;
    const auto next = [&] {
        watcher.async_next(
            [&](error_code, const auto& diff) { received.push_back(text_of(diff)); });
    };
    next();
    read.settle();
    CHECK(received == Lines{"full"});
    next();
    read.server.apply(pod({.name = "a"}));
    read.settle();
    CHECK(received.size() == 1);
    read.advance(10s);
    CHECK(received == Lines{"full", " +a"});
}

TEST_CASE("reading: a coroutine reads in a loop") {
    Read read;
    read.server.apply(pod({.name = "a"}));
    Watcher<api::Pod> watcher(read.context.get_executor(), read.config<WatcherConfig>());
    Lines received;
    const auto loop = [&]() -> asio::awaitable<void> {
        for (int i = 0; i < 2; ++i) {
            const ObjectDiff<api::Pod> diff = co_await watcher.async_next(asio::use_awaitable);
            received.push_back(text_of(diff));
        }
    };
    asio::co_spawn(read.context, loop, asio::detached);
    read.settle();
    read.server.apply(pod({.name = "b"}));
    read.settle();
    CHECK(received == Lines{"full +a", " +b"});
}

TEST_CASE("reading: a context may end while somebody reads and waits") {
    bool called = false;
    {
        Read read;
        ReadingWatcher pods(read);
        pods.handle.async_next([&](error_code, const auto&) { called = true; });
        pods.handle.async_wait_synced([&](error_code) { called = true; });
    }
    CHECK_FALSE(called);
}

TEST_CASE("waiting: waits complete once the complete state is known, and later ones at once") {
    Read read;
    ReadingWatcher pods(read);
    Lines received;
    const auto wait = [&](auto& handle) {
        handle.async_wait_synced(
            [&](error_code ec) { received.push_back(ec ? ec.message() : "synced"); });
    };
    wait(pods.handle);
    read.settle();
    CHECK(received.empty());
    pods.handle.async_run([](error_code) {});
    read.settle();
    CHECK(std::exchange(received, {}) == Lines{"synced"});
    wait(pods.handle);
    CHECK(received.empty());
    read.settle();
    CHECK(std::exchange(received, {}) == Lines{"synced"});

    ReadingDiscoverer discoverer(read);
    wait(discoverer.handle);
    discoverer.handle.async_run([](error_code) {});
    read.settle();
    CHECK(std::exchange(received, {}) == Lines{"synced"});
    ReadingDiscoverer cancelled(read);
    wait(cancelled.handle);
    cancelled.handle.cancel();
    read.settle();
    CHECK(std::exchange(received, {}) == Lines{aborted});
}

TEST_CASE("status callback: the first state, failures and their ends are reported once each") {
    Read read;
    const auto follow = [&](auto& handle, Lines& received) {
        handle.set_status_callback([&](const DiscovererStatus& status) {
            received.push_back((status.synced ? "synced " : "not yet ") +
                               (status.error ? status.error.message() : "well"));
        });
        handle.async_run([](error_code) {});
    };
    Lines of_watcher;
    Lines of_discoverer;
    WatcherConfig alone = read.config<WatcherConfig>();
    Watcher<api::Node> watcher(read.context.get_executor(), alone,
                               [](const ObjectDiff<api::Node>&) {});
    Discoverer discoverer(read.context.get_executor(), read.config<DiscoveryConfig>(),
                          [](const TargetGroupDiff&) {});
    follow(watcher, of_watcher);
    follow(discoverer, of_discoverer);
    read.settle();
    CHECK(std::exchange(of_watcher, {}) == Lines{"synced well"});
    CHECK(std::exchange(of_discoverer, {}) == Lines{"synced well"});
    read.server.apply(pod({.name = "a"}));
    read.advance(10s);
    CHECK(of_discoverer.empty());

    read.server.accept_connections(false);
    read.server.disconnect_all();
    read.advance(10min);
    REQUIRE(of_watcher.size() == 1);
    CHECK(of_watcher.front() != "synced well");
    CHECK(of_discoverer.size() == 1);
    read.server.accept_connections(true);
    read.advance(2min);
    REQUIRE(of_watcher.size() == 2);
    CHECK(of_watcher.back() == "synced well");
    REQUIRE(of_discoverer.size() == 2);
    CHECK(of_discoverer.back() == "synced well");

    watcher.set_status_callback({});
    read.server.accept_connections(false);
    read.server.disconnect_all();
    read.advance(1min);
    CHECK(of_watcher.size() == 2);
    CHECK(of_discoverer.size() == 3);
}

TEST_CASE("reading: what a reader has lost to a timer is brought by the next one") {
    using namespace asio::experimental::awaitable_operators;
    constexpr auto token = asio::as_tuple(asio::use_awaitable);
    std::set<int> lost;
    for (int steps = 0; steps < 300; ++steps) {
        Simulation read;
        read.server.apply(pod({.name = "a"}));
        WatcherConfig config;
        config.api_server.url = read.server.url();
        Watcher<api::Pod> watcher(read.context.get_executor(), config);
        asio::steady_timer timer(read.context, asio::steady_timer::time_point::max());
        std::size_t seen = 0;
        bool timed_out = false;
        const auto host = [&]() -> asio::awaitable<void> {
            auto first = co_await (watcher.async_next(token) || timer.async_wait(token));
            timed_out = first.index() == 1;
            if (first.index() == 0) seen += std::get<1>(std::get<0>(first)).added.size();
            if (!timed_out) co_return;
            auto [ec, diff] = co_await watcher.async_next(token);
            seen += diff.added.size();
        };
        asio::co_spawn(read.context, host, asio::detached);
        int done = 0;
        while (done < steps && read.context.poll_one() != 0) ++done;
        timer.cancel();
        read.settle();
        if (seen != 1) lost.insert(steps);
        watcher.cancel();
        read.settle();
        if (done < steps) break;
    }
    CHECK(lost == std::set<int>());
}

TEST_CASE("status callback: a status callback that is replaced may own what uses its handle") {
    Simulation read;
    WatcherConfig config;
    config.api_server.url = read.server.url();
    Watcher<api::Pod> watcher(read.context.get_executor(), config);
    struct Owner {
        explicit Owner(Watcher<api::Pod>& w) : watcher(w) {}
        ~Owner() { watcher.cancel(); }
        Watcher<api::Pod>& watcher;
    };
    watcher.set_status_callback(
        [owner = std::make_shared<Owner>(watcher)](const DiscovererStatus&) {});
    watcher.set_status_callback({});
    read.settle();
    CHECK(watcher.status().watches.empty());
}
