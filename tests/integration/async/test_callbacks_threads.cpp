#include "k8s_sd/cache/object_cache.hpp"
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "support/data_objects.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/server_threads.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// Here, callbacks run on several threads, beside the strands of the library: the host's calls on
// its handle in one of them must not race with deliveries in progress. See test_callbacks.cpp.

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// A context run by three threads, with a simulated server whose pods change all the time.
struct BusyCluster : ServerThreads {
    BusyCluster() : ServerThreads(3, LogLevel::off) {
        server.apply(secret("one", {{"token", "1"}}));
    }
    void change(int i) {
        server.apply(
            pod({.name = "p" + std::to_string(i % 5), .labels = {{"v", std::to_string(i)}}}));
        server.apply(secret("one", {{"token", std::to_string(i)}}));
        if (i % 7 == 0) server.disconnect_all();
    }
    DiscoveryConfig config() const {
        DiscoveryConfig config{.watch = plain_lists()};
        config.api_server.url = server.url();
        return config;
    }
};

/// A handle that its host replaces in every third callback, and only there: calls on a handle being
/// moved or destroyed must not overlap, and callbacks of one handle do not.
template <class Handle>
struct Exchanging : std::enable_shared_from_this<Exchanging<Handle>> {
    using Make = std::function<std::unique_ptr<Handle>(std::function<void()> on_callback)>;

    explicit Exchanging(Make m) : make(std::move(m)) {}
    void begin() {
        const std::lock_guard lock(mutex);
        if (ended) return;
        auto next = make([weak = this->weak_from_this()] {
            if (const auto self = weak.lock()) self->on_callback();
        });
        handle.swap(next);
        before = std::move(next);
    }
    void on_callback() {
        if (++callbacks % 3 == 0) begin();
        std::unique_ptr<Handle> gone;
        const std::lock_guard lock(mutex);
        gone.swap(before);
    }
    void end() {
        std::unique_ptr<Handle> gone, gone_before;
        const std::lock_guard lock(mutex);
        ended = true;
        gone.swap(handle);
        gone_before.swap(before);
    }

    const Make make;
    std::atomic<int> callbacks = 0;
    std::mutex mutex;
    bool ended = false;
    std::unique_ptr<Handle> handle, before;
};

template <class Handle>
void exchange_in_callbacks(BusyCluster& c, typename Exchanging<Handle>::Make make) {
    std::vector<std::shared_ptr<Exchanging<Handle>>> hosts;
    for (int i = 0; i < 3; ++i) hosts.push_back(std::make_shared<Exchanging<Handle>>(make));
    for (const auto& host : hosts) host->begin();
    const auto end = std::chrono::steady_clock::now() + 90s;
    const auto all_called = [&] {
        for (const auto& host : hosts) {
            if (host->callbacks < 12) return false;
        }
        return true;
    };
    for (int i = 0; !all_called() && std::chrono::steady_clock::now() < end; ++i) {
        c.change(i);
        std::this_thread::sleep_for(1ms);
    }
    CHECK(all_called());
    for (const auto& host : hosts) host->end();
}

}  // namespace

TEST_CASE("Callbacks on threads: a Discoverer is exchanged in its callbacks", "[threads]") {
    BusyCluster c;
    exchange_in_callbacks<Discoverer>(c, [&c](std::function<void()> on_callback) {
        auto handle =
            std::make_unique<Discoverer>(c.context.get_executor(), c.config(),
                                         [on_callback](const TargetGroupDiff&) { on_callback(); });
        handle->set_status_callback([on_callback](const DiscovererStatus&) { on_callback(); });
        handle->async_run(asio::detached);
        return handle;
    });
}

TEST_CASE("Callbacks on threads: a DiscoveryManager is exchanged in its callbacks", "[threads]") {
    BusyCluster c;
    exchange_in_callbacks<DiscoveryManager>(c, [&c](std::function<void()> on_callback) {
        auto handle = std::make_unique<DiscoveryManager>(
            c.context.get_executor(), [on_callback](const JobDiff&) { on_callback(); });
        handle->apply_config({{"a", {c.config()}}, {"b", {c.config()}}});
        handle->async_run(asio::detached);
        return handle;
    });
}

TEST_CASE("Callbacks on threads: a Watcher is exchanged in its callbacks", "[threads]") {
    BusyCluster c;
    exchange_in_callbacks<Watcher<api::Pod>>(c, [&c](std::function<void()> on_callback) {
        WatcherConfig config;
        config.api_server.url = c.server.url();
        auto handle = std::make_unique<Watcher<api::Pod>>(
            c.context.get_executor(), config,
            [on_callback](const ObjectDiff<api::Pod>&) { on_callback(); });
        handle->set_status_callback([on_callback](const DiscovererStatus&) { on_callback(); });
        handle->async_run(asio::detached);
        return handle;
    });
}

TEST_CASE("Callbacks on threads: an ObjectCache is exchanged in its callbacks", "[threads]") {
    /// A cache, and a follower of one of its objects.
    struct FollowedCache {
        FollowedCache(const asio::any_io_executor& executor, const ObjectCacheConfig& config,
                      const std::function<void()>& on_callback)
            : cache(executor, config),
              subscription(cache.subscribe("shop", "one",
                                           [on_callback](const ObjectPtr&) { on_callback(); })) {
            cache.async_get("shop", "one",
                            [on_callback](error_code, const ObjectPtr&) { on_callback(); });
        }
        ObjectCache cache;
        ObjectCache::Subscription subscription;
    };
    BusyCluster c;
    exchange_in_callbacks<FollowedCache>(c, [&c](std::function<void()> on_callback) {
        ObjectCacheConfig config;
        config.api_server.url = c.server.url();
        return std::make_unique<FollowedCache>(c.context.get_executor(), config, on_callback);
    });
}
