#include "integration/cache/object_cache_fixture.hpp"
#include "k8s_sd/detail/base/http2_support.hpp"

#include <algorithm>
#include <set>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

using Behavior = sim::Http2Behavior;
using GoAway = sim::ApiServer::GoAway;

sim::ApiServerOptions http2_server(sim::ApiServerOptions options = {}) {
    if (!detail::has_http2()) SKIP("built without nghttp2");
    options.http2 = true;
    return options;
}

/// A cache of objects with a watch each, on connections shared by HTTP/2.
struct SharingCluster : CachedCluster {
    explicit SharingCluster(std::size_t count, sim::ApiServerOptions options = {},
                            const ServerLimits& limits = {.watches = 0})
        : CachedCluster({}, http2_server(std::move(options)), {}, limits),
          names(numbered("object-", count)) {
        for (const std::string& name : names) server.apply(secret(name, {{"token", "1"}}));
    }
    void refer_to_all() {
        references = refer_to(names);
        settle();
    }
    std::size_t count_values(const std::string& value) {
        return static_cast<std::size_t>(
            std::count_if(names.begin(), names.end(),
                          [&](const std::string& name) { return read(name) == value; }));
    }
    /// The numbers of requests since the last call. A probe is no list.
    struct Requests {
        std::size_t lists = 0, watches = 0;
    };
    Requests take_counts() {
        Requests counts;
        for (const std::string& request : take_requests()) {
            const bool watch = request.starts_with("WATCH");
            if (watch) ++counts.watches;
            if (!watch && !request.ends_with("limit=1")) ++counts.lists;
        }
        return counts;
    }

    const std::vector<std::string> names;
    std::vector<ObjectCache::Reference> references;
};

}  // namespace

TEST_CASE("ObjectCache by HTTP/2: watches of many names share a few connections") {
    SharingCluster c(400);
    c.refer_to_all();
    CHECK(c.server.open_watches() == 400);
    // A tenth of the 100 streams is kept for short requests.
    CHECK(c.server.http2_connections() == 5);
    CHECK(c.server.open_connections() == 5);
    CHECK(c.metrics->http2_connections == 5);
    CHECK(c.count_values("token=1") == 400);
    c.put("object-7", "2");
    CHECK(c.read("object-7") == "token=2");
    c.references.clear();
    c.settle();
    CHECK(c.server.open_watches() == 0);
    c.advance(1min);
    CHECK(c.server.open_connections() == 0);
    CHECK(c.metrics->http2_connections == 0);
    CHECK(c.clock->next_expiry() > c.clock->now() + 24h);
}

TEST_CASE("ObjectCache by HTTP/2: max_watches_per_connection bounds the watches of a connection") {
    SharingCluster c(20, {}, {.watches = 0, .max_watches_per_connection = 5});
    c.refer_to_all();
    CHECK(c.server.http2_connections() == 4);
}

TEST_CASE("ObjectCache by HTTP/2: at the limit of the server another connection is opened") {
    SharingCluster c(30);
    c.server.set_http2({.max_streams = 10});
    c.refer_to_all();
    CHECK(c.server.open_watches() == 30);
    CHECK(c.server.http2_connections() == 4);
    SECTION("a smaller limit leaves running watches alone") {
        c.server.set_http2({.max_streams = 2});
        c.settle();
        c.put("object-3", "2");
        CHECK(c.read("object-3") == "token=2");
        CHECK(c.server.open_watches() == 30);
        CHECK(c.take_log().empty());
    }
}

TEST_CASE("ObjectCache by HTTP/2: a GOAWAY each second costs neither a list nor an event") {
    SharingCluster c(440);
    c.refer_to_all();
    c.take_requests();
    std::size_t lists = 0;
    for (int second = 0; second < 60; ++second) {
        c.server.send_goaway(second % 2 == 0 ? GoAway::announced : GoAway::graceful);
        const std::string number = std::to_string(second);
        c.put("object-" + number, "1" + number);
        c.put("late-" + number, number);
        c.references.push_back(c.refer("late-" + number));
        c.advance(1s);
        CHECK(c.read("object-" + number) == "token=1" + number);
        CHECK(c.read("late-" + number) == "token=" + number);
        lists += c.take_counts().lists;
    }
    CHECK(lists == 60);  // of the late objects
    CHECK(c.server.open_watches() == 500);
    CHECK(c.server.http2_connections() > 30);
    CHECK(c.count_values("token=1") == 380);
    CHECK(c.take_log().empty());
}

TEST_CASE("ObjectCache by HTTP/2: a dead connection is noticed after 45 s, for all its watches") {
    SharingCluster c(60, {.bookmarks = false});
    c.refer_to_all();
    c.take_requests();
    c.server.set_http2({.answer_pings = false});
    c.advance(44s);
    CHECK(c.server.http2_connections() == 1);
    CHECK(c.take_requests().empty());
    c.advance(1s);
    CHECK(c.server.open_watches() == 0);
    c.server.set_http2({});
    // They resume from their versions, spread in time, on one connection.
    std::size_t busy_steps = 0;
    std::size_t resumed = 0;
    for (int i = 0; i < 100; ++i) {
        const auto counts = c.take_counts();
        CHECK(counts.lists == 0);
        resumed += counts.watches;
        if (counts.watches > 0) ++busy_steps;
        c.advance(100ms);
    }
    CHECK(resumed == 60);
    CHECK(busy_steps >= 4);
    CHECK(c.server.open_watches() == 60);
    CHECK(c.server.http2_connections() == 1);
    c.put("object-1", "2");
    CHECK(c.read("object-1") == "token=2");
}

TEST_CASE("ObjectCache by HTTP/2: a cut interrupts the watches of one connection only") {
    SharingCluster c(20, {}, {.watches = 0, .max_watches_per_connection = 10});
    c.refer_to_all();
    REQUIRE(c.server.http2_connections() == 2);
    c.take_requests();
    c.server.disconnect_all();
    c.advance(10s);
    CHECK(c.take_counts().lists == 0);
    CHECK(c.server.open_watches() == 20);
    CHECK(c.server.http2_connections() == 2);
}
