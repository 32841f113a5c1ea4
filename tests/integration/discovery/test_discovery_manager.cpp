#include "integration/discovery/job_fixture.hpp"
#include "support/contains.hpp"
#include "support/held_executor.hpp"
#include "support/host.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/strand.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

// --- deliveries to a job ------------------------------------------------------------------------

TEST_CASE("DiscoveryManager: a job's first diff is its complete state, the later ones changes") {
    Jobs j;
    CHECK(j.apply({{"a", {j.pods()}}}).empty());
    CHECK(j.host.diffs == 0);  // nothing from within apply_config
    j.settle();
    CHECK(j.host.take_diffs() == "a(full): 1(full)[~p1 ~p2]");
    j.label("p1", "1");
    j.settle();
    j.server.remove("pods", "default", "p2");
    j.settle();
    CHECK(j.host.take_diffs() == "a: 1[~p1]; a: 1[-p2]");
    CHECK(j.host.problems() == "");
    CHECK(j.metrics->job_diffs_delivered == 3);
    CHECK(j.metrics->diffs_delivered == 0);
}

TEST_CASE("DiscoveryManager: the first configuration that is listed begins, the others follow") {
    Jobs j;
    j.server.deny("services");
    j.settle_with({{"a", {j.services(), j.pods()}}});
    CHECK(j.host.take_diffs() == "a(full): 2(full)[~p1 ~p2]");
    CHECK_FALSE(j.status("a").synced);
    j.server.allow("services");
    j.advance(1min);
    CHECK(j.host.take_diffs() == "a: 1(full)[~s1]");
    CHECK(j.status("a").synced);
    CHECK(j.host.problems() == "");
}

TEST_CASE("DiscoveryManager: what is not listed is not delivered as empty") {
    Jobs j;
    j.server.deny("services");
    j.settle_with({{"slow", {j.services()}}, {"quick", {j.pods()}}});
    j.advance(10min);
    CHECK(j.host.take_diffs() == "quick(full): 2(full)[~p1 ~p2]");
    j.server.allow("services");
    j.advance(1min);
    CHECK(j.host.take_diffs() == "slow(full): 1(full)[~s1]");
    CHECK(j.host.problems() == "");
}

TEST_CASE("DiscoveryManager: a job that can have no targets gets an empty diff at once") {
    Jobs j;
    SECTION("no configurations") {
        CHECK(j.settle_with({{"a", {}}}).empty());
        CHECK(j.status("a").synced);
    }
    SECTION("none that can be used") {
        CHECK(j.settle_with({{"a", {Jobs::unusable()}}}).size() == 1);
        CHECK_FALSE(j.status("a").synced);
        CHECK(j.metrics->failed_configs == 1);
    }
    CHECK(j.host.take_diffs() == "a(full):");
    CHECK(j.settle_with({{"a", {j.pods()}}}).empty());
    CHECK(j.metrics->failed_configs == 0);
    CHECK(contains(j.host.take_diffs(), "(full)[~p1 ~p2]"));
    CHECK(j.host.problems() == "");
}

TEST_CASE("DiscoveryManager: a configuration without targets is delivered as well") {
    Jobs j;
    j.settle_with({{"a", {j.nodes()}}, {"b", {j.pods(), j.nodes()}}});
    CHECK(j.host.take_diffs() == "a(full): 1(full)[]; b(full): 1(full)[]; b: 2(full)[~p1 ~p2]");
    CHECK(j.host.problems() == "");
}

TEST_CASE("DiscoveryManager: the last target that goes leaves the job empty") {
    Jobs j;
    j.settle_with({{"a", {j.services()}}});
    j.server.remove("services", "default", "s1");
    j.settle();
    CHECK(j.host.take_diffs() == "a(full): 1(full)[~s1]; a: 1[-s1]");
    CHECK(j.host.jobs.at("a").at(1).groups.empty());
    CHECK(j.status("a").groups == 0);
    CHECK(j.host.problems() == "");
}

TEST_CASE("DiscoveryManager: errors take no targets away, and do not touch other configurations") {
    Jobs j;
    j.settle_with({{"a", {j.pods(), j.services()}}});
    j.host.take_diffs();
    j.server.deny("pods");
    j.server.disconnect_all();
    j.advance(5min);
    j.server.apply(service("s2"));
    j.server.remove("pods", "default", "p1");
    j.advance(5min);
    CHECK(j.host.take_diffs() == "a: 2[~s2]");
    const JobStatus status = j.status("a");
    CHECK(status.groups == 4);
    REQUIRE(status.configs.size() == 2);
    CHECK(status.configs[0].status.error == errc::forbidden);
    CHECK_FALSE(status.configs[1].status.error);
    CHECK(status.synced);
    j.server.allow("pods");
    j.advance(1min);
    CHECK(j.host.take_diffs() == "a: 1[-p1]");
    CHECK(j.host.problems() == "");
}

TEST_CASE("DiscoveryManager: groups of one source from two clusters are kept apart") {
    Jobs j;
    // The same server, but a manager cannot know that both URLs lead to it.
    DiscoveryConfig other = j.pods();
    other.api_server.url = "http://other.invalid";
    j.settle_with({{"a", {j.pods(), other}}});
    CHECK(j.host.take_diffs() == "a(full): 1(full)[~p1 ~p2]; a: 2(full)[~p1 ~p2]");
    CHECK(j.status("a").groups == 4);
    j.server.remove("pods", "default", "p1");
    j.settle();
    CHECK(j.host.sources("a") == "p2 p2");
    j.settle_with({{"a", {other}}});
    CHECK(j.host.sources("a") == "p2");
    CHECK(j.host.jobs.at("a").contains(2));
    CHECK(j.host.problems() == "");
}

TEST_CASE("DiscoveryManager: one configuration twice in a job is one") {
    Jobs j;
    j.settle_with({{"a", {j.pods(), j.pods()}}});
    CHECK(j.host.take_diffs() == "a(full): 1(full)[~p1 ~p2]");
    CHECK(j.status("a").configs.size() == 2);
    CHECK(j.status("a").groups == 2);
    j.settle_with({{"a", {j.pods()}}});
    CHECK(j.host.take_diffs().empty());
    CHECK(j.host.problems() == "");
}

// --- sharing -------------------------------------------------------------------------------------

TEST_CASE("DiscoveryManager: a hundred jobs cost one LIST and one WATCH of a URL") {
    Jobs j;
    std::vector<Job> jobs;
    for (int i = 0; i < 100; ++i) jobs.push_back({"job-" + std::to_string(i), {j.pods()}});
    j.settle_with(jobs);
    CHECK(j.take_requests().size() == 2);
    CHECK(j.server.open_connections() == 1);
    CHECK(j.metrics->groups_generated == 2);  // one for each object
    CHECK(j.metrics->providers == 1);
    CHECK(j.metrics->jobs == 100);
    j.label("p1", "1");
    j.settle();
    CHECK(j.metrics->groups_generated == 3);
    CHECK(j.host.diffs == 200);
    REQUIRE(j.host.jobs.size() == 100);
    for (const auto& [name, providers] : j.host.jobs) {
        CHECK(providers.at(1).groups == j.host.jobs.at("job-0").at(1).groups);  // the same ones
    }
    CHECK(j.host.problems() == "");
}

TEST_CASE("DiscoveryManager: configurations that differ in the role share their watches") {
    Jobs j;
    j.settle_with({{"a", {j.config(Role::endpoints)}}, {"b", {j.config(Role::pod)}}});
    CHECK(j.take_requests().size() == 6);
    CHECK(j.server.open_connections() == 3);
    CHECK(j.metrics->providers == 2);
    CHECK(j.host.problems() == "");
}

TEST_CASE("DiscoveryManager: the spelling of a configuration does not matter") {
    Jobs j;
    DiscoveryConfig one = j.pods();
    one.namespaces = {"default", "shop"};
    DiscoveryConfig other = one;
    other.namespaces = {"shop", "default", "shop"};
    other.min_update_interval = 1min;
    j.settle_with({{"a", {one}}, {"b", {other}}});
    CHECK(j.metrics->providers == 1);
    CHECK(j.take_requests().size() == 4);
    CHECK(j.host.problems() == "");
}

// --- when ----------------------------------------------------------------------------------------

TEST_CASE("DiscoveryManager: a job's minimum interval collects changes, for that job only") {
    Jobs j;
    DiscoveryConfig slow_config = j.pods();
    slow_config.min_update_interval = 1min;
    j.settle_with(
        {{"quick", {j.pods()}}, {"slow", {j.pods()}, 10s}, {"slower", {slow_config}, 10s}});
    CHECK(j.host.diffs == 3);  // a first diff does not wait for the interval
    for (int i = 0; i < 5; ++i) {
        j.label("p1", std::to_string(i));
        j.settle();
    }
    CHECK(j.host.diffs == 8);
    j.host.take_diffs();
    j.advance(9999ms);
    CHECK(j.host.take_diffs().empty());
    j.advance(1ms);
    CHECK(j.host.take_diffs() == "slow: 1[~p1]");
    j.advance(1min);
    CHECK(j.host.take_diffs() == "slower: 1[~p1]");
    j.label("p2", "x");
    j.settle();
    CHECK(j.host.take_diffs() == "quick: 1[~p2]; slow: 1[~p2]");  // quiet for long enough
    CHECK(j.host.sources("slower") == "p1 p2");
    j.advance(1min);
    CHECK(j.host.problems() == "");
}

TEST_CASE("DiscoveryManager: however long the interval, the first diff comes at once") {
    Jobs j;
    j.settle_with({{"a", {j.pods()}, 24h}});
    CHECK(j.host.take_diffs() == "a(full): 1(full)[~p1 ~p2]");
    j.label("p1", "1");
    j.advance(23h);
    CHECK(j.host.take_diffs().empty());
    j.advance(1h);
    CHECK(j.host.take_diffs() == "a: 1[~p1]");
    CHECK(j.host.problems() == "");
}

TEST_CASE("DiscoveryManager: an interval may be as long as there are durations") {
    Jobs j;
    j.settle_with({{"a", {j.pods()}, Duration::max()}});
    CHECK(j.host.take_diffs() == "a(full): 1(full)[~p1 ~p2]");
    j.label("p1", "1");
    j.advance(24h);
    CHECK(j.host.take_diffs().empty());
    // Discoverer has the same test.
    auto config = j.pods();
    config.min_update_interval = Duration::max();
    test::Host host(j.context.get_executor(), config);
    host.run();
    j.settle();
    j.label("p1", "2");
    j.advance(1h);
    CHECK(host.diffs == 1);
}

TEST_CASE("DiscoveryManager: what has changed back by the end of the interval is no change") {
    Jobs j;
    j.settle_with({{"a", {j.pods()}, 10s}});
    j.host.take_diffs();
    j.label("p1", "1");
    j.server.apply(pod({.name = "p3"}));
    j.settle();
    j.server.apply(pod({.name = "p1"}));
    j.server.remove("pods", "default", "p3");
    j.settle();
    j.advance(1min);
    CHECK(j.host.take_diffs().empty());
    CHECK(j.metrics->job_diffs_delivered == 1);
    CHECK(j.host.problems() == "");
}

TEST_CASE("DiscoveryManager: changes before the first diff of a provider are in that diff") {
    Jobs j;
    j.settle_with({{"a", {j.services()}, 10s}});
    j.settle_with({{"a", {j.services(), j.pods()}, 10s}});
    j.label("p1", "1");
    j.server.remove("pods", "default", "p2");
    j.server.apply(pod({.name = "p3"}));
    j.settle();
    CHECK(j.host.take_diffs() == "a(full): 1(full)[~s1]");
    j.advance(1min);
    CHECK(j.host.take_diffs() == "a: 2(full)[~p1 ~p3]");
    CHECK(j.host.problems() == "");
}

TEST_CASE("DiscoveryManager: another interval counts from the next configuration on") {
    Jobs j;
    j.settle_with({{"a", {j.pods()}, 1h}});
    j.label("p1", "1");
    j.advance(10s);
    j.host.take_diffs();
    j.settle_with({{"a", {j.pods()}, 5s}});
    CHECK(j.host.take_diffs() == "a: 1[~p1]");
    j.settle_with({{"a", {j.pods()}, 1h}});
    j.label("p1", "2");
    j.advance(59min);
    CHECK(j.host.take_diffs().empty());
    j.advance(1min);
    CHECK(j.host.take_diffs() == "a: 1[~p1]");
    CHECK(j.host.problems() == "");
}

TEST_CASE("DiscoveryManager: while the host is busy, changes are collected") {
    Jobs j;
    j.host.after_diff = [&](const JobDiff& diff) {
        if (!diff.full) return;
        // The context has one thread: later events are read only after this callback.
        for (int i = 0; i < 100; ++i) j.label("p1", std::to_string(i));
        j.server.apply(pod({.name = "gone"}));
        j.server.remove("pods", "default", "gone");
    };
    j.settle_with({{"a", {j.pods()}}, {"b", {j.pods()}}});
    // Reads begin small, so several are needed; without coalescing there would be 200.
    CHECK(j.host.diffs <= 24);
    CHECK(j.host.sources("a") == "p1 p2");
    CHECK(j.host.problems() == "");
}

TEST_CASE("DiscoveryManager: a job's next diff comes when the host has let go of the last one") {
    Jobs j;
    std::vector<JobDiff> in_work;
    JobLedger ledger;
    j.host.manager.emplace(j.context.get_executor(), [&](JobDiff diff) {
        ledger.apply(diff);
        if (diff.job == "slow") in_work.push_back(std::move(diff));
    });
    j.host.run();
    j.settle_with({{"slow", {j.pods()}}, {"quick", {j.pods()}}});
    CHECK(ledger.take_diffs() == "slow(full): 1(full)[~p1 ~p2]; quick(full): 1(full)[~p1 ~p2]");
    for (const char* value : {"1", "2", "3"}) {
        j.label("p1", value);
        j.settle();
    }
    CHECK(ledger.take_diffs() == "quick: 1[~p1]; quick: 1[~p1]; quick: 1[~p1]");
    REQUIRE(in_work.size() == 1);
    CHECK(in_work.front().job == "slow");

    SECTION("all changes at once") {
        JobDiff copy = in_work.front();
        in_work.clear();
        j.settle();
        CHECK(ledger.take_diffs().empty());
        copy = {};
        j.settle();
        CHECK(ledger.take_diffs() == "slow: 1[~p1]");
        CHECK(in_work.size() == 1);
    }
    SECTION("also the last one") {
        j.settle_with({});
        CHECK(ledger.take_diffs() == "quick(last): 1(last)[-p1 -p2]");
        in_work.clear();
        j.settle();
        CHECK(ledger.take_diffs() == "slow(last): 1(last)[-p1 -p2]");
    }
    SECTION("a host that keeps diffs says that it is done with them") {
        in_work.front().delivery.reset();
        j.settle();
        CHECK(ledger.take_diffs() == "slow: 1[~p1]");
    }
    SECTION("even if the manager is gone meanwhile") {
        j.host.manager.reset();
        j.settle();
        in_work.clear();
        j.settle();
        CHECK(ledger.take_diffs().empty());
    }
    CHECK(ledger.complaints == "");
}

TEST_CASE("DiscoveryManager: a host that does not come to its callbacks gets one diff a job") {
    Jobs j;
    j.settle_with({{"x", {j.pods(), j.services()}}});  // the watches work on this one's executor
    const HeldExecutor executor(j.context);
    JobHost busy(executor);
    busy.run().manager->apply_config({{"a", {j.pods()}}, {"b", {j.pods(), j.services()}}});
    j.settle();
    CHECK(executor.held() == 1);
    for (int i = 0; i < 100; ++i) {
        j.label("p1", std::to_string(i));
        j.settle();
    }
    j.server.remove("pods", "default", "p2");
    j.settle();
    CHECK(busy.diffs == 0);
    CHECK(executor.held() == 1);
    CHECK(busy.manager->status().at(0).groups == 1);  // does not wait for the host
    CHECK(busy.manager->snapshot("b")->providers.size() == 2);
    for (int i = 0; i < 5; ++i) {
        executor.release();
        j.settle();
    }
    CHECK(busy.take_diffs() == "a(full): 1(full)[~p1]; b(full): 1(full)[~p1] 2(full)[~s1]");
    CHECK(busy.sources("a") == "p1");
    CHECK(busy.problems() == "");
    busy.manager.reset();
    while (executor.held() > 0) {  // the held handlers keep their executor alive
        executor.release();
        j.settle();
    }
    CHECK(busy.ended() == asio::error::operation_aborted);
}

TEST_CASE("DiscoveryManager: a host may give a strand of its own") {
    Jobs j;
    const auto strand = asio::make_strand(j.context);
    JobHost host(strand);
    bool inside = true;
    host.after_diff = [&](const auto&) { inside = inside && strand.running_in_this_thread(); };
    host.run().manager->apply_config({{"a", {j.pods()}}, {"b", {j.services()}}});
    j.settle();
    j.label("p1", "1");
    j.settle();
    CHECK(host.diffs == 3);
    CHECK(inside);
    CHECK(host.manager->get_executor() == asio::any_io_executor(strand));
    CHECK(host.problems() == "");
}

// --- status, metrics -----------------------------------------------------------------------------

TEST_CASE("DiscoveryManager: the status says how each configuration of a job is doing") {
    Jobs j;
    j.server.deny("services");
    const auto failures =
        j.settle_with({{"b", {j.pods(), Jobs::unusable(), j.services()}}, {"a", {j.pods()}}});
    REQUIRE(failures.size() == 1);
    CHECK(failures[0].job == "b");
    CHECK(failures[0].config == 1);
    CHECK(contains(failures[0].message, "/nonexistent/kubeconfig"));
    const auto all = j.host.manager->status();
    REQUIRE(all.size() == 2);
    CHECK(all[0].name == "b");  // the order of the configuration
    CHECK(all[1].name == "a");
    REQUIRE(all[0].configs.size() == 3);
    CHECK(all[0].configs[0].provider == all[1].configs[0].provider);
    CHECK(all[0].configs[0].status.synced);
    CHECK_FALSE(all[0].configs[1].provider);
    CHECK(all[0].configs[1].status.error == errc::invalid_config);
    CHECK(all[0].configs[1].status.message == failures[0].message);
    CHECK(all[0].configs[2].status.error == errc::forbidden);
    CHECK_FALSE(all[0].synced);
    CHECK(all[1].synced);
    CHECK(all[0].groups == 2);
    CHECK(all[0].targets == 2);
    CHECK(all[0].superseded == 0);
}

TEST_CASE("DiscoveryManager: a snapshot can be ahead of the diffs, of a job that there is") {
    Jobs j;
    CHECK_FALSE(j.host.manager->snapshot("a"));
    j.settle_with({{"a", {j.pods()}, 1h}});
    j.server.apply(pod({.name = "p3"}));
    j.settle();
    REQUIRE(j.host.manager->snapshot("a"));
    CHECK(j.host.manager->snapshot("a")->providers.at(0).groups.size() == 3);
    CHECK(j.host.sources("a") == "p1 p2");
    CHECK_FALSE(j.host.manager->snapshot("b"));
    j.apply({});
    CHECK_FALSE(j.host.manager->snapshot("a"));  // at once
    j.settle();
    CHECK(j.host.problems() == "");
}

TEST_CASE("DiscoveryManager: gauges count jobs, configurations that run, and those that cannot") {
    Jobs j;
    {
        JobHost other(j.context.get_executor());
        other.run().manager->apply_config({{"a", {j.pods(), Jobs::unusable()}}});
        j.apply({{"a", {j.pods(), j.services()}}, {"b", {Jobs::unusable(), Jobs::unusable()}}});
        CHECK(j.metrics->jobs == 3);
        CHECK(j.metrics->providers == 3);
        CHECK(j.metrics->failed_configs == 3);
        j.settle();
        j.settle_with({{"a", {j.pods()}}});
        CHECK(j.metrics->jobs == 2);
        CHECK(j.metrics->providers == 2);
        CHECK(j.metrics->failed_configs == 1);
    }
    CHECK(j.metrics->jobs == 1);
    CHECK(j.metrics->failed_configs == 0);
    std::set<std::string> names;
    j.metrics->visit([&](std::string_view name, auto...) { names.emplace(name); });
    for (const char* name : {"k8s_sd_jobs", "k8s_sd_providers", "k8s_sd_failed_configs",
                             "k8s_sd_job_diffs_delivered_total"}) {
        CHECK(names.contains(name));
    }
    j.host.manager.reset();
    CHECK(j.is_quiet());
}
