#include "support/objects.hpp"
#include "support/watch_probe.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <algorithm>
#include <functional>
#include <new>
#include <optional>
#include <set>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using sim::Response;

// Lists that lack thousands of known objects.

namespace {

constexpr int known = 6'000;
constexpr int removed = 2'500;       // less than half: no second list has to confirm it
constexpr int max_removals = 1'000;  // of a step

WatchOptions at_most(std::size_t objects) {
    WatchOptions options;
    options.max_objects = objects;
    return options;
}

std::string name_of(int i) { return "p" + std::to_string(i); }

/// A watch of many pods, of which the next list lacks a part.
struct ManyPods : Simulation {
    explicit ManyPods(bool streamed, WatchOptions options = {}) {
        for (int i = 0; i < known; ++i) server.apply(pod({.name = name_of(i)}));
        options.watch_list = streamed;
        probe.emplace(*this, WatchQuery{}, options);
        probe->start();
        advance(1min);
        probe->take_changes();
        probe->after_batch = [this] {
            const std::string changes = probe->take_changes();
            const auto lost = static_cast<int>(std::count(changes.begin(), changes.end(), '-'));
            if (lost == 0) return;
            CHECK(lost <= max_removals);
            removals += lost;
            if (++steps == 1 && on_first_step) on_first_step();
        };
    }
    /// Removes pods, and lets the watch list.
    void relist() {
        server.end_watches();
        settle();
        for (int i = 0; i < removed; ++i) server.remove("pods", "default", name_of(i));
        is_away = true;
        if (while_away) while_away();
        server.fail_next(Response::failure(410, "Expired", "too old resource version"));
        advance(1s);
    }
    std::set<std::string> names_of_server() const {
        std::set<std::string> names;
        for (int i = 0; i < known; ++i) {
            if (server.get("pods", "default", name_of(i))) names.insert(name_of(i));
        }
        return names;
    }

    std::optional<WatchProbe> probe;
    std::function<void()> while_away, on_first_step;
    bool is_away = false;
    int steps = 0;
    int removals = 0;
};

}  // namespace

TEST_CASE("Large removals: a list that lacks thousands of objects removes them in steps") {
    ManyPods pods(GENERATE(true, false));
    pods.relist();
    CHECK(pods.steps == 3);
    CHECK(pods.removals == removed);
    CHECK(pods.probe->names() == pods.names_of_server());
    CHECK(pods.metrics->of(Kind::pod).lists == 2);
    CHECK(pods.probe->status().waiting == Waiting::events);
}

TEST_CASE("Large removals: events between the steps are not lost") {
    ManyPods pods(GENERATE(true, false));
    pods.on_first_step = [&] {
        // Of objects that the list lacks, and of others.
        for (int i = 0; i < 200; ++i) pods.server.apply(pod({.name = name_of(i * 20)}));
        for (int i = 0; i < 100; ++i) pods.server.remove("pods", "default", name_of(5'900 + i));
    };
    pods.relist();
    CHECK(pods.steps >= 3);
    CHECK(pods.probe->names() == pods.names_of_server());
    CHECK(pods.probe->names().size() == known - removed + 25);
}

TEST_CASE("Large removals: the list is complete after the last step") {
    ManyPods pods(GENERATE(true, false));
    const WatchStatus before = pods.probe->status();
    pods.on_first_step = [&] {
        const WatchStatus status = pods.probe->status();
        CHECK(status.resource_version == before.resource_version);
        CHECK(status.last_list == before.last_list);
        CHECK(status.waiting == Waiting::list);
    };
    pods.relist();
    CHECK(pods.steps == 3);
    CHECK(pods.probe->status().resource_version != before.resource_version);
    CHECK(pods.probe->status().last_list != before.last_list);
}

TEST_CASE("Large removals: objects that wait for their removal take no room from new ones") {
    // With the 2 500 removed ones these are more than the watch may keep.
    constexpr int created = 2'000;
    ManyPods pods(true, at_most(known));
    const auto create = [&](int count, const std::string& prefix) {
        for (int i = 0; i < count; ++i)
            pods.server.apply(pod({.name = prefix + std::to_string(i)}));
    };
    pods.while_away = [&] { create(created, "list"); };
    pods.on_first_step = [&] { create(10, "event"); };
    pods.relist();
    CHECK(pods.probe->names().size() == known - removed + created + 10);
    CHECK_FALSE(pods.probe->status().error);
    CHECK(pods.metrics->of(Kind::pod).lists == 2);
}

TEST_CASE("Large removals: a stream that ends between the steps is no complete list") {
    ManyPods pods(true);
    pods.on_first_step = [&] { pods.server.end_watches(); };
    pods.relist();
    pods.advance(1min);
    CHECK(pods.removals == removed);
    CHECK(pods.probe->names() == pods.names_of_server());
    CHECK(pods.probe->status().waiting == Waiting::events);
    CHECK_FALSE(pods.probe->status().error);
}

TEST_CASE("Large removals: an observer that throws in between gets the rest from another list") {
    const bool streamed = GENERATE(true, false);
    const int failing = GENERATE(1, 999, 1'500, 2'500);  // the number of the removal
    CAPTURE(streamed, failing);
    ManyPods pods(streamed);
    int removals = 0;
    pods.probe->after_change = [&] {
        if (pods.is_away && ++removals == failing) throw std::bad_alloc();
    };
    CHECK_THROWS_AS(pods.relist(), std::bad_alloc);
    pods.advance(5min);
    CHECK(pods.probe->names() == pods.names_of_server());
    CHECK(pods.probe->status().objects == known - removed);
    CHECK(pods.probe->status().waiting == Waiting::events);
    CHECK_FALSE(pods.probe->status().error);
}

TEST_CASE("Large removals: a watch that is stopped between the steps reports nothing more") {
    ManyPods pods(GENERATE(true, false));
    pods.on_first_step = [&] { pods.probe->destroy(); };
    pods.relist();
    CHECK(pods.steps == 1);
    CHECK(pods.removals == max_removals);
}
