#include "integration/watch/url_watcher_faults.hpp"
#include "support/objects.hpp"
#include "support/watch_probe.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <boost/json/serialize.hpp>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

// Observers of a watch that throw.

namespace {

using Names = std::set<std::string>;

/// A function of the observer, by its call after which it throws.
struct Throwing {
    const char* name;
    std::function<void()> WatchProbe::*after;
};

constexpr Throwing observer_functions[] = {
    {"on_change", &WatchProbe::after_change},
    {"on_synced", &WatchProbe::after_synced},
    {"on_batch_end", &WatchProbe::after_batch},
    {"on_status", &WatchProbe::after_status},
};

/// Counts the exceptions that leave the context. Each has to come once.
int advance_through(Simulation& sim, Duration time) {
    for (int exceptions = 0;; ++exceptions) {
        REQUIRE(exceptions < 100);
        try {
            sim.advance(time);
            return exceptions;
        } catch (const std::runtime_error&) {
        }
    }
}

}  // namespace

TEST_CASE("Throwing observers: a watch goes on, whichever call throws") {
    const Throwing& throwing = observer_functions[GENERATE(0U, 1U, 2U, 3U)];
    const bool streamed = GENERATE(true, false);
    for (int call = 1, thrown = 1; thrown == 1; ++call) {
        CAPTURE(throwing.name, streamed, call);
        Simulation sim;
        for (const char* name : {"a", "b"}) sim.server.apply(pod({.name = name}));
        WatchOptions options;
        options.watch_list = streamed;
        WatchProbe probe(sim, {}, options);
        int calls = 0;
        probe.*throwing.after = [&] {
            if (++calls == call) throw std::runtime_error("from an observer");
        };
        const auto start = [&] {
            try {
                probe.start();
                return 0;
            } catch (const std::runtime_error&) {
                return 1;
            }
        };
        thrown = start();
        thrown += advance_through(sim, 5min);
        CHECK(probe.synced == 1);
        CHECK(probe.names() == Names{"a", "b"});
        sim.server.apply(pod({.name = "c"}));
        thrown += advance_through(sim, 5min);
        CHECK(probe.names() == Names{"a", "b", "c"});
        CHECK(probe.status().waiting == Waiting::events);
        CHECK_FALSE(probe.status().error);
        CHECK(thrown == (calls < call ? 0 : 1));
    }
}

TEST_CASE("Throwing observers: a list with its kind behind its items is requested again") {
    Simulation sim;
    sim.server.apply(pod({.name = "a"}));
    auto object = sim.server.get("pods", "default", "a");
    REQUIRE(object);
    for (const char* member : {"apiVersion", "kind"}) object->erase(member);
    sim.server.fail_next(body(R"({"apiVersion":"v1","items":[)" + boost::json::serialize(*object) +
                              R"(],"kind":"PodList","metadata":{"resourceVersion":"1"}})"));
    WatchProbe probe(sim);
    bool throws = true;
    probe.after_change = [&] {
        if (std::exchange(throws, false)) throw std::runtime_error("from an observer");
    };
    CHECK_THROWS_AS(probe.start(), std::runtime_error);
    CHECK(advance_through(sim, 1min) == 0);
    CHECK(probe.synced == 1);
    CHECK(probe.names() == Names{"a"});
    CHECK(probe.status().waiting == Waiting::events);
}
