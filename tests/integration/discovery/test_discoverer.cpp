#include "support/contains.hpp"
#include "support/held_executor.hpp"
#include "support/host.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <stdexcept>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

struct Pods : Simulation {
    Pods() {
        server.apply(pod({.name = "p1"}));
        server.apply(pod({.name = "p2"}));
    }
    DiscoveryConfig config(Duration interval = {}) {
        DiscoveryConfig config{.watch = plain_lists()};
        config.api_server.url = server.url();
        config.min_update_interval = interval;
        return config;
    }
    void label(const std::string& name, const std::string& value) {
        server.apply(pod({.name = name, .labels = {{"v", value}}}));
    }
};

}  // namespace

TEST_CASE("Discoverer: the first diff is the complete state, the later ones what changed") {
    Pods p;
    Host host(p.context.get_executor(), p.config());
    host.run();
    CHECK(host.diffs == 0);  // nothing from within async_run
    p.settle();
    CHECK(host.take_diffs() == "[~pod/default/p1 ~pod/default/p2]");
    p.label("p1", "1");
    p.settle();
    p.server.remove("pods", "default", "p2");
    p.settle();
    CHECK(host.take_diffs() == "[~pod/default/p1][-pod/default/p2]");
    CHECK(host.label("pod/default/p1", "__meta_kubernetes_pod_label_v") == "1");
    CHECK(host.complaints.empty());
    CHECK_FALSE(host.ended());
}

TEST_CASE("Discoverer: an empty cluster is delivered as well, once") {
    Simulation sim;
    DiscoveryConfig config{.watch = plain_lists()};
    config.api_server.url = sim.server.url();
    Host host(sim.context.get_executor(), config);
    host.run();
    sim.advance(1h);
    CHECK(host.take_diffs() == "[]");
    CHECK(host.diffs == 1);
    CHECK(host.discoverer->status().synced);
}

TEST_CASE("Discoverer: the status is empty before it runs and after it was cancelled") {
    Pods p;
    Host host(p.context.get_executor(), p.config());
    p.settle();
    CHECK_FALSE(host.discoverer->status().synced);
    CHECK(host.discoverer->status().watches.empty());
    CHECK_FALSE(host.discoverer->status().error);
    CHECK(p.take_requests().empty());
    host.run();
    p.settle();
    CHECK(host.discoverer->status().synced);
    host.discoverer->cancel();
    p.settle();
    CHECK(host.discoverer->status().watches.empty());
}

TEST_CASE("Discoverer: while the host is busy, changes are collected") {
    Pods p;
    Host host(p.context.get_executor(), p.config());
    std::string happened;
    host.after_diff = [&](const TargetGroupDiff& diff) {
        if (!diff.full) return;
        // Everything below arrives during this callback: the context has one thread, so it is read
        // only afterwards.
        for (int i = 0; i < 100; ++i) p.label("p1", std::to_string(i));
        p.label("p2", "x");
        p.server.apply(pod({.name = "p2"}));
        p.server.apply(pod({.name = "gone"}));
        p.server.remove("pods", "default", "gone");
    };
    host.run();
    p.settle();
    CHECK(host.diffs <= 6);
    CHECK(host.label("pod/default/p1", "__meta_kubernetes_pod_label_v") == "99");
    CHECK(host.groups.size() == 2);
    CHECK(host.complaints.empty());
}

TEST_CASE("Discoverer: a host that does not come to its callbacks gets one diff of everything") {
    Pods p;
    Host quick(p.context.get_executor(), p.config());  // the group works on its executor
    quick.run();
    const HeldExecutor executor(p.context);
    Host busy(executor, p.config());
    busy.run();
    p.settle();
    CHECK(executor.held() == 1);
    for (int i = 0; i < 100; ++i) {
        p.label("p1", std::to_string(i));
        p.settle();
    }
    p.server.remove("pods", "default", "p2");
    p.settle();
    CHECK(quick.diffs == 102);
    CHECK(busy.diffs == 0);
    CHECK(executor.held() == 1);
    executor.release();
    p.settle();
    CHECK(busy.take_diffs() == "[~pod/default/p1 ~pod/default/p2]");  // the state at list time
    executor.release();
    p.settle();
    CHECK(busy.take_diffs() == "[-pod/default/p2 ~pod/default/p1]");
    CHECK(busy.groups == quick.groups);
    CHECK(busy.complaints.empty());
    executor.release();
    p.settle();
    CHECK(executor.held() == 0);
    CHECK(busy.diffs == 2);
    busy.discoverer.reset();
    executor.let_go();
}

TEST_CASE("Discoverer: a diff has the newest state of the time when its call begins") {
    Pods p;
    Host quick(p.context.get_executor(), p.config());
    quick.run();
    const HeldExecutor executor(p.context);
    Host busy(executor, p.config());
    busy.run();
    p.settle();
    executor.release();
    p.settle();
    busy.take_diffs();
    p.label("p1", "early");
    p.settle();
    CHECK(executor.held() == 1);
    p.label("p1", "late");
    p.server.remove("pods", "default", "p2");
    p.settle();
    executor.release();
    p.settle();
    CHECK(busy.take_diffs() == "[-pod/default/p2 ~pod/default/p1]");
    CHECK(busy.label("pod/default/p1", "__meta_kubernetes_pod_label_v") == "late");
    executor.release();
    p.settle();
    CHECK(executor.held() == 0);
    CHECK(busy.complaints.empty());
    busy.discoverer.reset();
    executor.let_go();
}

TEST_CASE("Discoverer: what happens between two diffs is in one") {
    Pods p;
    Host host(p.context.get_executor(), p.config(10s));
    host.run();
    p.settle();
    host.take_diffs();
    SECTION("the newest state wins") {
        for (int i = 0; i < 50; ++i) {
            p.label("p1", std::to_string(i));
            p.settle();
        }
        CHECK(host.diffs == 1);
        p.advance(10s);
        CHECK(host.take_diffs() == "[~pod/default/p1]");
        CHECK(host.label("pod/default/p1", "__meta_kubernetes_pod_label_v") == "49");
    }
    SECTION("what has changed back is no change") {
        p.label("p1", "1");
        p.settle();
        p.server.apply(pod({.name = "p1"}));
        p.settle();
        p.server.apply(pod({.name = "p3"}));
        p.settle();
        p.server.remove("pods", "default", "p3");
        p.settle();
        p.advance(60s);
        CHECK(host.take_diffs().empty());
    }
    SECTION("removed wins over updated") {
        p.label("p1", "1");
        p.settle();
        p.server.remove("pods", "default", "p1");
        p.settle();
        p.advance(10s);
        CHECK(host.take_diffs() == "[-pod/default/p1]");
    }
    SECTION("deleted and created again is another object") {
        bool replaced = false;
        host.after_diff = [&](const TargetGroupDiff& diff) {
            for (const GroupChange& change : diff.updated) replaced = change.replaced;
        };
        p.server.remove("pods", "default", "p1");
        p.settle();
        p.server.apply(pod({.name = "p1"}));
        p.settle();
        p.advance(10s);
        CHECK(host.take_diffs() == "[~pod/default/p1]");
        CHECK(replaced);
    }
    CHECK(host.complaints.empty());
}

TEST_CASE(
    "Discoverer: the least interval between two diffs is kept, a first change is not delayed") {
    Pods p;
    Host host(p.context.get_executor(), p.config(30s));
    std::vector<TimePoint> times;
    host.after_diff = [&](const auto&) { times.push_back(p.clock->now()); };
    host.run();
    p.settle();
    REQUIRE(host.diffs == 1);
    p.advance(60s);
    p.label("p1", "quiet before");
    p.settle();
    CHECK(host.diffs == 2);
    for (int i = 0; i < 300; ++i) {
        p.label("p1", std::to_string(i));
        p.advance(1s);
    }
    p.advance(60s);
    CHECK(host.label("pod/default/p1", "__meta_kubernetes_pod_label_v") == "299");
    CHECK(host.diffs <= 13);
    CHECK(host.diffs >= 11);
    for (std::size_t i = 1; i < times.size(); ++i) CHECK(times[i] - times[i - 1] >= 30s);
    CHECK(host.complaints.empty());
}

TEST_CASE("Discoverer: intervals of hosts that share a group are their own") {
    Pods p;
    Host slow(p.context.get_executor(), p.config(60s));
    Host fast(p.context.get_executor(), p.config());
    slow.run();
    fast.run();
    p.settle();
    for (int i = 0; i < 10; ++i) {
        p.label("p1", std::to_string(i));
        p.settle();
    }
    CHECK(fast.diffs == 11);
    CHECK(slow.diffs == 1);
    p.advance(60s);
    CHECK(slow.diffs == 2);
    CHECK(slow.groups == fast.groups);
    CHECK(slow.complaints.empty());
}

TEST_CASE("Discoverer: an exception of the callback leaves through run, and later diffs come") {
    Pods p;
    Host host(p.context.get_executor(), p.config());
    bool broken = true;
    host.after_diff = [&](const auto&) {
        if (broken) throw std::runtime_error("host");
    };
    host.run();
    CHECK_THROWS_AS(p.settle(), std::runtime_error);
    CHECK(host.diffs == 1);
    p.settle();
    CHECK(host.diffs == 1);  // counts as delivered
    p.label("p1", "1");
    CHECK_THROWS_AS(p.settle(), std::runtime_error);
    CHECK(host.diffs == 2);
    broken = false;
    p.label("p1", "2");
    p.settle();
    CHECK(host.diffs == 3);
    CHECK(host.groups.size() == 2);
    CHECK(host.complaints.empty());
    CHECK(p.metrics->diffs_delivered == 3);
}

TEST_CASE("Discoverer: a large diff is delivered in parts") {
    Pods p;
    for (const char* name : {"p3", "p4", "p5"}) p.server.apply(pod({.name = name}));
    DiscoveryConfig config = p.config(1h);  // parts do not wait for the interval
    config.max_groups_per_diff = 2;
    Host host(p.context.get_executor(), config);
    std::string flags;
    host.after_diff = [&](const TargetGroupDiff& diff) {
        flags += diff.full ? 'f' : '-';
        flags += diff.more ? 'm' : '-';
        flags += ' ';
    };
    host.run();
    p.settle();
    CHECK(flags == "fm -m -- ");
    CHECK(host.groups.size() == 5);
    CHECK(p.metrics->diffs_delivered == 3);

    for (const char* name : {"p1", "p2", "p3"}) p.label(name, "1");
    p.server.remove("pods", "default", "p4");
    p.settle();
    CHECK(host.diffs == 3);
    p.advance(1h);
    CHECK(flags == "fm -m -- -m -- ");
    CHECK(host.groups.size() == 4);
    p.label("p1", "2");
    p.advance(1h);
    CHECK(flags == "fm -m -- -m -- -- ");
    CHECK(host.complaints.empty());
}

TEST_CASE("Discoverer: changes between two parts follow the last part") {
    Pods p;
    p.server.apply(pod({.name = "p3"}));
    DiscoveryConfig config = p.config();
    config.max_groups_per_diff = 1;
    const HeldExecutor executor(p.context);
    Host quick(p.context.get_executor(), p.config());  // the group works on its executor
    quick.run();
    Host host(executor, config);
    host.run();
    p.settle();
    const auto release = [&] {
        executor.release();
        p.settle();
        return host.take_diffs();
    };
    CHECK(release().size() > 2);
    for (int i = 0; i < 9; ++i) {
        for (const char* name : {"p1", "p2"}) p.label(name, std::to_string(i));
        p.settle();
    }
    p.server.remove("pods", "default", "p3");
    p.server.apply(pod({.name = "p4"}));
    p.server.remove("pods", "default", "p4");
    p.settle();
    std::string parts;
    for (int i = 0; i < 2; ++i) parts += release();
    CHECK(host.groups.size() == 3);  // the complete state, as it was listed
    CHECK(host.label("pod/default/p1", "__meta_kubernetes_pod_label_v").empty());
    CHECK(host.parts == 2);
    for (int i = 0; i < 3; ++i) parts += release();
    CHECK(host.diffs == 6);
    CHECK(host.parts == 4);
    CHECK(host.groups == quick.groups);
    CHECK(host.complaints.empty());
    executor.release();
    p.settle();
    CHECK(executor.held() == 0);
    host.discoverer.reset();
    executor.let_go();
}

TEST_CASE("Discoverer: other handlers of the host run between two parts, and may cancel") {
    Pods p;
    p.server.apply(pod({.name = "p3"}));
    DiscoveryConfig config = p.config();
    config.max_groups_per_diff = 1;
    Host host(p.context.get_executor(), config);
    host.after_diff = [&](const TargetGroupDiff&) {
        asio::post(p.context, [&] { host.discoverer->cancel(); });
    };
    host.run();
    p.settle();
    CHECK(host.diffs == 1);
    CHECK(host.ended());
    CHECK(host.complaints.empty());
}

TEST_CASE("Discoverer: a part whose callback throws counts as delivered") {
    Pods p;
    p.server.apply(pod({.name = "p3"}));
    DiscoveryConfig config = p.config();
    config.max_groups_per_diff = 1;
    Host host(p.context.get_executor(), config);
    host.after_diff = [&](const auto&) { throw std::runtime_error("host"); };
    host.run();
    for (std::size_t part = 1; part <= 3; ++part) {
        CHECK_THROWS_AS(p.settle(), std::runtime_error);
        CHECK(host.diffs == part);
    }
    p.settle();
    CHECK(host.diffs == 3);
    CHECK(host.groups.size() == 3);
    CHECK(host.complaints.empty());
}

TEST_CASE("Discoverer: the latency of a diff is the time since the first change in it came") {
    Pods p;
    Host host(p.context.get_executor(), p.config(10s));
    host.run();
    p.settle();
    CHECK(p.metrics->delivery_latency.counts()[0] == 1);
    CHECK(p.metrics->delivery_latency.sum() == 0s);
    p.advance(4s);
    p.label("p1", "1");
    p.settle();
    p.advance(5s);
    p.label("p2", "1");
    p.settle();
    CHECK(host.diffs == 1);
    p.advance(1s);
    CHECK(host.diffs == 2);
    CHECK(p.metrics->delivery_latency.sum() == 6s);
    // The change is reverted, so the diff is empty; later another change waits.
    p.label("p1", "2");
    p.settle();
    p.advance(3s);
    p.label("p1", "1");
    p.settle();
    p.advance(3s);
    p.label("p1", "3");
    p.settle();
    p.advance(4s);
    CHECK(host.diffs == 3);
    CHECK(p.metrics->delivery_latency.sum() == 10s);
    LatencyHistogram::Counts expected{};
    expected[0] = 1;
    expected[11] = 1;  // at most 5 s
    expected[12] = 1;  // at most 10 s
    CHECK(p.metrics->delivery_latency.counts() == expected);
}

TEST_CASE("Discoverer: what comes while the complete state waits counts from that state") {
    Pods p;
    Host quick(p.context.get_executor(), p.config());  // the group works on its executor
    quick.run();
    const HeldExecutor executor(p.context);
    Host busy(executor, p.config());
    busy.run();
    p.settle();
    p.advance(2s);
    p.label("p1", "1");
    p.settle();
    p.advance(3s);
    while (executor.held() > 0) {
        executor.release();
        p.settle();
    }
    CHECK(quick.diffs == 2);
    CHECK(busy.diffs == 2);
    CHECK(p.metrics->delivery_latency.sum() == 10s);
    busy.discoverer.reset();
    executor.let_go();
}

TEST_CASE("Discoverer: one host's exception does not touch another one's diffs") {
    Pods p;
    Host bad(p.context.get_executor(), p.config());
    Host good(p.context.get_executor(), p.config());
    bad.after_diff = [](const auto&) { throw std::runtime_error("host"); };
    bad.run();
    good.run();
    for (int i = 0; i < 4; ++i) {
        p.label("p1", std::to_string(i));
        try {
            p.settle();
        } catch (const std::runtime_error&) {
            p.settle();
        }
    }
    CHECK(good.label("pod/default/p1", "__meta_kubernetes_pod_label_v") == "3");
    CHECK(good.complaints.empty());
}

TEST_CASE("Discoverer: a host may give a strand of its own") {
    Pods p;
    const auto strand = asio::make_strand(p.context);
    Host host(strand, p.config());
    bool inside = true;
    host.after_diff = [&](const auto&) { inside = inside && strand.running_in_this_thread(); };
    host.run();
    p.settle();
    p.label("p1", "1");
    p.settle();
    CHECK(host.diffs == 2);
    CHECK(inside);
    CHECK(host.discoverer->get_executor() == asio::any_io_executor(strand));
}

TEST_CASE("Discoverer: an error is in the status, and the targets stay") {
    Pods p;
    Host host(p.context.get_executor(), p.config());
    host.run();
    p.advance(2s);
    const TimePoint before = p.clock->now();
    p.server.deny("pods");
    p.server.disconnect_all();
    p.advance(60s);
    const DiscovererStatus status = host.discoverer->status();
    CHECK(status.error == errc::forbidden);
    CHECK(contains(status.message, "missing is the permission to list pods"));
    CHECK(status.since > before);
    CHECK(status.since < before + 5s);
    CHECK(status.synced);
    CHECK(host.diffs == 1);
    CHECK(host.groups.size() == 2);
    p.server.allow("pods");
    p.server.remove("pods", "default", "p1");
    p.advance(60s);
    CHECK_FALSE(host.discoverer->status().error);
    CHECK(host.diffs == 2);
    CHECK(host.groups.size() == 1);
    CHECK(host.complaints.empty());
}
