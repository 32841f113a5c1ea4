#include "integration/cache/object_cache_fixture.hpp"

#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <algorithm>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using Requests = std::vector<std::string>;

namespace {

const std::string list_db =
    "LIST /api/v1/namespaces/shop/secrets?fieldSelector=metadata.name%3Ddb&limit=500";

/// Of objects of 2 000 bytes at most.
ObjectCacheConfig small_objects(std::size_t collection_threshold) {
    ObjectCacheConfig config;
    config.watch.max_object_bytes = 2000;
    config.collection_threshold = collection_threshold;
    return config;
}

}  // namespace

TEST_CASE("ObjectCache: the first reference starts a watch of the object, the last one stops it") {
    CachedCluster c;
    c.put("db", "1");
    auto first = c.refer("db");
    c.settle();
    CHECK(c.server.open_watches() == 1);
    const Requests requests = c.take_requests();
    REQUIRE(requests.size() == 2);
    CHECK(requests[0] == list_db);
    CHECK_THAT(requests[1], ContainsSubstring("WATCH /api/v1/namespaces/shop/secrets from "));

    auto second = c.refer("db");
    auto third = c.refer("db");
    c.settle();
    CHECK(c.take_requests().empty());
    CHECK(c.cache->status("shop", "db")->references == 3);
    first.reset();
    third = {};
    c.settle();
    CHECK(c.server.open_watches() == 1);
    CHECK(c.read("db") == "token=1");
    second.reset();
    c.settle();
    CHECK(c.server.open_connections() == 0);
    CHECK(c.read("db") == "not referenced");
    CHECK(c.cache->status().namespaces.empty());
    CHECK(c.metrics->cache_references == 0);
    CHECK(c.metrics->cached_objects == 0);
    CHECK(c.metrics->cache_watches == 0);
    // No pending work keeps a host from ending.
    CHECK(c.clock->next_expiry() > c.clock->now() + 24h);
}

TEST_CASE("ObjectCache: a reference can be moved, and dropped twice") {
    CachedCluster c;
    auto a = c.refer("db");
    ObjectCache::Reference b = std::move(a);
    CHECK(b.name() == "db");
    CHECK(b.ns() == "shop");
    c.settle();
    CHECK(c.cache->status("shop", "db")->references == 1);
    b.reset();
    b.reset();
    c.settle();
    CHECK(c.state("db") == "none");
}

TEST_CASE("ObjectCache: a reference that goes as another one comes leaves the watch alone") {
    CachedCluster c;
    auto old = c.refer("db");
    c.settle();
    c.take_requests();
    old.reset();
    const auto fresh = c.refer("db");
    c.settle();
    CHECK(c.take_requests().empty());
    CHECK(c.cache->status("shop", "db")->references == 1);
}

TEST_CASE("ObjectCache: a get waits for the first sync, then memory answers") {
    CachedCluster c;
    c.server.apply(secret("db", {{"token", "1"}, {"user", "a"}}));
    const auto reference = c.refer("db");
    const GetOutcome outcome = c.get("db");
    CHECK(outcome->empty());
    c.settle();
    CHECK(*outcome == "token=1 user=a");
    c.take_requests();
    CHECK(c.read("db") == "token=1 user=a");
    c.put("db", "2");
    CHECK(c.read("db") == "token=2");
    CHECK(c.take_requests().empty());
}

TEST_CASE("ObjectCache: async_get() takes a reference as well") {
    CachedCluster c;
    c.put("db", "1");
    const auto reference = c.refer("db");
    std::string outcome;
    c.cache->async_get(reference, [&](error_code ec, const ObjectPtr& object) {
        outcome = describe_get(ec, object);
    });
    c.settle();
    CHECK(outcome == "token=1");
}

TEST_CASE("ObjectCache: the errors of a get name the cause") {
    CachedCluster c;
    CHECK(c.read("db") == "not referenced");
    const auto reference = c.refer("db");
    CHECK(c.read("db") == "not found");
    CHECK(c.state("db") == "absent");

    SECTION("not synced in time") {
        c.server.set_intercept([](const sim::Request&) { return sim::Response::never(); });
        const auto slow = c.refer("slow");
        const GetOutcome outcome = c.get("slow");
        c.advance(999ms);
        CHECK(outcome->empty());
        c.advance(1ms);
        CHECK(*outcome == "not synced");
        CHECK(c.state("slow") == "unsynced");
    }
    SECTION("forbidden, and that at once") {
        c.server.deny("secrets");
        const auto denied = c.refer("denied");
        CHECK(c.read("denied") == "forbidden");
        CHECK(c.read("denied") == "forbidden");
        const auto status = c.cache->status("shop", "denied");
        CHECK(status->error == errc::forbidden);
        CHECK_THAT(status->message, ContainsSubstring("missing is the permission to list secrets"));
    }
}

TEST_CASE("ObjectCache: of names that cannot be one it says so") {
    CachedCluster c;
    const auto problem = [](auto call) -> std::string {
        try {
            (void)call();
        } catch (const ConfigError& e) {
            return e.what();
        }
        return "none";
    };
    CHECK_THAT(problem([&] { return c.refer("db", "Shop"); }),
               ContainsSubstring("namespace: \"Shop\" is not a name of a namespace"));
    CHECK_THAT(problem([&] { return c.refer("db", ""); }), ContainsSubstring("namespace: \"\""));
    for (const char* name : {"", "A", "a/b", "a,b=c", "-a", "a-", ".", "a..b", "a b", "a\n"}) {
        CAPTURE(name);
        CHECK_THAT(problem([&] { return c.refer(name); }), ContainsSubstring("name: \""));
    }
    CHECK(problem([&] { return c.refer(std::string(253, 'a')); }) == "none");
    CHECK(problem([&] { return c.refer(std::string(254, 'a')); }) != "none");
    CHECK(problem([&] { return c.refer("a.b-c.0"); }) == "none");
    CHECK(problem([&] { return c.cache->subscribe("shop", "A", [](const ObjectPtr&) {}); }) !=
          "none");
}

TEST_CASE("ObjectCache: an empty executor and an empty callback are refused, with what to pass") {
    const ObjectCacheConfig config{.api_server = {.url = "http://127.0.0.1:1"}};
    CHECK_THROWS_WITH(ObjectCache(ObjectCache::executor_type(), config),
                      ContainsSubstring("ObjectCache: the executor is empty; pass"));
    CHECK_THROWS_AS(ObjectCache(ObjectCache::executor_type(), config), ConfigError);
    CachedCluster c;
    CHECK_THROWS_WITH((void)c.cache->subscribe("shop", "db", nullptr),
                      ContainsSubstring("ObjectCache::subscribe(): the callback is empty; pass"));
    CHECK_THROWS_AS((void)c.cache->subscribe("shop", "db", {}), ConfigError);
    c.settle();
    CHECK(c.cache->status().objects.empty());  // no reference is left behind
}

TEST_CASE("ObjectCacheConfig: what cannot work is refused") {
    asio::io_context context;
    const auto problem = [&](const ObjectCacheConfig& config) -> std::string {
        try {
            ObjectCache(context.get_executor(), config);
        } catch (const ConfigError& e) {
            return e.where();
        }
        return "none";
    };
    ObjectCacheConfig config{.api_server = {.url = "http://127.0.0.1:1"}};
    CHECK(problem(config) == "none");
    config.max_idle = 59s;
    CHECK(problem(config) == "max_idle");
    config.max_idle = 1min;
    config.get_timeout = -1s;
    CHECK(problem(config) == "get_timeout");
    config.get_timeout = 0s;
    config.api_server.url = "ftp://x";
    CHECK(problem(config) == "api_server.url");
    config.api_server.url = "http://127.0.0.1:1";
    config.watch.watch_timeout_min = 2h;
    CHECK(problem(config) == "watch.watch_timeout_min");
    CHECK(problem({.kubeconfig_file = "/no/such/file"}) == "kubeconfig_file");
}

TEST_CASE("ObjectCache: watches last from half an hour to an hour") {
    CachedCluster c;
    const auto reference = c.refer("db");
    c.settle();
    const auto requests = c.server.requests();
    REQUIRE(requests.size() == 2);
    const int seconds = std::stoi(std::string(requests[1].request.param("timeoutSeconds")));
    CHECK(seconds >= 1800);
    CHECK(seconds <= 3600);
}

TEST_CASE(
    "ObjectCache: 10 000 references to 1 000 objects make 1 000 watches, and none in the end") {
    CachedCluster c({}, {}, {}, {.watches = 0});
    const auto names = numbered("s", 1000);
    for (const auto& name : names) c.server.apply(secret(name, {{"token", name}}));
    std::vector<ObjectCache::Reference> references;
    for (int round = 0; round < 10; ++round) {
        for (const auto& name : names) references.push_back(c.refer(name));
    }
    c.settle();
    CHECK(c.server.open_watches() == 1000);
    CHECK(c.take_requests().size() == 2000);
    CHECK(c.metrics->cache_references == 10'000);
    CHECK(c.metrics->cached_objects == 1000);
    CHECK(c.metrics->cache_watches == 1000);
    CHECK(c.cache->status().objects.size() == 1000);
    CHECK(c.read("s777") == "token=s777");
    references.resize(1000);
    c.settle();
    CHECK(c.server.open_watches() == 1000);
    references.resize(10);
    c.settle();
    CHECK(c.server.open_watches() == 10);
    references.clear();
    c.settle();
    CHECK(c.server.open_connections() == 0);
    CHECK(c.take_requests().empty());
    CHECK(c.metrics->of(Kind::secret).objects == 0);
}

TEST_CASE("ObjectCache: an object can be deleted and created again") {
    CachedCluster c;
    const auto reference = c.refer("db");
    CHECK(c.read("db") == "not found");
    c.put("db", "1");
    CHECK(c.read("db") == "token=1");
    c.remove("db");
    CHECK(c.read("db") == "not found");
    CHECK(c.state("db") == "absent");
    c.put("db", "2");
    CHECK(c.read("db") == "token=2");
    // The same while no host reads the object.
    c.server.accept_connections(false);
    c.server.disconnect_all();
    c.settle();
    c.remove("db");
    c.put("db", "3");
    c.server.accept_connections(true);
    c.advance(1min);
    CHECK(c.read("db") == "token=3");
}

TEST_CASE(
    "ObjectCache: a permission that goes takes nothing away, one that comes back is noticed") {
    CachedCluster c;
    c.put("db", "1");
    const auto reference = c.refer("db");
    CHECK(c.read("db") == "token=1");
    c.server.deny("secrets");
    c.server.end_watches();
    c.advance(5s);
    CHECK(c.cache->status("shop", "db")->error == errc::forbidden);
    CHECK(c.state("db") == "present");
    c.put("db", "2");
    CHECK(c.read("db") == "token=1");
    const auto late = c.refer("late");
    CHECK(c.read("late") == "forbidden");

    c.server.allow("secrets");
    c.put("late", "3");
    c.advance(1min);
    CHECK(c.read("db") == "token=2");
    CHECK(c.read("late") == "token=3");
    CHECK_FALSE(c.cache->status("shop", "db")->error);
    CHECK(c.cache->status("shop", "db")->message.empty());
}

TEST_CASE("ObjectCache: an object that is too large is neither absent nor forgotten") {
    CachedCluster c(small_objects(3));
    const std::string large(5000, 'x');
    c.put("known", "1");
    const auto known = c.refer("known");
    CHECK(c.read("known") == "token=1");
    c.put("known", large);
    c.put("unknown", large);
    const auto unknown = c.refer("unknown");
    const auto check_state = [&] {
        CHECK(c.read("known") == "token=1");
        CHECK(c.state("unknown") == "unsynced");
        CHECK(c.cache->status("shop", "unknown")->error == errc::object_too_large);
    };
    c.settle();
    check_state();
    SECTION("whichever watch there is") {
        const auto others = c.refer_to({"a", "b", "c", "d"});
        c.advance(10min);
        check_state();
        CHECK(c.read("a") == "not found");
    }
    SECTION("until it is gone") {
        c.remove("known");
        c.remove("unknown");
        CHECK(c.read("known") == "not found");
        CHECK(c.read("unknown") == "not found");
    }
    SECTION("until it is gone, also while the server is away") {
        c.server.accept_connections(false);
        c.server.disconnect_all();
        c.advance(5s);
        c.remove("unknown");
        if (GENERATE(false, true)) c.server.compact();  // the next watch begins with a list
        c.server.accept_connections(true);
        c.advance(1min);
        CHECK(c.read("known") == "token=1");
        CHECK(c.read("unknown") == "not found");
    }
    SECTION("until it is smaller") {
        c.put("known", "2");
        c.put("unknown", "3");
        CHECK(c.read("known") == "token=2");
        CHECK(c.read("unknown") == "token=3");
    }
}

TEST_CASE("ObjectCache: an object that is too large has a watch after the collection is left") {
    CachedCluster c(small_objects(3));
    const std::string large(5000, 'x');
    c.put("big", large);
    const auto big = c.refer("big");
    {
        const auto others = c.refer_to({"a", "b", "c"});
        c.settle();
        REQUIRE(c.watches() == "collection");
    }
    c.settle();
    CHECK(c.watches() == "1 single");
    CHECK(c.cache->status("shop", "big")->error == errc::object_too_large);
    SECTION("it is smaller") {
        c.put("big", "1");
        CHECK(c.read("big") == "token=1");
    }
    SECTION("it is gone") {
        c.remove("big");
        CHECK(c.read("big") == "not found");
    }
}

TEST_CASE("ObjectCache: objects that are too large do not starve others where the collection "
          "cannot be listed") {
    CachedCluster c(small_objects(4));
    c.server.set_intercept([](const sim::Request& request) -> std::optional<sim::Response> {
        if (!request.param("fieldSelector").empty()) return std::nullopt;
        return sim::Response::failure(500, "InternalError", "no list");
    });
    const auto names = numbered("s", 8);
    for (const auto& name : names) c.put(name, std::string(5000, 'x'));
    c.put("readable", "1");
    std::vector<ObjectCache::Reference> references;
    for (const auto& name : names) references.push_back(c.refer(name));
    references.push_back(c.refer("readable"));
    c.settle();
    c.advance(3min);
    CHECK(c.read("readable") == "token=1");
}

TEST_CASE("ObjectCache: a get that waits when the permission is refused ends at once") {
    CachedCluster c({.get_timeout = 10s});
    c.server.set_intercept([](const sim::Request&) { return sim::Response::never(); });
    const auto reference = c.refer("db");
    const GetOutcome outcome = c.get("db");
    c.settle();
    c.server.set_intercept({});
    c.server.deny("secrets");
    c.server.disconnect_all();
    c.settle();
    CHECK(outcome->empty());  // a broken connection is no answer
    c.advance(2s);
    CHECK(*outcome == "forbidden");
}

TEST_CASE("ObjectCache: a get survives that the server goes while it waits") {
    CachedCluster c({.get_timeout = 10s});
    c.put("db", "1");
    c.server.set_intercept([](const sim::Request&) { return sim::Response::never(); });
    const auto reference = c.refer("db");
    const GetOutcome outcome = c.get("db");
    c.settle();
    c.server.set_intercept({});
    c.server.accept_connections(false);
    c.server.disconnect_all();
    c.advance(1s);
    CHECK(outcome->empty());
    c.server.accept_connections(true);
    c.advance(8s);
    CHECK(*outcome == "token=1");
}

TEST_CASE("ObjectCache: without a server a get ends when its time is up") {
    CachedCluster c;
    c.server.accept_connections(false);
    const auto reference = c.refer("db");
    const GetOutcome outcome = c.get("db");
    c.advance(999ms);
    CHECK(outcome->empty());
    c.advance(1ms);
    CHECK(*outcome == "not synced");
    CHECK_THAT(c.cache->status("shop", "db")->message,
               ContainsSubstring("/namespaces/shop/secrets?fieldSelector=metadata.name%3Ddb: "));
}

TEST_CASE("ObjectCache: the log and the status of a Secret hold no data") {
    CachedCluster c({}, json_server());  // in protobuf the data need not be base64
    const auto reference = c.refer("db");
    c.settle();
    c.server.replay(
        "secrets",
        R"({"type":"ADDED","object":{"kind":"Secret","apiVersion":"v1","metadata":{"name":"db","namespace":"shop",)"
        R"("resourceVersion":"99"},"data":{"token":"hunter2?"}}})");
    c.settle();
    CHECK(c.read("db") == "not found");
    const auto log = c.take_log();
    REQUIRE(log.size() == 1);
    CHECK_THAT(log[0], ContainsSubstring("skipped the object shop/db") &&
                           ContainsSubstring("not base64") && !ContainsSubstring("hunter2"));
}

TEST_CASE("ObjectCache: any kind can be cached") {
    SECTION("ConfigMaps have their data") {
        CachedCluster c({.kind = Kind::configmap});
        c.server.apply(config_map("settings", {{"level", "info"}}));
        const auto reference = c.refer("settings");
        CHECK(c.read("settings") == "level=info");
    }
    SECTION("pods are what reaches labels") {
        CachedCluster c({.kind = Kind::pod});
        c.server.apply(pod({.name = "web", .ns = "shop"}));
        const auto reference = c.refer("web");
        CHECK(c.read("web") == "web");
    }
    SECTION("nodes have no namespace") {
        CachedCluster c({.kind = Kind::node});
        c.server.apply(node("n1"));
        CHECK_THROWS_AS(c.refer("n1"), ConfigError);
        const auto reference = c.refer("n1", "");
        CHECK(c.read("n1", "") == "n1");
        CHECK(c.read("n1", "shop") == "not referenced");
    }
}

TEST_CASE("ObjectCache: the same name in two namespaces is two objects") {
    CachedCluster c;
    c.put("db", "1");
    c.server.apply(secret("db", {{"token", "2"}}, "bank"));
    const auto shop = c.refer("db");
    const auto bank = c.refer("db", "bank");
    CHECK(c.read("db") == "token=1");
    CHECK(c.read("db", "bank") == "token=2");
    CHECK(c.cache->status().namespaces.size() == 2);
}
