#include "k8s_sd/detail/client/api_client_impl.hpp"
#include "k8s_sd/url_watcher.hpp"
#include "support/contains.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/simulation.hpp"
#include "support/slow_source.hpp"

#include <catch2/catch_test_macros.hpp>
#include <list>
#include <memory>
#include <optional>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// Watchers of one server that share a slow source of credentials.
struct SlowCredentials : Simulation {
    struct Watch final : WatchObserver {
        explicit Watch(const std::shared_ptr<ApiClient>& client) {
            watcher.emplace(client, WatchQuery{}, plain_lists(),
                            static_cast<WatchObserver&>(*this));
        }
        void on_change(const ObjectChange&) override {}
        void on_synced() override { ++synced; }
        void on_batch_end() override {}
        void on_status() override {
            ++status_changes;
            if (drop_on_status) watcher.reset();
        }
        int synced = 0;
        int status_changes = 0;
        bool drop_on_status = false;
        std::optional<URLWatcher> watcher;
    };

    explicit SlowCredentials(int count) {
        server.set_token("one");
        server.apply(pod({.name = "a"}));
        client = detail::Access::make_unique<ApiClient>(std::make_unique<detail::ApiClientImpl>(
            context.get_executor(), ApiServerConfig{.url = server.url()}, environment(),
            std::make_unique<SlowSource>(control)));
        for (int i = 0; i < count; ++i) watches.emplace_back(client);
    }
    void start() {
        for (Watch& watch : watches) watch.watcher->start();
        settle();
    }
    int synced() const {
        int count = 0;
        for (const Watch& watch : watches) count += watch.synced;
        return count;
    }
    /// Completes the pending calls, on the strand as a source does.
    void answer(const std::string& value) {
        asio::post(context, [this, value] { control->answer(value); });
        settle();
    }
    std::size_t refused() const {
        std::size_t count = 0;
        for (const auto& record : server.requests()) count += record.status == 401 ? 1 : 0;
        return count;
    }

    std::shared_ptr<SlowSource::Control> control = std::make_shared<SlowSource::Control>();
    std::shared_ptr<ApiClient> client;
    std::list<Watch> watches;
};

}  // namespace

TEST_CASE("URLWatcher: ten watchers wait for credentials, and the source is asked once") {
    SlowCredentials sim(10);
    sim.start();
    sim.advance(60s);
    CHECK(sim.control->asked == 1);
    CHECK(sim.server.requests().empty());
    CHECK(sim.synced() == 0);
    CHECK(sim.watches.front().status_changes == 0);
    sim.answer("Bearer one");
    CHECK(sim.synced() == 10);
    CHECK(sim.server.open_watches() == 10);
    CHECK(sim.control->asked == 1);
    for (const auto& record : sim.server.requests())
        CHECK(record.request.header("Authorization") == "Bearer one");
}

TEST_CASE("URLWatcher: a refused token is asked for once, by all whose request had it") {
    SlowCredentials sim(10);
    sim.start();
    sim.answer("Bearer one");
    sim.server.set_token("two");
    sim.server.clear_requests();
    sim.server.end_watches();
    sim.advance(2s);
    CHECK(sim.refused() >= 1);
    CHECK(sim.refused() <= 10);
    CHECK(sim.server.open_watches() == 0);
    CHECK(sim.control->asked == 2);
    sim.answer("Bearer two");
    sim.advance(2s);
    CHECK(sim.server.open_watches() == 10);
    CHECK(sim.control->asked == 2);
    CHECK(sim.take_log().empty());
    for (const auto& watch : sim.watches) CHECK_FALSE(watch.watcher->status().error);
}

TEST_CASE("URLWatcher: a token that stays refused is an error, and asked for with each attempt") {
    SlowCredentials sim(1);
    sim.start();
    sim.answer("Bearer old");
    CHECK(sim.control->asked == 2);
    CHECK_FALSE(sim.watches.front().watcher->status().error);  // the token may have been renewed
    sim.answer("Bearer old");
    CHECK(sim.watches.front().watcher->status().error == errc::unauthorized);
    CHECK(sim.refused() == 1);
    sim.advance(2s);
    CHECK(sim.refused() == 2);
    CHECK(sim.control->asked == 3);
    sim.answer("Bearer one");
    CHECK(sim.synced() == 1);
    CHECK_FALSE(sim.watches.front().watcher->status().error);
}

TEST_CASE("URLWatcher: a source that always has new tokens, all refused, is not asked in a loop") {
    SlowCredentials sim(1);
    sim.start();
    for (int answered = 0, second = 0; second < 60; ++second) {
        while (answered < sim.control->asked)
            sim.answer("Bearer token-" + std::to_string(answered++));
        sim.advance(1s);
    }
    CHECK(sim.watches.front().watcher->status().error == errc::unauthorized);
    CHECK(sim.refused() >= 2);
    CHECK(sim.refused() <= 15);
}

TEST_CASE("URLWatcher: a source that fails is an error with its words, and is asked again later") {
    SlowCredentials sim(3);
    sim.start();
    sim.control->fail("the program for credentials ended with 1");
    sim.settle();
    for (const auto& watch : sim.watches) {
        const WatchStatus status = watch.watcher->status();
        CHECK(status.error == errc::credentials_unavailable);
        CHECK(contains(status.message, "the program for credentials ended with 1"));
        CHECK(status.failures == 1);
    }
    CHECK(sim.server.requests().empty());
    CHECK(sim.control->asked == 1);
    sim.advance(2s);
    CHECK(sim.control->asked == 2);
    sim.answer("Bearer one");
    CHECK(sim.synced() == 3);
}

TEST_CASE("URLWatcher: credentials that come after the watcher has gone change nothing") {
    SlowCredentials sim(2);
    sim.start();
    SECTION("of one watcher") {
        sim.watches.pop_front();
        sim.answer("Bearer one");
        CHECK(sim.synced() == 1);
        CHECK(sim.server.open_watches() == 1);
    }
    SECTION("of all of them, but the client is there") {
        sim.watches.clear();
        sim.answer("Bearer one");
        CHECK(sim.server.requests().empty());
    }
    SECTION("of the client, too") {
        sim.watches.clear();
        sim.client.reset();
        CHECK_FALSE(sim.control->alive);
        CHECK_FALSE(sim.control->waiting);
    }
    SECTION("while a refused value is asked for anew") {
        sim.answer("Bearer old");
        CHECK(sim.control->asked == 2);
        sim.watches.pop_front();
        sim.answer("Bearer one");
        CHECK(sim.synced() == 1);
    }
    sim.advance(60s);
    CHECK(sim.take_log().empty());
}

TEST_CASE("URLWatcher: the watcher and the client may be dropped when the source fails") {
    SlowCredentials sim(3);
    for (auto& watch : sim.watches) watch.drop_on_status = true;
    sim.start();
    sim.client.reset();  // the watchers have the last references
    asio::post(sim.context, [&] { sim.control->fail("no"); });
    sim.settle();
    CHECK_FALSE(sim.control->alive);
    for (const auto& watch : sim.watches) CHECK(watch.status_changes == 1);
}
