#include "integration/discovery/job_fixture.hpp"
#include "k8s_sd/target_group.hpp"
#include "k8s_sd/target_source.hpp"
#include "support/allocations.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <boost/asio/detached.hpp>
#include <functional>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// "a" with one target, whose label v has this value; no target for "".
TargetGroupPtr group(const std::string& source, const std::string& value = "1") {
    std::vector<LabelMap> targets;
    if (!value.empty()) targets.push_back({{"__address__", source}, {"v", value}});
    return TargetGroupMaker().make(source, {}, targets);
}

/// Jobs with target sources of the host.
struct Sources : Jobs {
    Job job(const std::string& name, const std::vector<TargetSource>& sources,
            const std::vector<DiscoveryConfig>& configs = {}) {
        Job job{name, configs};
        job.sources = sources;
        return job;
    }
    std::string diffs() {
        settle();
        return host.take_diffs();
    }

    TargetSource dns;
    TargetSource consul;
};

/// A host without memory from some allocation on, until it is called or a handler has failed.
struct ScarceHost : Simulation {
    ScarceHost() {
        manager.async_run(boost::asio::detached);
        Job job;
        job.name = "a";
        job.sources = {source};
        manager.apply_config({job});
        settle();
    }
    void receive(const JobDiff& diff) {
        allocations_left = -1;
        if (diff.full) groups.clear();
        for (const ProviderDiff& provider : diff.providers) {
            for (const GroupChange& change : provider.diff.updated)
                groups.insert(std::string(change.group->source()));
            for (const TargetGroupPtr& group : provider.diff.removed)
                groups.erase(std::string(group->source()));
        }
    }
    /// \returns whether there was enough memory
    bool with_memory_for(long allocations, const std::function<void()>& call) {
        allocations_left = allocations;
        try {
            call();
            allocations_left = -1;
            return true;
        } catch (const std::bad_alloc&) {
            allocations_left = -1;
            return false;
        }
    }

    TargetSource source;
    std::set<std::string> groups;
    DiscoveryManager manager{context.get_executor(), [this](JobDiff diff) { receive(diff); }};
};

}  // namespace

// --- diffs ---------------------------------------------------------------------------------------

TEST_CASE("TargetSource: a job receives the content of the source, and then its changes") {
    Sources s;
    s.settle_with({s.job("a", {s.dns})});
    CHECK(s.diffs() == "");
    CHECK_FALSE(s.status("a").synced);
    s.dns.set({group("x"), group("y")});
    CHECK(s.diffs() == "a(full): 1(full)[~x ~y]");
    CHECK(s.status("a").synced);
    s.dns.set({group("x"), group("z")});
    CHECK(s.diffs() == "a: 1[-y ~z]");
    s.dns.update({group("x", "2"), group("z", "")});
    CHECK(s.diffs() == "a: 1[-z ~x]");
    s.dns.set({});
    CHECK(s.diffs() == "a: 1[-x]");
    CHECK(s.host.problems() == "");
}

TEST_CASE("TargetSource: content set before a job was added is delivered at once") {
    Sources s;
    s.dns.set({group("x")});
    s.settle_with({s.job("a", {s.dns})});
    CHECK(s.diffs() == "a(full): 1(full)[~x]");
    s.settle_with({s.job("a", {s.dns}), s.job("b", {s.dns})});
    CHECK(s.diffs() == "b(full): 1(full)[~x]");
    CHECK(s.metrics->providers == 1);
    CHECK(s.host.problems() == "");
}

TEST_CASE("TargetSource: an empty set is a full state, and a source without one is not complete") {
    Sources s;
    s.settle_with({s.job("a", {s.dns}), s.job("b", {s.consul})});
    s.dns.set({});
    s.consul.update({group("x")});
    CHECK(s.diffs() == "a(full): 1(full)[]");
    s.consul.set({group("x")});
    CHECK(s.diffs() == "b(full): 2(full)[~x]");
}

TEST_CASE("TargetSource: what is equal, or has changed back, is no change") {
    Sources s;
    s.dns.set({group("x"), group("y")});
    s.settle_with({s.job("a", {s.dns})});
    s.diffs();
    s.dns.set({group("y"), group("x"), group("empty", "")});
    s.dns.update({group("x"), group("none", "")});
    CHECK(s.diffs() == "");
    s.dns.update({group("x", "2")});
    s.dns.update({group("x", "1")});
    s.dns.set({});
    s.dns.set({group("x"), group("y")});
    CHECK(s.diffs() == "");
    CHECK(s.host.problems() == "");
}

TEST_CASE("TargetSource: a job's interval collects changes, the newest state wins") {
    Sources s;
    s.dns.set({group("x")});
    Job job = s.job("a", {s.dns});
    job.min_update_interval = 5s;
    s.settle_with({job});
    CHECK(s.diffs() == "a(full): 1(full)[~x]");
    for (const char* value : {"2", "3", "4"}) {
        s.dns.update({group("x", value)});
        CHECK(s.diffs() == "");
    }
    s.advance(5s);
    CHECK(s.diffs() == "a: 1[~x]");
    CHECK(s.host.state("a").front().second.front().at("v") == "4");
}

TEST_CASE("TargetSource: a job has targets of Kubernetes and of the host side by side") {
    Sources s;
    s.dns.set({group("x")});
    s.settle_with({s.job("a", {s.dns, s.consul}, {s.pods()})});
    CHECK(s.host.sources("a") == "p1 p2 x");
    const JobStatus status = s.status("a");
    CHECK_FALSE(status.synced);
    REQUIRE(status.configs.size() == 3);
    CHECK(status.configs[0].origin == TargetOrigin::kubernetes);
    CHECK(status.configs[1].origin == TargetOrigin::source);
    CHECK(status.configs[1].status.synced);
    CHECK(status.configs[1].status.watches.empty());
    CHECK_FALSE(status.configs[2].status.synced);
    s.consul.set({group("y")});
    s.settle();
    CHECK(s.status("a").synced);
    CHECK(s.status("a").targets == 4);
    CHECK(s.host.problems() == "");
}

// --- configurations ------------------------------------------------------------------------------

TEST_CASE("TargetSource: handles of one source are equal, and share a provider") {
    Sources s;
    const TargetSource copy = s.dns;
    CHECK(copy == s.dns);
    CHECK((copy <=> s.dns) == 0);
    CHECK(s.dns != s.consul);
    CHECK(Job(s.job("a", {copy})) == s.job("a", {s.dns}));
    s.dns.set({group("x")});
    s.settle_with({s.job("a", {copy}), s.job("b", {s.dns}), s.job("c", {s.consul})});
    CHECK(s.metrics->providers == 2);
}

TEST_CASE("TargetSource: the same configuration again, or another name, asks nothing anew") {
    Sources s;
    s.dns.set({group("x")});
    s.settle_with({s.job("a", {s.dns})});
    s.diffs();
    s.settle_with({s.job("a", {s.dns})});
    CHECK(s.diffs() == "");
    s.settle_with({s.job("b", {s.dns})});
    CHECK(s.diffs() == "b(full): 1(full)[~x]; a(last): 1(last)[-x]");
    CHECK(s.host.problems() == "");
}

TEST_CASE("TargetSource: replaced targets stay until the source is complete") {
    Sources s;
    s.settle_with({{"a", {s.pods()}}});
    s.diffs();
    s.settle_with({s.job("a", {s.dns})});
    CHECK(s.diffs() == "");
    CHECK(s.status("a").superseded == 1);
    s.dns.fail("no answer");
    CHECK(s.diffs() == "");
    s.dns.set({group("x")});
    CHECK(s.diffs() == "a: 1(last)[-p1 -p2] 2(full)[~x]");
    s.settle_with({{"a", {s.pods()}}});
    CHECK(s.host.sources("a") == "p1 p2");
    CHECK(s.host.problems() == "");
}

TEST_CASE("TargetSource: a source that leaves a job and comes back has its newest content") {
    Sources s;
    s.dns.set({group("x")});
    s.settle_with({s.job("a", {s.dns})});
    s.settle_with({});
    CHECK(s.diffs() == "a(full): 1(full)[~x]; a(last): 1(last)[-x]");
    CHECK(s.metrics->providers == 0);
    s.dns.update({group("y")});
    s.settle_with({s.job("a", {s.dns})});
    CHECK(s.diffs() == "a(full): 2(full)[~x ~y]");
    CHECK(s.host.problems() == "");
}

TEST_CASE("TargetSource: a job keeps a source alive that the host has let go") {
    Sources s;
    s.settle_with({[&] {
        TargetSource source;
        source.set({group("x")});
        return s.job("a", {source});
    }()});
    CHECK(s.diffs() == "a(full): 1(full)[~x]");
}

TEST_CASE("TargetSource: two managers follow one source") {
    Sources s;
    JobHost other(s.context.get_executor());
    other.run().manager->apply_config({s.job("b", {s.dns})});
    s.settle_with({s.job("a", {s.dns})});
    s.dns.set({group("x")});
    s.settle();
    CHECK(s.host.take_diffs() == "a(full): 1(full)[~x]");
    CHECK(other.take_diffs() == "b(full): 1(full)[~x]");
    other.manager.reset();
    s.dns.update({group("y")});
    CHECK(s.diffs() == "a: 1[~y]");
}

// --- status --------------------------------------------------------------------------------------

TEST_CASE("TargetSource: a failure is in the status with its time, and removes nothing") {
    Sources s;
    s.dns.set({group("x")});
    s.settle_with({s.job("a", {s.dns})});
    s.diffs();
    s.advance(1min);
    const TimePoint failed = s.clock->now();
    s.dns.fail("no answer\nfrom 192.0.2.1");
    CHECK(s.diffs() == "");
    s.advance(1min);
    s.dns.fail("still none");
    s.settle();
    const DiscovererStatus status = s.status("a").configs.front().status;
    CHECK(status.synced);
    CHECK(status.error == errc::source_failed);
    CHECK(status.message == "still none");
    CHECK(status.since == failed);
    s.dns.update({});
    s.settle();
    CHECK_FALSE(s.status("a").configs.front().status.error);
    CHECK(s.status("a").configs.front().status.message == "");
    CHECK(s.diffs() == "");
}

TEST_CASE("TargetSource: a message is one line that prints, and not long") {
    Sources s;
    s.settle_with({s.job("a", {s.dns})});
    s.dns.fail("a\nb\x1b[31m" + std::string(5000, 'x'));
    s.settle();
    const std::string message = s.status("a").configs.front().status.message;
    CHECK(message.starts_with("a b [31m"));
    CHECK(message.size() < 500);
}

TEST_CASE("TargetSource: the snapshot is the newest state") {
    Sources s;
    s.dns.set({group("x")});
    Job job = s.job("a", {s.dns});
    job.min_update_interval = 1h;
    s.settle_with({job});
    s.dns.set({group("y")});
    s.settle();
    const auto snapshot = s.host.manager->snapshot("a");
    REQUIRE(snapshot->providers.size() == 1);
    REQUIRE(snapshot->providers[0].groups.size() == 1);
    CHECK(snapshot->providers[0].groups[0]->source() == "y");
}

// --- mistakes and lifetimes ----------------------------------------------------------------------

TEST_CASE("TargetSource: null pointers and sources that come twice are refused, nothing changes") {
    Sources s;
    s.dns.set({group("x")});
    s.settle_with({s.job("a", {s.dns})});
    s.diffs();
    CHECK(config_error([&] {
              s.dns.set({group("y"), nullptr});
          }) == "groups[1]: is a null pointer");
    CHECK(config_error([&] {
              s.dns.update({group("y"), group("y", "2")});
          }) == "groups[1]: the source \"y\" is also the source of an earlier group");
    CHECK(s.diffs() == "");
}

TEST_CASE("TargetSource: nothing is left when the manager is gone, and the source lives on") {
    Sources s;
    s.dns.set({group("x")});
    s.settle_with({s.job("a", {s.dns}, {s.pods()})});
    s.dns.update({group("y")});
    s.host.manager.reset();
    CHECK(s.is_quiet());
    s.dns.set({});
}

TEST_CASE("TargetSource: it may be changed in the callback of the manager") {
    Sources s;
    s.dns.set({group("x")});
    s.host.after_diff = [&](const JobDiff& diff) {
        if (diff.full) s.dns.update({group("y")});
    };
    s.settle_with({s.job("a", {s.dns})});
    CHECK(s.diffs() == "a(full): 1(full)[~x]; a: 1[~y]");
}

TEST_CASE("TargetSource: it outlives the context") {
    TargetSource source;
    {
        Sources s;
        s.settle_with({s.job("a", {source})});
        source.set({group("x")});  // the strand never runs it
        s.host.manager.reset();
    }
    source.set({group("y")});
}

// --- static lists --------------------------------------------------------------------------------

TEST_CASE("static_configs: all of a job are one provider, which is complete at once") {
    Jobs j;
    Job job{"a", {j.pods()}};
    job.static_configs = {{{"x:1", "y:1"}, {{"env", "dev"}}}, {{"z:1"}, {}}};
    j.settle_with({job});
    CHECK(contains(j.host.take_diffs(), "2(full)[~0 ~1]"));
    CHECK(j.host.sources("a") == "0 1 p1 p2");
    CHECK(j.host.state("a")[0].second ==
          std::vector<LabelMap>{{{"__address__", "x:1"}, {"env", "dev"}},
                                {{"__address__", "y:1"}, {"env", "dev"}}});
    const JobStatus status = j.status("a");
    REQUIRE(status.configs.size() == 2);
    CHECK(status.configs[1].origin == TargetOrigin::static_lists);
    CHECK(status.configs[1].status.synced);
    CHECK(status.targets == 5);
}

TEST_CASE("static_configs: a list that changes is another provider, whose targets follow at once") {
    Jobs j;
    Job job{"a", {}};
    job.static_configs = {{{"x:1"}, {}}};
    j.settle_with({job});
    CHECK(j.host.take_diffs() == "a(full): 1(full)[~0]");
    j.settle_with({job});
    CHECK(j.host.take_diffs() == "");
    job.static_configs[0].targets = {"y:1"};
    j.settle_with({job});
    CHECK(j.host.take_diffs() == "a: 1(last)[-0] 2(full)[~0]");
    CHECK(j.host.problems() == "");
}

TEST_CASE("static_configs: a mistake is a failure with its place, and takes nothing away") {
    Jobs j;
    Job job{"a", {}};
    job.static_configs = {{{"x:1"}, {}}};
    j.settle_with({job});
    j.host.take_diffs();
    job.static_configs.push_back({{"\xff"}, {}});
    const auto failures = j.settle_with({job});
    REQUIRE(failures.size() == 1);
    CHECK(failures[0].job == "a");
    CHECK(failures[0].origin == TargetOrigin::static_lists);
    CHECK(failures[0].message == "static_configs[1].targets[0]: is not UTF-8");
    CHECK(j.host.take_diffs() == "");
    CHECK(j.host.sources("a") == "0");
}

TEST_CASE("TargetSource: a handle that was moved from is a handle still") {
    TargetSource source;
    const TargetSource moved = std::move(source);
    CHECK(source == moved);  // NOLINT(bugprone-use-after-move)
    source.fail("down");
    TargetSource assigned;
    assigned = std::move(source);
    CHECK(source == assigned);  // NOLINT(bugprone-use-after-move)
}

TEST_CASE("TargetSource: no change is lost, wherever memory is lacking") {
    const std::vector<TargetGroupPtr> before{group("x"), group("y")};
    const std::vector<TargetGroupPtr> after{group("x", "2"), group("z")};
    const bool from_the_start = GENERATE(false, true);
    for (long allocations = 0;; ++allocations) {
        CAPTURE(from_the_start, allocations);
        ScarceHost host;
        if (!from_the_start) {
            host.source.set(before);
            host.settle();
        }
        // The host learns of a failed set(), and repeats it.
        bool enough = host.with_memory_for(allocations, [&] { host.source.set(after); });
        if (!enough) host.source.set(after);
        const long left = enough ? allocations : -1;
        enough = host.with_memory_for(left, [&] { host.settle(); }) && enough;
        host.settle();
        for (int pause = 0; pause < 3; ++pause) host.advance(1s);
        REQUIRE(host.groups == std::set<std::string>{"x", "z"});
        if (enough) break;
    }
}

TEST_CASE("TargetSource: a manager without memory to begin delivers nothing until it begins") {
    for (long allocations = 0;; ++allocations) {
        CAPTURE(allocations);
        Simulation simulation;
        TargetSource source;
        source.set({group("x")});
        int calls = 0;
        DiscoveryManager manager(simulation.context.get_executor(),
                                 [&](const JobDiff&) { ++calls; });
        Job a, b;
        a.name = "a";
        b.name = "b";
        a.sources = b.sources = {source};
        manager.apply_config({a, b});
        bool enough = true;
        allocations_left = allocations;
        try {
            manager.async_run(boost::asio::detached);
        } catch (const std::bad_alloc&) {
            enough = false;
        }
        allocations_left = -1;
        simulation.settle();
        CHECK(calls == (enough ? 2 : 0));
        if (enough) break;
        simulation.advance(1s);
        CHECK(calls == 0);
        manager.async_run(boost::asio::detached);
        simulation.settle();
        simulation.advance(1s);
        CHECK(calls == 2);
    }
}
