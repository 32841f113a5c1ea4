#include "k8s_sd/detail/client/api_client_impl.hpp"
#include "k8s_sd/detail/client/short_request.hpp"
#include "support/contains.hpp"
#include "support/objects.hpp"
#include "support/slow_connector.hpp"
#include "support/watch_probe.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// Watches of one server, each of a namespace with one pod.
struct ConnectingCluster : SlowConnects, Simulation {
    explicit ConnectingCluster(std::size_t connects, std::size_t watches)
        : Simulation({}, {}, {.concurrent_lists = 0, .watches = 0, .concurrent_connects = connects},
                     around()) {
        ApiServerConfig config;
        config.url = server.url();
        client = std::make_shared<ApiClient>(context.get_executor(), config, environment());
        WatchOptions options = plain_lists();
        options.connect_timeout = 5s;
        for (std::size_t i = 0; i < watches; ++i) {
            const std::string ns = "ns" + std::to_string(i);
            server.apply(pod({.name = "web", .ns = ns}));
            probes.push_back(std::make_unique<WatchProbe>(
                *this, client, WatchQuery{Kind::pod, ns, {}, {}}, options));
        }
    }
    void start() {
        for (const auto& probe : probes) probe->start();
    }
    std::size_t count(Waiting waiting) const {
        return count_if([&](const WatchStatus& status) { return status.waiting == waiting; });
    }
    std::size_t count(errc error) const {
        return count_if([&](const WatchStatus& status) { return status.error == error; });
    }
    std::size_t synced() const {
        return count_if([](const WatchStatus& status) { return status.synced; });
    }
    detail::ApiClientImpl& api() const { return detail::impl_of(*client); }

    std::shared_ptr<ApiClient> client;
    std::vector<std::unique_ptr<WatchProbe>> probes;

 private:
    template <class Predicate>
    std::size_t count_if(Predicate predicate) const {
        return static_cast<std::size_t>(
            std::count_if(probes.begin(), probes.end(),
                          [&](const auto& probe) { return predicate(probe->status()); }));
    }
};

}  // namespace

TEST_CASE("Connect budget: a thousand watches connect in turns, and none times out") {
    ConnectingCluster c(32, 1000);
    c.start();
    CHECK(c.count(Waiting::connect_budget) == 1000 - 28);
    CHECK(c.count(Waiting::list) == 28);
    CHECK(c.metrics->connects_waiting == 1000 - 28);
    CHECK(c.metrics->connects_running == 28);
    const WatchStatus last = c.probes.back()->status();
    CHECK_FALSE(last.error);
    CHECK(to_string(last.waiting) == "connect_budget");
    c.advance(1s);
    CHECK(c.synced() == 10 * 28);
    c.advance(2600ms);
    CHECK(c.synced() == 1000);
    CHECK(c.count(Waiting::events) == 1000);

    // An outage ends all of them at once.
    c.server.disconnect_all();
    c.advance(1min);
    CHECK(c.count(Waiting::events) == 1000);
    CHECK(c.count(errc::connect_timeout) == 0);
    CHECK(c.attempts().most == 28);
    CHECK(c.attempts().total == 2000);
    CHECK(c.metrics->connects_waiting == 0);
    CHECK(c.metrics->connects_running == 0);
}

TEST_CASE("Connect budget: without a limit all connect at once") {
    ConnectingCluster c(0, 100);
    c.start();
    CHECK(c.count(Waiting::connect_budget) == 0);
    CHECK(c.attempts().running == 100);
    c.advance(100ms);
    CHECK(c.synced() == 100);
}

// The bound: ceil(watches / permits) attempts, one after the other.
TEST_CASE("Connect budget: with a server that never completes a handshake, each watch has a turn") {
    ConnectingCluster c(8, 50);
    c.takes = std::nullopt;
    c.start();
    for (std::size_t turn = 1; turn <= 7; ++turn) {
        c.advance(5s);
        CHECK(c.metrics->of(Kind::pod).network_errors == 7 * turn);
    }
    CHECK(c.attempts().most == 7);
    // 49 have failed; the last one connects at last, as well as six others.
    CHECK(c.count(errc::connect_timeout) == 49);
    CHECK(c.count(Waiting::connect_budget) + c.count(Waiting::list) + c.count(Waiting::backoff) ==
          50);

    // Once the server recovers, the attempts in progress end after their timeout. The others need
    // no timeout and no backoff.
    c.takes = 100ms;
    c.advance(5s + 7 * 100ms + 5s);
    CHECK(c.synced() == 50);
    CHECK(c.count(Waiting::events) == 50);
}

TEST_CASE("Connect budget: watches that end while they wait or connect make room") {
    ConnectingCluster c(8, 30);
    c.takes = std::nullopt;
    c.start();
    CHECK(c.count(Waiting::connect_budget) == 23);
    SECTION("those that wait") {
        for (std::size_t i = 7; i < 20; ++i) c.probes[i].reset();
        std::erase(c.probes, nullptr);
        CHECK(c.metrics->connects_waiting == 10);
        c.takes = 100ms;
        c.advance(5200ms);
        CHECK(c.synced() == 10);
    }
    SECTION("those that connect") {
        c.takes = 100ms;
        for (std::size_t i = 0; i < 7; ++i) c.probes[i].reset();
        std::erase(c.probes, nullptr);
        c.advance(400ms);
        CHECK(c.synced() == 23);
    }
    SECTION("all") {
        c.probes.clear();
        c.settle();
    }
    CHECK(c.metrics->connects_waiting == 0);
    c.probes.clear();
    c.settle();
    CHECK(c.metrics->connects_running == 0);
    CHECK(c.attempts().running == 0);
}

TEST_CASE("Connect budget: an observer may drop its watcher when it waits, or no longer") {
    for (const Waiting at : {Waiting::connect_budget, Waiting::list}) {
        CAPTURE(to_string(at));
        ConnectingCluster c(1, 3);
        WatchProbe& dropped = *c.probes[1];
        dropped.after_status = [&] {
            if (dropped.alive() && dropped.status().waiting == at) dropped.destroy();
        };
        c.start();
        c.advance(300ms);
        CHECK_FALSE(dropped.alive());
        CHECK(c.probes[0]->watcher().synced());
        CHECK(c.probes[2]->watcher().synced());
        CHECK(c.metrics->connects_waiting == 0);
    }
}

TEST_CASE("Connect budget: the wait does not count as time of the server's answer") {
    ConnectingCluster c(1, 2);
    c.takes = std::nullopt;
    c.start();
    c.takes = 100ms;
    c.advance(5100ms);
    CHECK(c.probes[1]->watcher().synced());
    CHECK_FALSE(c.api().traffic->list_forms.of(Kind::pod, c.clock->now()).slow);
}

TEST_CASE("Connect budget: a short request does not wait behind watches") {
    ConnectingCluster c(8, 50);
    const auto request = std::make_shared<detail::ShortRequest>(c.api());
    std::optional<detail::ShortRequest::Answer> answer;
    const auto ask = [&](Duration timeout) {
        request->start("/version", detail::ShortRequest::short_body, timeout,
                       [&](const detail::ShortRequest::Answer& a) { answer = a; });
        c.settle();
    };
    c.takes = std::nullopt;
    c.start();
    CHECK(c.count(Waiting::connect_budget) == 43);

    SECTION("it has a permit of its own") {
        c.takes = 100ms;
        ask(10s);
        c.advance(100ms);
        REQUIRE(answer);
        CHECK(answer->head.status == 200);
        CHECK(c.count(Waiting::connect_budget) == 43);
    }
    SECTION("it goes first when even that is taken") {
        const auto other = std::make_shared<detail::ShortRequest>(c.api());
        other->start("/version", detail::ShortRequest::short_body, 1h, [](const auto&) {});
        c.takes = 100ms;
        ask(10s);
        c.advance(5s);
        CHECK_FALSE(answer);
        CHECK(c.count(Waiting::connect_budget) == 50 - 7 - 5);  // two permits for short requests
        c.advance(100ms);
        REQUIRE(answer);
        CHECK(answer->head.status == 200);
    }
    SECTION("its timeout names the reason") {
        const auto other = std::make_shared<detail::ShortRequest>(c.api());
        other->start("/version", detail::ShortRequest::short_body, 1h, [](const auto&) {});
        ask(2s);
        c.advance(2s);
        REQUIRE(answer);
        CHECK(answer->ec == errc::response_timeout);
        CHECK(contains(answer->problem, "ServerLimits::concurrent_connects"));
        CHECK(c.metrics->connects_waiting == 43);
    }
}
