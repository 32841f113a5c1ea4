#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/server_threads.hpp"
#include "support/simulation.hpp"
#include "support/wait_until.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// The state of a host, read by the test's thread while callbacks write it.
struct SharedHost {
    void apply(const TargetGroupDiff& diff) {
        overlaps += running.exchange(true) ? 1 : 0;
        {
            const std::lock_guard lock(mutex);
            if (diff.full) groups.clear();
            for (const GroupChange& change : diff.updated) {
                groups[std::string(change.group->source())] = change.group;
            }
            for (const auto& group : diff.removed) groups.erase(std::string(group->source()));
        }
        running = false;
    }
    std::size_t size() {
        const std::lock_guard lock(mutex);
        return groups.size();
    }
    std::atomic<bool> running = false;
    std::atomic<int> overlaps = 0;
    std::mutex mutex;
    std::map<std::string, TargetGroupPtr> groups;
};

}  // namespace

TEST_CASE("Discoverer: four threads, a cluster that changes, discoverers that come and go") {
    ServerThreads t(4);
    const std::vector<Role> roles{Role::pod, Role::endpointslice, Role::service, Role::node};
    std::vector<std::shared_ptr<SharedHost>> hosts(8);
    std::vector<std::optional<Discoverer>> discoverers(8);
    const auto create = [&](std::size_t i) {
        DiscoveryConfig config{.watch = plain_lists()};
        config.role = roles[i % roles.size()];
        config.api_server.url = t.server.url();
        config.attach_metadata.node = i >= roles.size();
        hosts[i] = std::make_shared<SharedHost>();
        discoverers[i].emplace(t.context.get_executor(), config,
                               [host = hosts[i]](const auto& diff) { host->apply(diff); });
        discoverers[i]->async_run(asio::detached);
    };
    for (std::size_t i = 0; i < hosts.size(); ++i) create(i);

    std::mt19937 random(1);
    const auto below = [&](unsigned limit) { return random() % limit; };
    int overlaps = 0;
    for (int step = 0; step < 5000; ++step) {
        const std::string name = "p" + std::to_string(below(20));
        const std::size_t i = below(8);
        switch (below(12)) {
            case 0: t.server.remove("pods", "default", name); break;
            case 1: t.server.apply(node("n1", {{"zone", std::to_string(step)}})); break;
            case 2: t.server.apply(service("web", {{"v", std::to_string(step)}})); break;
            case 3: t.server.apply(slice("web-x", "web", {{"10.0.0.1", name}})); break;
            case 4: discoverers[i]->status(); break;
            case 5:
                overlaps += hosts[i]->overlaps;
                discoverers[i]->cancel();
                create(i);
                break;
            case 6: discoverers[i]->cancel(); break;
            case 7:
                if (step % 10 == 0) t.server.end_watches();
                break;
            default: t.server.apply(pod({.name = name, .labels = {{"v", std::to_string(step)}}}));
        }
    }
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        overlaps += hosts[i]->overlaps;
        create(i);
    }
    t.server.apply(pod({.name = "last"}));
    CHECK(wait_until([&] {
        return hosts[0]->size() == t.server.count("pods") &&
               hosts[4]->size() == t.server.count("pods") &&
               hosts[2]->size() == t.server.count("services");
    }));
    for (const auto& host : hosts) overlaps += host->overlaps;
    CHECK(overlaps == 0);

    discoverers.clear();
    // The server may see a connection close before the client has decremented its watcher count.
    CHECK(wait_until([&] {
        std::int64_t left = static_cast<std::int64_t>(t.server.open_connections());
        for (const auto& kind : t.metrics->kinds) {
            left += kind.watchers + kind.objects + kind.synced_watchers;
        }
        return left == 0;
    }));
}

TEST_CASE("Discoverer: after cancel has returned at most a call that had begun is running") {
    ServerThreads t(4);
    const auto witness_host = std::make_shared<SharedHost>();
    DiscoveryConfig config{.watch = plain_lists()};
    config.api_server.url = t.server.url();
    Discoverer witness(t.context.get_executor(), config,
                       [witness_host](const auto& diff) { witness_host->apply(diff); });
    witness.async_run(asio::detached);
    for (int round = 0; round < 50; ++round) {
        const auto calls = std::make_shared<std::atomic<int>>(0);
        Discoverer discoverer(t.context.get_executor(), config, [calls](const auto&) { ++*calls; });
        discoverer.async_run(asio::detached);
        const std::string name = "p" + std::to_string(round);
        t.server.apply(pod({.name = name, .labels = {{"v", "1"}}}));
        discoverer.cancel();
        const int before = *calls;
        for (int i = 0; i < 5; ++i) {
            t.server.apply(pod({.name = name, .labels = {{"w", std::to_string(i)}}}));
        }
        t.server.apply(pod({.name = name + "-last"}));
        const std::size_t all = 2 * static_cast<std::size_t>(round + 1);
        REQUIRE(wait_until([&] { return witness_host->size() == all; }));
        CHECK(*calls <= before + 1);
    }
}

TEST_CASE("Discoverer: cancel, status and signals from several threads at once") {
    ServerThreads t(4);
    t.server.apply(pod({.name = "p"}));
    DiscoveryConfig config{.watch = plain_lists()};
    config.api_server.url = t.server.url();
    for (int round = 0; round < 20; ++round) {
        std::atomic<int> ended = 0;
        Discoverer discoverer(t.context.get_executor(), config, [](const auto&) {});
        discoverer.async_run([&](error_code) { ++ended; });
        {
            std::vector<std::jthread> callers;
            for (int i = 0; i < 3; ++i) {
                callers.emplace_back([&, i] {
                    discoverer.status();
                    if (i == 0) discoverer.async_run([&](error_code) { ++ended; });
                    discoverer.status();
                    discoverer.cancel();
                    discoverer.status();
                });
            }
        }
        CHECK(wait_until([&] { return ended == 2; }));
    }
}

TEST_CASE("Discoverer: pods' groups are read and released in other threads, also after its end") {
    Simulation simulation;
    const auto apply = [&](int number, int version) {
        simulation.server.apply(
            pod({.name = "p" + std::to_string(number), .node = "n" + std::to_string(version)}));
    };
    for (int i = 0; i < 10; ++i) apply(i, 0);
    DiscoveryConfig config{.watch = plain_lists()};
    config.api_server.url = simulation.server.url();
    std::atomic<int> wrong = 0;
    std::atomic<bool> discoverer_is_gone = false;
    std::vector<std::jthread> readers;
    // Of each diff, one thread has the groups while their pods change, another one after the end.
    const auto read = [&](std::vector<GroupChange> changes, bool waits) {
        while (waits && !discoverer_is_gone) std::this_thread::yield();
        for (GroupChange& change : changes) {
            const std::string name =
                "pod/default/" + change.group->merged(0).at("__meta_kubernetes_pod_name");
            wrong += change.group->source() == name ? 0 : 1;
            change = {};
        }
    };
    std::optional<Discoverer> discoverer(std::in_place, simulation.context.get_executor(), config,
                                         [&](const TargetGroupDiff& diff) {
                                             for (const bool waits : {false, true}) {
                                                 readers.emplace_back(read, diff.updated, waits);
                                             }
                                         });
    discoverer->async_run(asio::detached);
    for (int version = 1; version <= 5; ++version) {
        simulation.settle();
        for (int i = 0; i < 10; ++i) apply(i, version);
    }
    simulation.settle();
    discoverer.reset();
    simulation.settle();
    discoverer_is_gone = true;
    const std::size_t diffs = readers.size() / 2;
    readers.clear();
    CHECK(diffs >= 6);
    CHECK(wrong == 0);
}
