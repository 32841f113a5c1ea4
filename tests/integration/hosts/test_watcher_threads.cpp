#include "k8s_sd/environment.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "support/objects.hpp"
#include "support/server_threads.hpp"
#include "support/wait_until.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// A context run by three threads, with a simulated server.
struct WatchingThreads : ServerThreads {
    WatchingThreads() : ServerThreads(3) {}
    WatcherConfig config() const {
        WatcherConfig config;
        config.api_server.url = server.url();
        return config;
    }
};

}  // namespace

TEST_CASE("Watcher: while threads run its context, others read its store and its status") {
    WatchingThreads t;
    for (int i = 0; i < 20; ++i) t.server.apply(pod({.name = "p" + std::to_string(i)}));
    Store<api::Pod> store;
    const auto by_node = store.index([](const api::Pod& p) { return p.spec.node_name; });
    std::atomic<int> running = 0;
    std::atomic<int> overlaps = 0;
    Watcher<api::Pod> watcher(t.context.get_executor(), t.config(), store, [&](const auto&) {
        if (++running > 1) ++overlaps;
        --running;
    });
    watcher.async_run([](error_code) {});
    std::atomic<bool> stop = false;
    std::atomic<int> wrong = 0;
    std::thread reader([&] {
        while (!stop) {
            for (const auto& found : by_node.all("m7")) {
                if (found->spec.node_name != "m7") ++wrong;
            }
            const auto found = store.find("default", "p3");
            if (found && found->metadata.name != "p3") ++wrong;
            (void)watcher.status();
        }
    });
    for (int i = 0; i < 300; ++i) {
        const int number = i % 20;
        t.server.apply(
            pod({.name = "p" + std::to_string(number), .node = "m" + std::to_string(i % 9)}));
        if (i % 30 == 0) t.server.disconnect_all();
    }
    t.server.apply(pod({.name = "last"}));
    CHECK(wait_until([&] { return store.find("default", "last") != nullptr; }));
    stop = true;
    reader.join();
    CHECK(overlaps == 0);
    CHECK(wrong == 0);
    CHECK(store.size() == 21);
}

TEST_CASE("Watcher: watchers come and go on all threads while objects change") {
    std::atomic<bool> stop = false;
    std::atomic<int> received = 0;
    WatchingThreads t;  // its threads end before the objects used by its callbacks are destroyed
    std::vector<std::thread> hosts;
    for (int h = 0; h < 3; ++h) {
        hosts.emplace_back([&, h] {
            WatcherConfig config = t.config();
            if (h == 1) config.fields = {"spec.nodeName"};
            while (!stop) {
                std::atomic<bool> ended = false;
                {
                    Watcher<api::Pod> watcher(t.context.get_executor(), config,
                                              [&](const auto&) { ++received; });
                    watcher.async_run([&](error_code) { ended = true; });
                    std::this_thread::sleep_for(h * 1ms);
                    (void)watcher.status();
                    if (h == 2) watcher.cancel();
                }
                if (!wait_until([&] { return ended.load(); })) return;
            }
        });
    }
    for (int i = 0; i < 200; ++i) {
        t.server.apply(
            pod({.name = "p" + std::to_string(i % 10), .node = "m" + std::to_string(i)}));
        std::this_thread::sleep_for(1ms);
    }
    stop = true;
    for (std::thread& host : hosts) host.join();
    received = 0;
    Watcher<api::Pod> last(t.context.get_executor(), t.config(), [&](const auto&) { ++received; });
    last.async_run([](error_code) {});
    CHECK(wait_until([&] { return received > 0; }));
}

TEST_CASE("Watcher: threads read it, cancel reads, ask for its status and wait, all at once") {
    std::atomic<int> diffs = 0;
    std::atomic<int> received = 0;
    std::atomic<int> waited = 0;
    std::atomic<int> ended = 0;
    WatchingThreads t;  // its threads end before the objects used by its callbacks are destroyed
    for (int round = 0; round < 20; ++round) {
        Watcher<api::Pod> watcher(t.context.get_executor(), t.config());
        watcher.set_status_callback([&](const DiscovererStatus&) { ++received; });
        std::atomic<bool> stop = false;
        std::thread reader([&] {
            while (!stop) {
                auto next = watcher.async_next(boost::asio::use_future);
                try {
                    if (next.wait_for(1s) == std::future_status::ready && next.get().full) ++diffs;
                } catch (const boost::system::system_error&) {
                    ++ended;
                }
            }
        });
        std::thread canceller([&] {
            for (int i = 0; i < 20; ++i) {
                boost::asio::cancellation_signal signal;
                boost::asio::io_context own;
                watcher.async_next(boost::asio::bind_executor(
                    own, boost::asio::bind_cancellation_slot(
                             signal.slot(), [&](error_code, const ObjectDiff<api::Pod>&) {})));
                signal.emit(boost::asio::cancellation_type::terminal);
                own.run();
                watcher.async_wait_synced([&](error_code) { ++waited; });
                (void)watcher.status();
            }
        });
        for (int i = 0; i < 10; ++i) {
            t.server.apply(pod({.name = "p" + std::to_string(i % 5),
                                .node = "m" + std::to_string(round * 10 + i)}));
        }
        canceller.join();
        stop = true;
        if (round % 2 == 0) watcher.cancel();
        reader.join();
    }
    CHECK(wait_until([&] { return waited == 400; }));
    received = 0;
    Watcher<api::Pod> last(t.context.get_executor(), t.config());
    last.set_status_callback([&](const DiscovererStatus&) { ++received; });
    last.async_run([](error_code) {});
    CHECK(wait_until([&] { return received > 0; }));
}
