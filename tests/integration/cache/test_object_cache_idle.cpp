#include "integration/cache/object_cache_fixture.hpp"
#include "support/router.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

std::size_t lists_in(const std::vector<std::string>& requests) {
    return static_cast<std::size_t>(
        std::count_if(requests.begin(), requests.end(),
                      [](const std::string& request) { return request.starts_with("LIST"); }));
}

}  // namespace

TEST_CASE("ObjectCache: an immutable object is no longer watched once it was read, and stays") {
    CachedCluster c;
    c.server.apply(immutable(secret("key", {{"token", "1"}})));
    auto reference = c.refer("key");
    c.settle();
    CHECK(c.server.open_watches() == 1);  // no host has read it
    CHECK(c.read("key") == "token=1");
    CHECK(c.server.open_connections() == 0);
    CHECK(c.state("key") == "immutable");

    c.take_requests();
    c.advance(14min);
    CHECK(c.read("key") == "token=1");
    CHECK(c.state("key") == "immutable");
    CHECK(c.take_requests().empty());

    // Occasional reads keep it cached.
    c.advance(24h);
    CHECK(c.read("key") == "token=1");
    CHECK(c.state("key") == "immutable");
    CHECK(c.server.open_connections() == 0);
    const std::size_t lists = lists_in(c.take_requests());
    CHECK(lists >= 80);
    CHECK(lists <= 24 * 4);
    reference = {};
}

TEST_CASE("ObjectCache: an immutable object that is created again under its name is read by a new "
          "reference") {
    CachedCluster c;
    c.server.apply(immutable(secret("key", {{"token", "1"}})));
    const auto first = c.refer("key");
    CHECK(c.read("key") == "token=1");
    c.remove("key");
    c.server.apply(immutable(secret("key", {{"token", "2"}})));
    CHECK(c.read("key") == "token=1");
    const auto second = c.refer("key");
    CHECK(c.read("key") == "token=2");
    CHECK(c.state("key") == "immutable");
    CHECK(c.server.open_connections() == 0);
    // An unchanged object costs one list.
    c.take_requests();
    const auto third = c.refer("key");
    CHECK(c.read("key") == "token=2");
    CHECK(lists_in(c.take_requests()) == 1);
    CHECK(c.server.open_connections() == 0);
}

TEST_CASE("ObjectCache: an immutable object that is created again is found within 16 minutes") {
    CachedCluster c;
    c.server.apply(immutable(secret("key", {{"token", "1"}})));
    std::vector<std::string> received;
    const auto subscription = c.cache->subscribe(
        "shop", "key", [&](const ObjectPtr& object) { received.push_back(describe_data(object)); });
    c.settle();
    CHECK(c.state("key") == "immutable");
    c.remove("key");
    c.server.apply(immutable(secret("key", {{"token", "2"}})));
    c.advance(16min);
    CHECK(received == std::vector<std::string>{"token=1", "token=2"});
    CHECK(c.state("key") == "immutable");
    c.remove("key");
    c.advance(16min);
    CHECK(received.back() == "none");
    // Absent objects are watched.
    c.server.apply(immutable(secret("key", {{"token", "3"}})));
    c.settle();
    CHECK(received.back() == "token=3");
}

TEST_CASE("ObjectCache: an immutable object whose content was refused is read again") {
    CachedCluster c;
    c.server.apply(immutable(secret("key", {{"token", "1"}})));
    const auto reference = c.refer("key");
    CHECK(c.read("key") == "token=1");
    c.remove("key");
    c.server.apply(immutable(secret("key", {{"token", "2"}})));
    c.advance(30s);
    c.take_requests();
    for (int i = 0; i < 100; ++i) {
        c.cache->read_again(reference);
        CHECK(c.read("key") == "token=2");
        c.advance(100ms);
    }
    CHECK(lists_in(c.take_requests()) <= 2);
    c.cache->read_again("shop", "unknown");  // does nothing
    c.settle();
}

TEST_CASE("ObjectCache: an immutable object is gone with its successor that was too large") {
    ObjectCacheConfig config;
    config.watch.max_object_bytes = 2000;
    CachedCluster c(config);
    c.server.apply(immutable(secret("key", {{"token", "1"}})));
    const auto reference = c.refer("key");
    CHECK(c.read("key") == "token=1");
    c.remove("key");
    c.server.apply(immutable(secret("key", {{"token", std::string(5000, 'x')}})));
    c.advance(30s);
    c.cache->read_again(reference);
    c.settle();
    CHECK(c.cache->status("shop", "key")->error == errc::object_too_large);
    c.remove("key");
    c.settle();
    CHECK(c.read("key") == "not found");
}

TEST_CASE("ObjectCache: what is known of an immutable object stays while the server is away") {
    CachedCluster c;
    c.server.apply(immutable(secret("key", {{"token", "1"}})));
    const auto first = c.refer("key");
    CHECK(c.read("key") == "token=1");
    c.server.accept_connections(false);
    SECTION("it refuses connections") {}
    SECTION("it does not answer") {
        c.server.accept_connections(true);
        c.server.set_intercept([](const sim::Request&) { return sim::Response::never(); });
    }
    std::vector<std::string> received;
    const auto subscription = c.cache->subscribe(
        "shop", "key", [&](const ObjectPtr& object) { received.push_back(describe_data(object)); });
    const GetOutcome outcome = c.get("key");
    c.advance(1s);
    CHECK(*outcome == "token=1");
    c.advance(24h);
    CHECK(c.read("key") == "token=1");
    CHECK(received == std::vector<std::string>{"token=1"});
    c.remove("key");
    c.server.apply(immutable(secret("key", {{"token", "2"}})));
    c.server.set_intercept({});
    c.server.accept_connections(true);
    c.advance(2min);
    CHECK(received == std::vector<std::string>{"token=1", "token=2"});
    CHECK(c.read("key") == "token=2");
    CHECK(c.server.open_connections() == 0);
}

TEST_CASE("ObjectCache: of many immutable objects 8 a minute are checked, all in turn") {
    CachedCluster c;
    std::vector<ObjectCache::Reference> references;
    for (const auto& name : numbered("s", 400)) {
        c.server.apply(immutable(secret(name, {{"token", name}})));
        references.push_back(c.refer(name));
        CHECK(c.read(name) == "token=" + name);
    }
    c.advance(20min);
    for (int i = 0; i < 10; ++i) {
        c.take_requests();
        c.advance(1min);
        CHECK(lists_in(c.take_requests()) == 8);
    }
    for (const auto& name : numbered("s", 400)) {
        c.server.remove("secrets", "shop", name);
        c.server.apply(immutable(secret(name, {{"token", "new"}})));
    }
    c.advance(55min);
    for (const auto& name : numbered("s", 400)) CHECK(c.read(name) == "token=new");
}

TEST_CASE("ObjectCache: an immutable object is forgotten with the last reference") {
    CachedCluster c;
    c.server.apply(immutable(secret("key", {{"token", "1"}})));
    auto reference = c.refer("key");
    CHECK(c.read("key") == "token=1");
    reference.reset();
    c.settle();
    c.server.remove("secrets", "shop", "key");
    c.put("key", "2");
    reference = c.refer("key");
    CHECK(c.read("key") == "token=2");
    CHECK(c.state("key") == "present");
}

TEST_CASE("ObjectCache: an object that becomes immutable is watched until the next read") {
    CachedCluster c;
    c.put("key", "1");
    const auto reference = c.refer("key");
    CHECK(c.read("key") == "token=1");
    c.server.apply(immutable(secret("key", {{"token", "2"}})));
    c.settle();
    CHECK(c.server.open_watches() == 1);
    CHECK(c.read("key") == "token=2");
    CHECK(c.server.open_watches() == 0);
    CHECK(c.state("key") == "immutable");
}

TEST_CASE("ObjectCache: a get that waits makes an immutable object read") {
    CachedCluster c;
    c.server.apply(immutable(secret("key", {{"token", "1"}})));
    const auto reference = c.refer("key");
    CHECK(c.read("key") == "token=1");
    CHECK(c.state("key") == "immutable");
    CHECK(c.server.open_connections() == 0);
}

TEST_CASE("ObjectCache: an object without reads is no longer watched, and the next read gets its "
          "present state") {
    CachedCluster c;
    c.put("db", "1");
    const auto reference = c.refer("db");
    CHECK(c.read("db") == "token=1");
    c.advance(5min - 1s);
    CHECK(c.state("db") == "present");
    CHECK(c.server.open_watches() == 1);
    c.advance(1min);
    CHECK(c.state("db") == "idle");
    CHECK(c.server.open_connections() == 0);
    CHECK(c.metrics->cache_idle_stops == 1);
    CHECK(c.metrics->of(Kind::secret).objects == 0);

    c.put("db", "2");
    const GetOutcome outcome = c.get("db");
    c.settle();
    CHECK(*outcome == "token=2");
    CHECK(c.server.open_watches() == 1);
    CHECK(c.state("db") == "present");
    CHECK(c.metrics->cache_rewatches == 1);
}

TEST_CASE("ObjectCache: an idle object is never served as it was") {
    CachedCluster c;
    c.put("db", "1");
    const auto reference = c.refer("db");
    CHECK(c.read("db") == "token=1");
    c.advance(10min);
    REQUIRE(c.state("db") == "idle");
    c.server.accept_connections(false);
    const GetOutcome outcome = c.get("db");
    c.advance(999ms);
    CHECK(outcome->empty());
    c.advance(1ms);
    CHECK(*outcome == "not synced");
    CHECK(c.state("db") == "unsynced");
    c.server.accept_connections(true);
    c.advance(10s);
    CHECK(c.read("db") == "token=1");
}

TEST_CASE("ObjectCache: an object that is read now and then stays watched") {
    CachedCluster c({.max_idle = 1min});
    c.put("db", "1");
    const auto reference = c.refer("db");
    for (int i = 0; i < 20; ++i) {
        CHECK(c.read("db") == "token=1");
        c.advance(50s);
    }
    CHECK(c.metrics->cache_idle_stops == 0);
    CHECK(c.metrics->of(Kind::secret).lists == 1);
}

TEST_CASE("ObjectCache: one that does not exist is idle as well") {
    CachedCluster c({.max_idle = 1min});
    const auto reference = c.refer("none");
    CHECK(c.read("none") == "not found");
    c.advance(2min);
    CHECK(c.state("none") == "idle");
    c.put("none", "1");
    CHECK(c.read("none") == "token=1");
}

TEST_CASE("ObjectCache: what was never read from the server is never idle") {
    CachedCluster c({.max_idle = 1min});
    c.put("db", "1");
    c.server.set_intercept([](const sim::Request&) {
        return sim::Response::failure(503, "ServiceUnavailable", "later");
    });
    const auto reference = c.refer("db");
    c.advance(1h);
    CHECK(c.state("db") == "unsynced");
    CHECK(c.metrics->cache_idle_stops == 0);
    c.server.set_intercept({});
    for (int i = 0; i < 60 && c.state("db") == "unsynced"; ++i) c.advance(1s);
    CHECK(c.state("db") == "present");
    // Now it can become idle.
    c.advance(1min);
    CHECK(c.state("db") == "idle");
}

TEST_CASE("ObjectCache: a reference that comes does not wake an idle object") {
    CachedCluster c;
    c.put("db", "1");
    auto reference = c.refer("db");
    c.advance(10min);
    REQUIRE(c.state("db") == "idle");
    const auto other = c.refer("db");
    c.settle();
    CHECK(c.state("db") == "idle");
    reference.reset();
    c.settle();
    CHECK(c.read("db") == "token=1");
}

TEST_CASE("ObjectCache: an idle object without references is dropped") {
    CachedCluster c;
    auto reference = c.refer("db");
    c.advance(10min);
    REQUIRE(c.state("db") == "idle");
    reference.reset();
    c.settle();
    CHECK(c.state("db") == "none");
    CHECK(c.clock->next_expiry() > c.clock->now() + 24h);
}

TEST_CASE(
    "ObjectCache: an immutable object is read again when the kubeconfig names another server") {
    TwoServers s;
    s.server.apply(immutable(secret("key", {{"token", "1"}})));
    s.second.apply(immutable(secret("key", {{"token", "2"}})));
    ObjectCacheConfig config;
    config.kubeconfig_file = s.kubeconfig();
    config.watch = plain_lists(config.watch);
    ObjectCache cache(s.context.get_executor(), config);
    std::vector<std::string> received;
    const auto subscription = cache.subscribe(
        "shop", "key", [&](const ObjectPtr& object) { received.push_back(describe_data(object)); });
    s.settle();
    CHECK(s.server.open_connections() == 0);
    s.lead_to("https://second");
    s.advance(61s);
    CHECK(received == std::vector<std::string>{"token=1", "token=2"});
    CHECK(s.second.open_connections() == 0);
}
