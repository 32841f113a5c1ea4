#include "k8s_sd/group_watcher.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "support/allocations.hpp"
#include "support/effort.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

// Handlers that run out of memory while they generate groups.

namespace {

/// Passes time, whatever lacked memory before.
void advance_through(Simulation& sim, Duration time) {
    for (int exceptions = 0; exceptions < 10; ++exceptions) {
        try {
            sim.advance(time);
            return;
        } catch (const std::bad_alloc&) {
        }
    }
    FAIL("there is memory, and still an exception");
}

/// Keeps the groups of its role. Takes memory itself, whatever the watcher has.
struct Keeper final : GroupWatcher::Observer {
    void on_ready(const std::shared_ptr<const TargetGroupDiff>& state) override {
        take(state->updated);
    }
    void on_changes(const std::vector<GroupChange>& changes) override {
        ++diffs;
        take(changes);
    }
    void take(const std::vector<GroupChange>& changes) {
        const long left = std::exchange(allocations_left, -1);
        const bool counts = std::exchange(memory_use.on, false);
        for (const GroupChange& change : changes) {
            if (change.group)
                groups[std::string(change.group->source())] = change.group;
            else
                groups.erase(std::string(change.previous->source()));
        }
        memory_use.on = counts;
        allocations_left = left;
    }
    /// The number of groups with this label of their node.
    std::ptrdiff_t count(const std::string& zone) const {
        return std::count_if(groups.begin(), groups.end(), [&](const auto& known) {
            return known.second->labels().get("__meta_kubernetes_node_label_zone") == zone;
        });
    }

    std::map<std::string, TargetGroupPtr> groups;
    int diffs = 0;
};

}  // namespace

TEST_CASE("Scarce memory: groups that could not be generated are, as soon as there is memory") {
    // More than one handler generates.
    constexpr int pods = 2'500;
    Simulation sim;
    sim.server.apply(node("n", {{"zone", "first"}}));
    for (int i = 0; i < pods; ++i)
        sim.server.apply(pod({.name = "p" + std::to_string(i), .ip = "10.0.0.1", .node = "n"}));
    DiscoveryConfig config{.watch = plain_lists()};
    config.api_server.url = sim.server.url();
    config.attach_metadata.node = true;
    const auto keeper = std::make_shared<Keeper>();
    const auto watcher = GroupWatcher::acquire(sim.context.get_executor(), resolve(config));
    const auto subscription = watcher->subscribe(Role::pod, keeper);
    sim.advance(1min);
    REQUIRE(keeper->count("first") == pods);

    int failures = 0;
    for (const long allocations : {0L, 1L, 2L, 3L, 4L, 10L, 100L, 1'000L}) {
        // The first of these handlers belong to the connection, others generate.
        for (int handlers = 0; handlers < 4; ++handlers) {
            CAPTURE(allocations, handlers);
            const std::string zone =
                "zone-" + std::to_string(allocations) + "-" + std::to_string(handlers);
            sim.server.apply(node("n", {{"zone", zone}}));
            keeper->diffs = 0;
            sim.context.restart();
            while (keeper->diffs == 0 && sim.context.run_one() > 0) {
            }
            for (int i = 0; i < handlers; ++i) sim.context.run_one();
            allocations_left = allocations;
            try {
                sim.context.run_one();
            } catch (const std::bad_alloc&) {
                ++failures;
            }
            allocations_left = -1;
            advance_through(sim, 2min);
            CHECK(keeper->count(zone) == pods);
        }
    }
    CHECK(failures > 0);
}

namespace {

/// A watcher of groups while it receives its list.
struct FirstState : Simulation {
    static constexpr std::size_t pods = 1'200;  // more than one handler generates

    FirstState() {
        for (std::size_t i = 0; i < pods; ++i)
            server.apply(pod({.name = "p" + std::to_string(i), .ip = "10.0.0.1"}));
        DiscoveryConfig config{.watch = plain_lists()};
        config.watch.page_size = 0;
        config.api_server.url = server.url();
        watcher = GroupWatcher::acquire(context.get_executor(), resolve(config));
        subscription = watcher->subscribe(Role::pod, keeper);
        const auto& objects = metrics->of(Kind::pod).objects;
        while (objects == 0) context.poll_one();
    }
    void run(int handlers) {
        for (int i = 0; i < handlers; ++i) context.poll_one();
    }

    const std::shared_ptr<Keeper> keeper = std::make_shared<Keeper>();
    std::shared_ptr<GroupWatcher> watcher;
    GroupWatcher::Subscription subscription;
};

}  // namespace

TEST_CASE("Scarce memory: the first state of groups is whole, whichever handler lacked memory") {
    for (int handlers = 0; handlers < 6; handlers += static_cast<int>(step_of(2))) {
        FirstState counted;
        counted.run(handlers);
        memory_use = {.on = true};
        counted.run(1);
        memory_use.on = false;
        const long needed = memory_use.allocations;
        for (long allocations = 0; allocations < needed; ++allocations) {
            if (allocations == 3) allocations = std::max(allocations, needed - rounds(20));
            CAPTURE(handlers, allocations);
            FirstState state;
            state.run(handlers);
            allocations_left = allocations;
            try {
                state.run(1);
            } catch (const std::bad_alloc&) {
            }
            allocations_left = -1;
            state.context.restart();
            advance_through(state, 3min);
            CHECK(state.keeper->groups.size() == FirstState::pods);
        }
    }
}

namespace {

/// A watcher lacks memory in one of its handlers: from an allocation to the end of the handler, or
/// for this allocation only. It must deliver all the same.
/// \returns whether the handler has as many allocations
bool delivers_without(int handlers, long allocations, bool is_for_one) {
    CAPTURE(handlers, allocations, is_for_one);
    Simulation sim;
    for (const char* name : {"a", "b"}) sim.server.apply(pod({.name = name}));
    WatcherConfig config;
    config.api_server.url = sim.server.url();
    config.watch = plain_lists();
    std::size_t known = 0;
    const auto count = [&](const ObjectDiff<api::Pod>& diff) {
        // Takes memory itself, whatever the watcher has.
        if (!is_for_one) allocations_left = -1;
        known = diff.full ? diff.added.size() : known + diff.added.size();
    };
    Watcher<api::Pod> watcher(sim.context.get_executor(), config, count);
    watcher.async_run([](error_code) {});
    for (int i = 0; i < handlers; ++i) sim.context.poll_one();
    allocations_left = allocations;
    memory_returns = is_for_one;
    try {
        sim.context.poll_one();
    } catch (const std::bad_alloc&) {
    }
    // The exception of an observer may leave a later handler.
    const bool has_failed = is_for_one ? allocations_left < 0 : allocations_left == 0;
    allocations_left = -1;
    memory_returns = false;
    advance_through(sim, 5min);
    CHECK(known == 2);
    sim.server.apply(pod({.name = "c"}));
    advance_through(sim, 5min);
    CHECK(known == 3);
    return has_failed;
}

}  // namespace

TEST_CASE("Scarce memory: a watcher that runs out of memory while it lists delivers in the end") {
    constexpr int start = 9;  // handlers before the watch
    for (int handlers = start; handlers < start + 8; ++handlers) {
        for (long allocations = 0; delivers_without(handlers, allocations, false);) ++allocations;
    }
}

TEST_CASE("Scarce memory: a watcher for which one allocation fails delivers in the end") {
    constexpr int start = 5;  // handlers before the list
    for (int handlers = start; handlers < start + 18; ++handlers) {
        for (long allocations = 0; delivers_without(handlers, allocations, true);) ++allocations;
    }
}
