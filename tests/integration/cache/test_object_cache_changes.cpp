#include "integration/cache/object_cache_fixture.hpp"

#include <boost/asio/post.hpp>
#include <stdexcept>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using Received = std::vector<std::string>;

TEST_CASE("ObjectCache: a subscriber receives the state of an object, and then its changes") {
    CachedCluster c;
    c.put("db", "1");
    CacheFollowing following(c);
    following.follow("db");
    CHECK(following.take().empty());
    c.settle();
    CHECK(following.take() == Received{"db: token=1"});
    c.put("db", "2");
    CHECK(following.take() == Received{"db: token=2"});
    c.remove("db");
    CHECK(following.take() == Received{"db: none"});
    c.put("db", "2");
    CHECK(following.take() == Received{"db: token=2"});
    CHECK(c.cache->status("shop", "db")->references == 1);
    following.subscriptions.clear();
    c.put("db", "3");
    CHECK(following.take().empty());
    CHECK(c.state("db") == "none");
}

TEST_CASE("ObjectCache: a subscriber is notified that an object does not exist") {
    CachedCluster c;
    CacheFollowing following(c);
    following.follow("db");
    c.settle();
    CHECK(following.take() == Received{"db: none"});
    c.put("db", "1");
    CHECK(following.take() == Received{"db: token=1"});
}

TEST_CASE("ObjectCache: a later subscriber receives the state from memory") {
    CachedCluster c;
    c.put("db", "1");
    CacheFollowing following(c);
    following.follow("db");
    c.settle();
    c.take_requests();
    following.follow("db");
    c.settle();
    CHECK(following.take() == Received{"db: token=1", "db: token=1"});
    CHECK(c.take_requests().empty());
    following.subscriptions.erase(following.subscriptions.begin());
    c.put("db", "2");
    CHECK(following.take() == Received{"db: token=2"});
}

TEST_CASE("ObjectCache: metadata is no change, and an object of another UID is one") {
    CachedCluster c;
    c.server.apply(secret("db", {{"token", "1"}}, "shop", "u1"));
    CacheFollowing following(c);
    following.follow("db");
    c.settle();
    following.take();
    auto labelled = secret("db", {{"token", "1"}}, "shop", "u1");
    labelled["metadata"].as_object()["labels"] = boost::json::object{{"a", "b"}};
    c.server.apply(labelled);
    c.settle();
    CHECK(following.take().empty());
    c.server.remove("secrets", "shop", "db");
    c.server.apply(secret("db", {{"token", "1"}}, "shop", "u2"));
    c.settle();
    CHECK(following.take() == Received{"db: token=1"});
}

TEST_CASE("ObjectCache: while the callback runs changes are collected, and the newest wins") {
    CachedCluster c;
    CacheFollowing following(c);
    following.follow("db");
    c.settle();
    following.take();
    int rounds = 0;
    // A slow host: the cluster changes during the callback.
    following.after = [&] {
        if (rounds++ > 0) return;
        for (int i = 0; i < 50; ++i) {
            c.server.apply(secret("db", {{"token", "x" + std::to_string(i)}}));
            for (int turn = 0; turn < 100; ++turn) c.context.poll_one();
        }
    };
    c.put("db", "1");
    CHECK(following.take() == Received{"db: token=1", "db: token=x49"});
}

TEST_CASE("ObjectCache: what has changed back while the callback runs is no change") {
    CachedCluster c;
    c.put("db", "1");
    CacheFollowing following(c);
    following.follow("db");
    c.settle();
    following.take();
    int rounds = 0;
    following.after = [&] {
        if (rounds++ > 0) return;
        for (const char* token : {"3", "4", "2"}) {
            c.server.apply(secret("db", {{"token", token}}));
            for (int turn = 0; turn < 100; ++turn) c.context.poll_one();
        }
    };
    c.put("db", "2");
    CHECK(following.take() == Received{"db: token=2"});
    CHECK(c.read("db") == "token=2");
}

TEST_CASE("ObjectCache: an object that is followed is never idle") {
    CachedCluster c({.max_idle = 1min});
    c.put("db", "1");
    CacheFollowing following(c);
    following.follow("db");
    const auto reference = c.refer("db");
    c.advance(1h);
    CHECK(c.state("db") == "present");
    following.subscriptions.clear();
    c.advance(59s);
    CHECK(c.state("db") == "present");
    c.advance(2min);
    CHECK(c.state("db") == "idle");
    // The object is watched again once a host follows it.
    c.put("db", "2");
    following.take();
    following.follow("db");
    c.settle();
    CHECK(following.take() == Received{"db: token=2"});
}

TEST_CASE(
    "ObjectCache: an immutable object is delivered to its subscriber, and no longer watched") {
    CachedCluster c;
    CacheFollowing following(c);
    following.follow("key");
    c.settle();
    c.server.apply(immutable(secret("key", {{"token", "1"}})));
    c.settle();
    CHECK(following.take() == Received{"key: none", "key: token=1"});
    CHECK(c.state("key") == "immutable");
    CHECK(c.server.open_connections() == 0);
    following.follow("key");
    c.settle();
    CHECK(following.take() == Received{"key: token=1"});
}

TEST_CASE("ObjectCache: a subscription may go in its own callback") {
    CachedCluster c;
    c.put("db", "1");
    CacheFollowing following(c);
    following.after = [&] { following.subscriptions.clear(); };
    following.follow("db");
    following.follow("db");
    c.settle();
    CHECK(following.take() == Received{"db: token=1"});
    CHECK(c.state("db") == "none");
}

TEST_CASE("ObjectCache: a subscription that has gone is not called, also if it was about to be") {
    CachedCluster c;
    CacheFollowing following(c);
    following.follow("db");
    c.settle();
    following.take();
    c.server.apply(secret("db", {{"token", "1"}}));
    c.context.restart();
    while (c.state("db") != "present") REQUIRE(c.context.poll_one() == 1);
    following.subscriptions.clear();
    c.settle();
    CHECK(following.take().empty());
}

TEST_CASE("ObjectCache: an exception of a callback leaves through the context, nothing is lost") {
    CachedCluster c;
    CacheFollowing following(c);
    following.follow("db");
    c.settle();
    following.after = [&] { throw std::runtime_error("host"); };
    c.server.apply(secret("db", {{"token", "1"}}));
    CHECK_THROWS_AS(c.settle(), std::runtime_error);
    following.after = {};
    c.settle();
    c.put("db", "2");
    CHECK(following.take() == Received{"db: none", "db: token=1", "db: token=2"});
}

TEST_CASE("ObjectCache: a subscription can be moved, and outlive the cache") {
    CachedCluster c;
    c.put("db", "1");
    CacheFollowing following(c);
    following.follow("db");
    ObjectCache::Subscription moved = std::move(following.subscriptions[0]);
    following.subscriptions.clear();
    c.settle();
    CHECK(following.take() == Received{"db: token=1"});
    c.cache.reset();
    c.put("db", "2");
    CHECK(following.take().empty());
    moved.reset();
    c.settle();
}
