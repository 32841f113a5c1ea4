#include "integration/cache/object_cache_fixture.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/use_future.hpp>
#include <future>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

struct Silent : CachedCluster {
    Silent() {
        server.set_intercept([](const sim::Request&) { return sim::Response::never(); });
    }
};

}  // namespace

TEST_CASE("ObjectCache: a get can be cancelled, and the watch goes on") {
    Silent c;
    c.put("db", "1");
    const auto reference = c.refer("db");
    for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::partial}) {
        asio::cancellation_signal signal;
        std::string outcome;
        c.cache->async_get("shop", "db",
                           asio::bind_cancellation_slot(
                               signal.slot(), [&](error_code ec, const ObjectPtr& object) {
                                   outcome = describe_get(ec, object);
                               }));
        c.settle();
        signal.emit(asio::cancellation_type::total);
        c.settle();
        CHECK(outcome.empty());
        signal.emit(type);
        CHECK(outcome.empty());  // posted
        c.settle();
        CHECK(outcome == "aborted");
        signal.emit(type);  // arrives after cancellation, without effect
    }
    CHECK(c.state("db") == "unsynced");
    c.server.set_intercept({});
    c.server.disconnect_all();
    c.advance(10s);
    CHECK(c.read("db") == "token=1");
}

TEST_CASE("ObjectCache: a get can be cancelled before the cache has seen it") {
    CachedCluster c;
    c.put("db", "1");
    const auto reference = c.refer("db");
    asio::cancellation_signal signal;
    std::string outcome;
    c.cache->async_get(
        "shop", "db",
        asio::bind_cancellation_slot(signal.slot(), [&](error_code ec, const ObjectPtr& object) {
            outcome = describe_get(ec, object);
        }));
    signal.emit(asio::cancellation_type::terminal);
    c.settle();
    CHECK(outcome == "aborted");
}

TEST_CASE("ObjectCache: a get completes on the handler's executor, as if by post") {
    CachedCluster c;
    c.put("db", "1");
    const auto reference = c.refer("db");
    c.settle();
    asio::io_context other;
    std::string outcome;
    c.cache->async_get("shop", "db",
                       asio::bind_executor(other, [&](error_code ec, const ObjectPtr& object) {
                           outcome = describe_get(ec, object);
                       }));
    c.settle();
    CHECK(outcome.empty());
    other.run();
    CHECK(outcome == "token=1");
}

TEST_CASE("ObjectCache: a get takes any completion token") {
    CachedCluster c;
    c.put("db", "1");
    const auto reference = c.refer("db");
    std::future<ObjectPtr> future = c.cache->async_get("shop", "db", asio::use_future);
    std::string deferred;
    c.cache->async_get("shop", "db")(
        [&](error_code ec, const ObjectPtr& object) { deferred = describe_get(ec, object); });
    c.settle();
    CHECK(describe_data(future.get()) == "token=1");
    CHECK(deferred == "token=1");
}

TEST_CASE("ObjectCache: cancel() completes what waits, and stops everything") {
    Silent c;
    const auto reference = c.refer("db");
    const GetOutcome outcome = c.get("db");
    c.settle();
    c.cache->cancel();
    c.cache->cancel();
    CHECK(outcome->empty());
    c.settle();
    CHECK(*outcome == "aborted");
    CHECK(c.server.open_connections() == 0);
    CHECK(c.read("db") == "aborted");
    const auto late = c.refer("db");
    c.settle();
    CHECK(c.cache->status().objects.empty());
    CHECK(c.metrics->cache_references == 0);
    CHECK(c.metrics->cached_objects == 0);
    CHECK(c.metrics->cache_watches == 0);
    CHECK(c.clock->next_expiry() == TimePoint::max());
}

TEST_CASE("ObjectCache: references outlive the cache, and then mean nothing") {
    CachedCluster c;
    auto reference = c.refer("db");
    auto unseen = c.refer("other");
    c.settle();
    c.cache.reset();
    c.settle();
    CHECK(c.server.open_connections() == 0);
    reference.reset();
    c.settle();
}

TEST_CASE("ObjectCache: may be destroyed in the handler of a get and in a callback") {
    CachedCluster c;
    c.put("db", "1");
    SECTION("handler") {
        const auto reference = c.refer("db");
        c.cache->async_get("shop", "db", [&](error_code, const ObjectPtr&) { c.cache.reset(); });
        c.settle();
        CHECK_FALSE(c.cache);
    }
    SECTION("callback") {
        CacheFollowing following(c);
        following.after = [&] { c.cache.reset(); };
        following.follow("db");
        following.follow("db");
        c.settle();
        CHECK(following.take().size() == 1);
    }
    CHECK(c.server.open_connections() == 0);
}

TEST_CASE("ObjectCache: an object outlives its cache") {
    CachedCluster c;
    c.put("db", "1");
    const auto reference = c.refer("db");
    ObjectPtr object;
    c.cache->async_get(reference, [&](error_code, ObjectPtr o) { object = std::move(o); });
    c.settle();
    c.cache.reset();
    c.settle();
    CHECK(describe_data(object) == "token=1");
}

TEST_CASE("ObjectCache: the context may go while everything is under way, and nothing is left") {
    for (int steps = 0; steps < 60; steps += 3) {
        CAPTURE(steps);
        auto c = std::make_unique<Silent>();
        const auto metrics = c->metrics;
        // stands for objects held by a host's callback
        const auto callback = std::make_shared<int>();
        if (steps % 2 == 0) c->server.set_intercept({});
        std::vector<ObjectCache::Reference> references;
        auto subscription =
            c->cache->subscribe("shop", "a", [callback](const ObjectPtr&) { ++*callback; });
        for (const auto& name : numbered("s", 5)) references.push_back(c->refer(name));
        const GetOutcome outcome = c->get("s3");
        c->context.restart();
        for (int i = 0; i < steps; ++i) c->context.poll_one();
        const GetOutcome late = c->get("s4");
        subscription.reset();
        references.clear();
        c->cache.reset();
        c.reset();
        CHECK(outcome.use_count() == 1);
        CHECK((outcome->empty() || *outcome == "not found"));
        CHECK(late.use_count() == 1);
        CHECK(late->empty());
        CHECK(callback.use_count() == 1);
        CHECK(*callback <= 1);
        CHECK(metrics->cache_references == 0);
        CHECK(metrics->cached_objects == 0);
        CHECK(metrics->cache_watches == 0);
        CHECK(metrics->of(Kind::secret).watchers == 0);
    }
}

TEST_CASE("ObjectCache: the handle can be moved") {
    CachedCluster c;
    c.put("db", "1");
    const auto reference = c.refer("db");
    ObjectCache moved = std::move(*c.cache);
    c.cache.emplace(std::move(moved));
    CHECK(c.read("db") == "token=1");
    const GetOutcome outcome = c.get("db");
    *c.cache = ObjectCache(c.context.get_executor(), {.api_server = {.url = c.server.url()}});
    c.settle();
    CHECK(c.read("db") == "not referenced");
    CHECK(c.server.open_connections() == 0);
}

TEST_CASE("ObjectCache: after cancel() a subscription that is left keeps no data") {
    CachedCluster c;
    c.put("a", "1");
    ObjectPtr held;
    auto subscription =
        c.cache->subscribe("shop", "a", [&](const ObjectPtr& object) { held = object; });
    c.settle();
    REQUIRE(held);
    c.cache->cancel();
    c.settle();
    CHECK(held->use_count() == 1);
}

TEST_CASE("ObjectCache: what a callback holds may ask for the status when cancel() ends it") {
    struct Asks {
        ObjectCache& cache;
        ~Asks() { cache.status(); }
    };
    CachedCluster c;
    c.put("db", "1");
    auto asks = std::make_shared<Asks>(*c.cache);
    const std::weak_ptr<Asks> watched = asks;
    bool received = false;
    auto subscription = c.cache->subscribe(
        "shop", "db", [&received, held = std::move(asks)](const ObjectPtr&) { received = true; });
    // Until the value is known, and the notification is imminent.
    for (int turn = 0; turn < 1'000 && c.state("db") != "present"; ++turn) {
        c.context.restart();
        c.context.poll_one();
    }
    REQUIRE(c.state("db") == "present");
    subscription.reset();
    c.cache->cancel();
    c.settle();
    CHECK(watched.expired());
    CHECK_FALSE(received);
}

TEST_CASE("ObjectCache: a get may wait for as long as there are durations") {
    CachedCluster c({.get_timeout = Duration::max()});
    c.server.set_intercept([](const sim::Request&) { return sim::Response::never(); });
    const auto reference = c.refer("a");
    const GetOutcome outcome = c.get("a");
    c.advance(1min);
    CHECK(outcome->empty());
}
