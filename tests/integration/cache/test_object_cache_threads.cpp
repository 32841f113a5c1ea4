#include "k8s_sd/cache/object_cache.hpp"
#include "k8s_sd/cache/reference_sets.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "support/data_objects.hpp"
#include "support/server_threads.hpp"
#include "support/wait_until.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

constexpr unsigned objects = 20;

/// A context run by four threads, with a simulated server with Secrets.
struct Threads : ServerThreads {
    explicit Threads(std::size_t threshold) : ServerThreads(4) {
        ObjectCacheConfig config;
        config.api_server.url = server.url();
        config.collection_threshold = threshold;
        config.get_timeout = 20s;
        cache.emplace(context.get_executor(), config);
        for (unsigned i = 0; i < objects; ++i) put(i, 0);
    }
    static std::string name(unsigned i) { return "s" + std::to_string(i); }
    void put(unsigned i, unsigned version) {
        server.apply(secret(name(i), {{"of", name(i)}, {"version", std::to_string(version)}}));
    }

    std::optional<ObjectCache> cache;
};

}  // namespace

TEST_CASE("ObjectCache: references, gets, changes and subscriptions from many threads") {
    for (const std::size_t threshold : {0U, 5U}) {
        Threads t(threshold);
        ReferenceSets sets(*t.cache);
        std::atomic<int> wrong = 0;
        std::atomic<int> answered = 0;
        std::vector<std::thread> hosts;
        for (unsigned host = 0; host < 4; ++host) {
            hosts.emplace_back([&, host] {
                std::mt19937 random(host);
                const auto below = [&](unsigned limit) {
                    return static_cast<unsigned>(random() % limit);
                };
                std::vector<ObjectCache::Reference> references;
                std::vector<ObjectCache::Subscription> subscriptions;
                for (unsigned step = 0; step < 400; ++step) {
                    const unsigned i = below(objects);
                    switch (below(7)) {
                        case 0:
                            references.push_back(t.cache->add_reference("shop", t.name(i)));
                            break;
                        case 1:
                            if (!references.empty()) references.erase(references.begin());
                            break;
                        case 2: t.put(i, step); break;
                        case 3:
                            sets.set(std::to_string(host),
                                     {{"shop", t.name(i)}, {"shop", t.name(below(objects))}});
                            break;
                        case 4: {
                            auto is_right = [&wrong,
                                             expected = t.name(i)](const ObjectPtr& object) {
                                if (!object || as_data_object(object)->get("of") != expected)
                                    ++wrong;
                            };
                            subscriptions.push_back(
                                t.cache->subscribe("shop", t.name(i), is_right));
                            if (subscriptions.size() > 5)
                                subscriptions.erase(subscriptions.begin());
                            break;
                        }
                        case 5: (void)t.cache->status(); break;
                        default: {
                            // An object referenced meanwhile is always found.
                            const auto reference = t.cache->add_reference("shop", t.name(i));
                            auto future = t.cache->async_get(reference, asio::use_future);
                            const auto object = as_data_object(future.get());
                            if (object->get("of") != t.name(i)) ++wrong;
                            ++answered;
                        }
                    }
                }
            });
        }
        for (std::thread& host : hosts) host.join();
        CHECK(wrong == 0);
        CHECK(answered > 0);
        for (unsigned host = 0; host < 4; ++host) sets.erase(std::to_string(host));
        CHECK(wait_until([&] { return t.cache->status().objects.empty(); }));
        CHECK(wait_until([&] { return t.server.open_connections() == 0; }));
        CHECK(t.metrics->cache_references == 0);
        CHECK(t.metrics->cached_objects == 0);
        CHECK(t.metrics->cache_watches == 0);
    }
}

TEST_CASE("ObjectCache: caches come and go while threads use what they gave") {
    Threads t(3);
    for (int round = 0; round < 50; ++round) {
        std::vector<ObjectCache::Reference> references;
        std::optional<ObjectCache::Subscription> subscription;
        std::atomic<int> ended = 0;
        {
            ObjectCacheConfig config;
            config.api_server.url = t.server.url();
            config.collection_threshold = 3;
            ObjectCache cache(t.context.get_executor(), config);
            subscription = cache.subscribe("shop", "s0", [](const ObjectPtr&) {});
            for (unsigned i = 0; i < 6; ++i) {
                references.push_back(cache.add_reference("shop", t.name(i)));
                cache.async_get(references.back(), [&](error_code, const ObjectPtr&) { ++ended; });
            }
            if (round % 2 == 0) std::this_thread::yield();
        }
        std::thread elsewhere([&] { references.clear(); });
        subscription.reset();
        elsewhere.join();
        REQUIRE(wait_until([&] { return ended == 6; }));
    }
}

TEST_CASE(
    "ObjectCache: on a clock that goes on, a forbidden collection gives way to single watches") {
    Threads t(5);
    std::atomic<bool> denied = false;
    t.server.set_intercept([&](const sim::Request& request) -> std::optional<sim::Response> {
        if (!denied || !request.param("fieldSelector").empty()) return std::nullopt;
        return sim::Response::failure(403, "Forbidden", "no collections for you");
    });
    const auto shop = [&] { return t.cache->status().namespaces.at(0); };
    SECTION("from the beginning") { denied = true; }
    std::vector<ObjectCache::Reference> references;
    for (unsigned i = 0; i < objects; ++i) {
        references.push_back(t.cache->add_reference("shop", t.name(i)));
    }
    for (const auto& reference : references) {
        CHECK(t.cache->async_get(reference, asio::use_future).get());
    }
    SECTION("while it serves") {
        CHECK(shop().collection_watch);
        denied = true;
        t.server.end_watches();
    }
    CHECK(wait_until([&] { return !shop().collection_watch && shop().single_watches == objects; }));
    CHECK(shop().collection_forbidden);
}
