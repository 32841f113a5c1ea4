#include "integration/cache/object_cache_fixture.hpp"
#include "support/slow_connector.hpp"

#include <algorithm>
#include <cstddef>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// A cache with one watch for each object, over connections that take 100 ms.
struct SlowCachedCluster : SlowConnects, CachedCluster {
    SlowCachedCluster()
        : CachedCluster(config(), {}, {}, {.concurrent_lists = 0, .watches = 0}, around()) {}

    static ObjectCacheConfig config() {
        ObjectCacheConfig config;
        config.collection_threshold = 0;
        config.watch.connect_timeout = 5s;
        return config;
    }
    std::size_t present() const {
        const auto objects = cache->status().objects;
        return static_cast<std::size_t>(
            std::count_if(objects.begin(), objects.end(),
                          [](const auto& status) { return status.state == CachedState::present; }));
    }
};

}  // namespace

TEST_CASE("Connect budget: a cache of 1 000 objects starts and survives an outage in turns") {
    SlowCachedCluster c;
    std::vector<ObjectCache::Reference> references;
    for (const std::string& name : numbered("s", 1000)) {
        c.server.apply(secret(name, {{"token", "1"}}));
        references.push_back(c.refer(name));
    }
    c.settle();
    CHECK(c.metrics->connects_running == 28);
    CHECK(c.metrics->connects_waiting == 1000 - 28);
    c.advance(3600ms);
    CHECK(c.present() == 1000);
    CHECK(c.metrics->of(Kind::secret).network_errors == 0);

    c.server.disconnect_all();
    for (const std::string& name : numbered("s", 1000)) {
        c.server.apply(secret(name, {{"token", "2"}}));
    }
    c.advance(1min);
    for (const std::string& name : numbered("s", 1000)) CHECK(c.read(name) == "token=2");
    CHECK(c.metrics->of(Kind::secret).network_errors == 1000);  // the cut connections
    CHECK(c.attempts().most == 28);
    CHECK(c.attempts().total == 2000);
}

TEST_CASE("Connect budget: a dead server does not hold up another one") {
    SlowCachedCluster c;
    c.dead = "dead.test";
    ObjectCacheConfig config = SlowCachedCluster::config();
    config.api_server.url = "http://dead.test";
    config.watch = plain_lists(config.watch);
    ObjectCache other(c.context.get_executor(), config);
    std::vector<ObjectCache::Reference> references;
    for (const std::string& name : numbered("s", 100)) {
        references.push_back(other.add_reference("shop", name));
    }
    c.settle();
    CHECK(c.metrics->connects_waiting == 100 - 28);
    for (const std::string& name : numbered("s", 28)) {
        c.server.apply(secret(name, {{"token", "1"}}));
        references.push_back(c.refer(name));
    }
    c.advance(100ms);
    CHECK(c.present() == 28);
}

TEST_CASE("Connect budget: a cache that is destroyed while it connects leaves nothing behind") {
    SlowCachedCluster c;
    std::vector<ObjectCache::Reference> references;
    for (const std::string& name : numbered("s", 200)) references.push_back(c.refer(name));
    c.settle();
    CHECK(c.metrics->connects_waiting == 200 - 28);
    references.clear();
    c.cache.reset();
    c.settle();
    CHECK(c.metrics->connects_waiting == 0);
    CHECK(c.metrics->connects_running == 0);
    CHECK(c.attempts().running == 0);
}
