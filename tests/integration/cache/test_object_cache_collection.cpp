#include "integration/cache/object_cache_fixture.hpp"
#include "support/contains.hpp"

#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <boost/json/serialize.hpp>
#include <algorithm>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using Received = std::vector<std::string>;

namespace {

/// A cluster of Secrets s0, s1, ... with their names as tokens, and a cache of them.
struct Collected : CachedCluster {
    explicit Collected(std::size_t threshold = 4, std::size_t secrets = 20)
        : CachedCluster({.collection_threshold = threshold}) {
        for (const auto& name : numbered("s", secrets)) put(name, name);
    }
    void refer_more(std::size_t first, std::size_t count) {
        for (std::size_t i = first; i < first + count; ++i) {
            references.push_back(refer("s" + std::to_string(i)));
        }
        settle();
    }
    /// The body of a LIST of the first Secrets at this moment.
    std::string list_body(std::size_t count) const {
        boost::json::array items;
        for (const auto& name : numbered("s", count)) {
            items.push_back(*server.get("secrets", "shop", name));
        }
        return boost::json::serialize(boost::json::object{
            {"kind", "SecretList"},
            {"metadata", boost::json::object{{"resourceVersion", server.resource_version()}}},
            {"items", std::move(items)}});
    }
    std::size_t requests_for_singles() {
        const auto all = take_requests();
        return static_cast<std::size_t>(
            std::count_if(all.begin(), all.end(), [](const std::string& request) {
                return contains(request, "fieldSelector") && contains(request, "LIST");
            }));
    }

    std::vector<ObjectCache::Reference> references;
};

sim::Response answer_with(const std::string& body) {
    sim::Response response;
    response.body = body;
    return response;
}

}  // namespace

TEST_CASE("ObjectCache: more objects of a namespace than the threshold get one watch") {
    Collected c;
    c.refer_more(0, 4);
    CHECK(c.watches() == "4 single");
    c.refer_more(4, 1);
    CHECK(c.watches() == "collection");
    CHECK(c.server.open_connections() == 1);
    for (const auto& name : numbered("s", 5)) CHECK(c.read(name) == "token=" + name);
    CHECK(c.metrics->cache_collection_switches == 1);
    c.put("s2", "new");
    CHECK(c.read("s2") == "token=new");
    c.remove("s2");
    CHECK(c.read("s2") == "not found");
    c.put("s2", "again");
    CHECK(c.read("s2") == "token=again");
}

TEST_CASE("ObjectCache: many references in one go make no single watch at all") {
    Collected c;
    c.take_requests();
    c.refer_more(0, 20);
    CHECK(c.watches() == "collection");
    CHECK(c.requests_for_singles() == 0);
    CHECK(c.read("s19") == "token=s19");
}

TEST_CASE("ObjectCache: other namespaces are not touched by a collection watch") {
    Collected c;
    c.server.apply(secret("db", {{"token", "1"}}, "bank"));
    const auto bank = c.refer("db", "bank");
    c.refer_more(0, 10);
    CHECK(c.watches() == "collection");
    CHECK(c.server.open_watches() == 2);
    CHECK(c.read("db", "bank") == "token=1");
}

TEST_CASE("ObjectCache: without a threshold there is never a collection watch") {
    Collected c(0);
    c.refer_more(0, 20);
    CHECK(c.watches() == "20 single");
    c.advance(1h);
    CHECK(c.metrics->cache_collection_switches == 0);
}

TEST_CASE("ObjectCache: a host does not notice that the watches change") {
    Collected c;
    CacheFollowing following(c);
    for (const auto& name : numbered("s", 2)) following.follow(name);
    c.settle();
    CHECK(following.take().size() == 2);
    // The objects stay synced at every moment, without any notification.
    const auto always_readable = [&] {
        c.context.restart();
        do {
            for (const char* name : {"s0", "s1"}) REQUIRE(c.state(name) == "present");
        } while (c.context.poll_one() == 1);
    };
    for (int round = 0; round < 3; ++round) {
        for (std::size_t i = 2; i < 12; ++i)
            c.references.push_back(c.refer("s" + std::to_string(i)));
        always_readable();
        REQUIRE(c.watches() == "collection");
        c.references.clear();
        always_readable();
        c.settle();
        REQUIRE(c.watches() == "2 single");
    }
    CHECK(following.take().empty());
    CHECK(c.metrics->cache_collection_switches == 6);
}

TEST_CASE("ObjectCache: an object changes over when both watches know the same of it") {
    Collected c;
    CacheFollowing following(c);
    following.follow("s0");
    c.refer_more(1, 3);
    following.take();
    // The list of the collection is older than the last change of an object, and its watch has not
    // started yet.
    const std::string stale = c.list_body(5);
    c.put("s0", "new");
    CHECK(following.take() == Received{"s0: token=new"});
    bool hold = true;
    c.server.set_intercept([&](const sim::Request& request) -> std::optional<sim::Response> {
        if (!hold || !request.param("fieldSelector").empty()) return std::nullopt;
        if (!request.is_watch()) return answer_with(stale);
        return sim::Response::failure(503, "ServiceUnavailable", "later");
    });
    c.refer_more(4, 1);
    CHECK(c.watches() == "collection, 1 single");
    CHECK(c.read("s0") == "token=new");
    CHECK(c.read("s4") == "token=s4");
    hold = false;
    c.advance(5s);
    CHECK(c.watches() == "collection");
    CHECK(following.take().empty());
    CHECK(c.read("s0") == "token=new");
}

TEST_CASE("ObjectCache: watches that hang and disagree with the collection are given up in time") {
    Collected c;
    // The server never answers watches of single objects, so they only have their lists.
    c.server.set_intercept([&](const sim::Request& request) -> std::optional<sim::Response> {
        if (request.param("fieldSelector").empty() || !request.is_watch()) return std::nullopt;
        return sim::Response::never();
    });
    c.refer_more(0, 4);
    for (const auto& name : numbered("s", 4)) c.put(name, "new");
    c.take_requests();
    c.refer_more(4, 1);
    CHECK(c.watches() == "collection, 4 single");
    CHECK(c.take_requests().size() == 2);  // the collection is listed once
    CHECK(c.read("s0") == "token=s0");
    c.advance(2min);
    CHECK(c.watches() == "collection");
    CHECK(c.read("s0") == "token=new");
}

TEST_CASE("ObjectCache: an object whose own watch fails changes over without waiting") {
    Collected c;
    c.refer_more(0, 4);
    c.put("s0", "new");
    bool broken = true;
    c.server.set_intercept([&](const sim::Request& request) -> std::optional<sim::Response> {
        if (!broken || request.param("fieldSelector").empty()) return std::nullopt;
        return sim::Response::failure(503, "ServiceUnavailable", "later");
    });
    c.server.end_watches();
    c.advance(10s);
    c.put("s0", "newer");
    CHECK(c.read("s0") == "token=new");
    c.refer_more(4, 1);
    CHECK(c.watches() == "collection");
    CHECK(c.read("s0") == "token=newer");
}

TEST_CASE("ObjectCache: of a collection only what somebody refers to is kept") {
    Collected c(4, 100);
    c.refer_more(0, 6);
    CHECK(c.watches() == "collection");
    CHECK(c.metrics->of(Kind::secret).objects == 6);
    c.put("s50", "changed");
    c.put("another", "1");
    c.remove("s60");
    CHECK(c.metrics->of(Kind::secret).objects == 6);
    CHECK(c.read("s50") == "not referenced");
    c.references.pop_back();
    c.settle();
    CHECK(c.metrics->of(Kind::secret).objects == 5);
    // Also across a re-list.
    c.server.accept_connections(false);
    c.server.disconnect_all();
    c.put("s70", "changed");
    c.server.compact();
    c.server.accept_connections(true);
    c.advance(1min);
    CHECK(c.metrics->of(Kind::secret).expired > 0);
    CHECK(c.metrics->of(Kind::secret).objects == 5);
    CHECK(c.read("s4") == "token=s4");
}

TEST_CASE("ObjectCache: what comes while a collection is watched has a watch of its own, until "
          "there are many of them again") {
    Collected c;
    c.refer_more(0, 5);
    CHECK(c.watches() == "collection");
    c.take_requests();
    c.refer_more(5, 4);
    CHECK(c.watches() == "collection, 4 single");
    CHECK(c.requests_for_singles() == 4);
    for (const auto& name : numbered("s", 9)) CHECK(c.read(name) == "token=" + name);
    c.refer_more(9, 1);
    CHECK(c.watches() == "collection");
    CHECK(c.server.open_connections() == 1);
    for (const auto& name : numbered("s", 10)) CHECK(c.read(name) == "token=" + name);
}

TEST_CASE("ObjectCache: one that is gone and comes again under a collection watch is read anew") {
    Collected c;
    c.refer_more(0, 6);
    c.references.pop_back();
    c.settle();
    c.put("s5", "new");
    c.refer_more(5, 1);
    CHECK(c.read("s5") == "token=new");
    CHECK(c.watches() == "collection, 1 single");
}

TEST_CASE("ObjectCache: when few references remain the single watches come back") {
    Collected c;
    c.refer_more(0, 8);
    REQUIRE(c.watches() == "collection");
    c.references.resize(3);
    c.settle();
    CHECK(c.watches() == "collection");  // not yet: that would go back and forth
    c.references.resize(2);
    c.settle();
    CHECK(c.watches() == "2 single");
    CHECK(c.read("s0") == "token=s0");
    CHECK(c.metrics->cache_collection_switches == 2);
    c.references.clear();
    c.settle();
    CHECK(c.server.open_connections() == 0);
}

TEST_CASE("ObjectCache: all references of a collection may go at once") {
    Collected c;
    c.refer_more(0, 8);
    c.references.clear();
    c.settle();
    CHECK(c.server.open_connections() == 0);
    CHECK(c.metrics->cache_watches == 0);
    c.refer_more(0, 8);
    CHECK(c.watches() == "collection");
}

TEST_CASE("ObjectCache: where the collection is forbidden the single watches go on") {
    Collected c;
    c.deny_collection();
    CacheFollowing following(c);
    following.follow("s0");
    c.refer_more(1, 9);
    CHECK(c.watches() == "10 single");
    CHECK(c.cache->status().namespaces.at(0).collection_forbidden);
    for (const auto& name : numbered("s", 10)) CHECK(c.read(name) == "token=" + name);
    CHECK(following.take() == Received{"s0: token=s0"});
    CHECK(c.metrics->cache_collection_switches == 0);
    // The collection is not requested repeatedly.
    c.take_requests();
    c.refer_more(10, 5);
    c.advance(9min);
    for (const std::string& request : c.take_requests()) {
        if (contains(request, "LIST")) CHECK_THAT(request, ContainsSubstring("fieldSelector"));
    }
    // It is retried after some time, and then succeeds.
    c.server.set_intercept({});
    for (int i = 0; i < 3; ++i) {
        for (const auto& name : numbered("s", 15)) CHECK(c.read(name) == "token=" + name);
        c.advance(1min);
    }
    CHECK(c.watches() == "collection");
    CHECK_FALSE(c.cache->status().namespaces.at(0).collection_forbidden);
    CHECK(following.take().empty());
}

TEST_CASE("ObjectCache: a get that waits for a forbidden collection is answered by its own watch") {
    Collected c;
    c.deny_collection();
    for (const auto& name : numbered("s", 10)) c.references.push_back(c.refer(name));
    const GetOutcome outcome = c.get("s7");
    c.settle();
    CHECK(*outcome == "token=s7");
}

TEST_CASE("ObjectCache: where everything is forbidden a get says so") {
    Collected c;
    c.server.deny("secrets");
    for (const auto& name : numbered("s", 10)) c.references.push_back(c.refer(name));
    const GetOutcome outcome = c.get("s7");
    c.settle();
    CHECK(*outcome == "forbidden");
    CHECK(c.read("s7") == "forbidden");
}

TEST_CASE(
    "ObjectCache: when the permission for the collection goes single watches take its place") {
    Collected c;
    c.refer_more(0, 8);
    REQUIRE(c.watches() == "collection");
    c.deny_collection();
    c.server.end_watches();
    c.advance(10s);
    CHECK(c.watches() == "8 single");
    c.put("s3", "new");
    CHECK(c.read("s3") == "token=new");
    CHECK_FALSE(c.cache->status("shop", "s3")->error);
    CHECK(c.metrics->cache_collection_switches == 2);
}

TEST_CASE(
    "ObjectCache: when all permissions go the collection waits for them with one connection") {
    Collected c;
    c.refer_more(0, 8);
    c.server.deny("secrets");
    c.server.end_watches();
    c.take_requests();
    c.advance(2min);
    CHECK(c.requests_for_singles() < 15);  // one for each attempt, not eight
    CHECK(c.cache->status("shop", "s3")->error == errc::forbidden);
    CHECK(c.read("s3") == "token=s3");
    c.server.allow("secrets");
    c.put("s3", "new");
    c.advance(31s);
    CHECK(c.read("s3") == "token=new");
    CHECK_THAT(c.watches(), ContainsSubstring("collection"));
}

TEST_CASE("ObjectCache: while the collection cannot be listed known objects stay readable") {
    Collected c;
    c.refer_more(0, 4);
    c.server.set_intercept([](const sim::Request& request) -> std::optional<sim::Response> {
        if (!request.param("fieldSelector").empty()) return std::nullopt;
        return sim::Response::never();
    });
    c.refer_more(4, 10);
    CHECK(c.watches() == "4 single");
    c.put("s1", "new");
    CHECK(c.read("s1") == "token=new");
    const GetOutcome late = c.get("s9");
    c.advance(2s);
    CHECK(*late == "not synced");
    c.server.set_intercept({});
    c.advance(2min);
    CHECK(c.read("s9") == "token=s9");
    c.advance(11min);
    for (const auto& name : numbered("s", 10)) c.get(name);
    c.advance(2min);
    CHECK(c.watches() == "collection");
    CHECK(c.read("s9") == "token=s9");
}

TEST_CASE("ObjectCache: a collection that cannot be listed does not starve its objects") {
    Collected c;
    const auto broken = GENERATE(true, false);
    c.server.set_intercept([&](const sim::Request& request) -> std::optional<sim::Response> {
        if (!request.param("fieldSelector").empty()) return std::nullopt;
        return broken ? sim::Response::failure(500, "InternalError", "too large")
                      : sim::Response::never();
    });
    c.refer_more(0, 8);
    CHECK(c.state("s3") == "unsynced");
    c.advance(3min);
    for (const auto& name : numbered("s", 8)) CHECK(c.read(name) == "token=" + name);
    CHECK(c.watches() == "8 single");
    c.refer_more(8, 3);
    CHECK(c.read("s10") == "token=s10");
}

TEST_CASE("ObjectCache: a lost collection is left although one object may not be watched singly") {
    Collected c;
    c.refer_more(0, 8);
    CHECK(c.watches() == "collection");
    // Denies the object that is probed first.
    std::string denied;
    c.server.set_intercept([&](const sim::Request& request) -> std::optional<sim::Response> {
        const std::string selector(request.param("fieldSelector"));
        if (!selector.empty() && denied.empty()) denied = selector;
        if (!selector.empty() && selector != denied) return std::nullopt;
        return sim::Response::failure(403, "Forbidden", "not this");
    });
    c.server.end_watches();
    for (const auto& name : numbered("s", 8)) c.put(name, "new");
    c.advance(5min);
    int served = 0;
    for (const auto& name : numbered("s", 8)) served += c.read(name) == "token=new" ? 1 : 0;
    CHECK(served == 7);
}

TEST_CASE("ObjectCache: a collection that joins takes over from one that is forbidden meanwhile") {
    Collected c;
    c.refer_more(0, 5);
    REQUIRE(c.watches() == "collection");
    bool hold = true;
    std::string lost;  // where the first collection would continue
    c.server.set_intercept([&](const sim::Request& request) -> std::optional<sim::Response> {
        if (!request.param("fieldSelector").empty()) return std::nullopt;
        if (!request.is_watch() && hold) return sim::Response::never();
        if (!request.is_watch()) return std::nullopt;
        const std::string version(request.param("resourceVersion"));
        if (lost.empty()) lost = version;
        if (version != lost) return std::nullopt;
        return sim::Response::failure(403, "Forbidden", "not from there");
    });
    c.refer_more(5, 5);
    c.server.end_watches();
    c.advance(1s);
    REQUIRE_FALSE(lost.empty());
    CHECK(c.cache->status("shop", "s0")->error == errc::forbidden);
    c.put("s0", "new");
    CHECK(c.read("s0") == "token=s0");
    hold = false;
    c.server.disconnect_all();
    c.advance(40s);
    CHECK(c.watches() == "collection");
    CHECK(c.metrics->cache_collection_switches == 2);
    CHECK_FALSE(c.cache->status("shop", "s0")->error);
    CHECK(c.read("s0") == "token=new");
    CHECK(c.read("s9") == "token=s9");
}

TEST_CASE("ObjectCache: a collection without reads is stopped") {
    Collected c;
    c.refer_more(0, 8);
    for (int i = 0; i < 10; ++i) {
        CHECK(c.read("s0") == "token=s0");
        c.advance(1min);
    }
    CHECK(c.watches() == "collection");
    CHECK(c.state("s5") == "present");  // kept together with the object in use
    c.advance(6min);
    CHECK(c.server.open_connections() == 0);
    CHECK(c.state("s0") == "idle");
    c.put("s5", "new");
    CHECK(c.read("s5") == "token=new");
    CHECK(c.watches() == "1 single");
    CHECK(c.state("s0") == "idle");
    for (const auto& name : numbered("s", 5)) c.get(name);
    c.settle();
    CHECK(c.watches() == "collection");
}

TEST_CASE("ObjectCache: an immutable object leaves the collection when it was read") {
    Collected c;
    c.server.apply(immutable(secret("s0", {{"token", "0"}})));
    c.settle();
    c.refer_more(0, 8);
    CHECK(c.read("s0") == "token=0");
    CHECK(c.state("s0") == "immutable");
    CHECK(c.metrics->of(Kind::secret).objects == 7);
    c.remove("s0");
    CHECK(c.read("s0") == "token=0");
    // It does not join a later collection.
    c.refer_more(8, 6);
    CHECK(c.watches() == "collection");
    CHECK(c.state("s0") == "immutable");
}

TEST_CASE("ObjectCache: 1 000 objects of one namespace need one connection") {
    Collected c(50, 1000);
    c.references = c.refer_to(numbered("s", 1000));
    c.settle();
    CHECK(c.server.open_connections() == 1);
    CHECK(c.read("s999") == "token=s999");
    // Later references add at most as many connections as the threshold.
    std::size_t most = 0;
    for (const auto& name : numbered("t", 200)) {
        c.put(name, "t");
        c.references.push_back(c.refer(name));
        c.settle();
        most = std::max(most, c.server.open_connections());
        REQUIRE(c.read(name) == "token=t");
    }
    CHECK(most <= 51);
}

TEST_CASE("ObjectCache: kinds without namespaces have a collection as well") {
    CachedCluster c({.kind = Kind::node, .collection_threshold = 2});
    std::vector<ObjectCache::Reference> references;
    for (const auto& name : numbered("n", 5)) {
        c.server.apply(node(name));
        references.push_back(c.refer(name, ""));
    }
    c.settle();
    CHECK(c.server.open_connections() == 1);
    CHECK(c.read("n4", "") == "n4");
}
