#include "integration/discovery/job_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

/// The pods with this value of the label "v".
TargetFilter pods_with(const std::string& value) {
    return {{{{"__meta_kubernetes_pod_label_v"}, "", {value}}}};
}

/// Records ProviderDiff::all of a job.
struct FilterJobs : Jobs {
    FilterJobs() {
        host.after_diff = [this](const JobDiff& diff) {
            for (const ProviderDiff& provider : diff.providers) all = provider.all;
        };
    }
    Job job(const std::string& name, const TargetFilter& filter = {}) {
        return {.name = name, .configs = {pods()}, .filter = filter};
    }
    std::shared_ptr<const LiveTargets> all;
};

}  // namespace

TEST_CASE_METHOD(FilterJobs, "Job filters: a job receives the groups that pass, and no others") {
    label("p1", "x");
    settle_with({job("a", pods_with("x")), job("b", pods_with("y")), job("c")});
    CHECK(host.take_diffs() == "a(full): 1(full)[~p1]; b(full): 1(full)[]; "
                               "c(full): 1(full)[~p1 ~p2]");
    label("p2", "y");
    settle();
    CHECK(host.take_diffs() == "b: 1[~p2]; c: 1[~p2]");
    label("p1", "y");
    settle();
    CHECK(host.diffs == 8);
    CHECK(host.sources("a") == "");
    CHECK(host.sources("b") == "p1 p2");
    settle_with({job("a", pods_with("x"))});
    CHECK(host.manager->snapshot("a")->providers.front().groups.empty());
    CHECK(status("a").targets == 2);
    CHECK(host.complaints == "");
}

TEST_CASE_METHOD(FilterJobs, "Job filters: another filter brings the differences") {
    label("p1", "x");
    label("p2", "y");
    settle_with({job("a")});
    CHECK_FALSE(all);
    host.take_diffs();
    settle_with({job("a", pods_with("x"))});
    CHECK(host.take_diffs() == "a: 1[-p2]");
    REQUIRE(all);
    CHECK(all->target_count() == 2);
    CHECK(all->groups().size() == 2);
    settle_with({job("a", pods_with("y"))});
    CHECK(host.take_diffs() == "a: 1[-p1 ~p2]");
    // A diff has nothing but the end of the filter.
    label("p1", "y");
    settle();
    CHECK(host.take_diffs() == "a: 1[~p1]");
    settle_with({job("a")});
    CHECK(host.take_diffs() == "a: 1[]");
    CHECK_FALSE(all);
    label("p1", "x");
    settle();
    CHECK(host.take_diffs() == "a: 1[~p1]");
    settle_with({});
    CHECK(host.take_diffs() == "a(last): 1(last)[-p1 -p2]");
    CHECK(host.complaints == "");
    CHECK(is_quiet());
}

TEST_CASE_METHOD(FilterJobs, "Job filters: an object with another UID replaces one without group") {
    server.apply(pod({.name = "p3", .ip = ""}));
    settle_with({job("a", pods_with("x")), job("b", pods_with("y"))});
    host.take_diffs();
    CHECK(server.remove("pods", "default", "p3"));
    server.apply(pod({.name = "p3", .labels = {{"v", "x"}}, .uid = "other"}));
    settle();
    CHECK(host.take_diffs() == "a: 1[~p3]");
    CHECK(host.complaints == "");
}

TEST_CASE_METHOD(FilterJobs, "Job filters: an undelivered removal remembers another object") {
    label("p1", "x");
    Job slow = job("a", pods_with("x"));
    slow.min_update_interval = std::chrono::seconds(10);
    settle_with({slow});
    CHECK(host.take_diffs() == "a(full): 1(full)[~p1]");
    std::vector<bool> replaced;
    host.after_diff = [&](const JobDiff& diff) {
        for (const GroupChange& change : diff.providers.front().diff.updated) {
            replaced.push_back(change.replaced);
        }
    };
    label("p1", "y");
    settle();
    CHECK(server.remove("pods", "default", "p1"));
    settle();
    label("p1", "x");
    settle();
    CHECK(host.take_diffs() == "");
    advance(std::chrono::seconds(10));
    CHECK(host.take_diffs() == "a: 1[~p1]");
    CHECK(replaced == std::vector<bool>{true});
    CHECK(host.complaints == "");
}

TEST_CASE_METHOD(FilterJobs, "Job filters: the diff of another filter ignores the interval") {
    label("p1", "x");
    label("p2", "y");
    Job slow = job("a", pods_with("x"));
    slow.min_update_interval = std::chrono::seconds(10);
    Job other = slow;
    other.name = "b";
    settle_with({slow, other});
    CHECK(host.take_diffs() == "a(full): 1(full)[~p1]; b(full): 1(full)[~p1]");
    slow.filter = pods_with("y");
    other.filter = {};
    host.manager->change_jobs({slow, other}, {});
    settle();
    CHECK(host.take_diffs() == "a: 1[-p1 ~p2]; b: 1[~p2]");
    label("p2", "x");
    settle();
    CHECK(host.take_diffs() == "");
    advance(std::chrono::seconds(10));
    CHECK(host.take_diffs() == "a: 1[-p2]; b: 1[~p2]");
    CHECK(host.complaints == "");
}

TEST_CASE_METHOD(FilterJobs, "Job filters: the interval stays after another filter without news") {
    label("p1", "x");
    Job slow = job("a", pods_with("x"));
    slow.min_update_interval = std::chrono::seconds(10);
    settle_with({slow});
    CHECK(host.take_diffs() == "a(full): 1(full)[~p1]");
    slow.filter.conditions.edit(0, [](LabelCondition& c) { c.values.push_back("z"); });
    host.manager->change_jobs({slow}, {});
    settle();
    label("p2", "x");
    settle();
    CHECK(host.take_diffs() == "");
    advance(std::chrono::seconds(10));
    CHECK(host.take_diffs() == "a: 1[~p2]");
    CHECK(host.complaints == "");
}

TEST_CASE_METHOD(FilterJobs, "Job filters: another filter without news hurries no other changes") {
    label("p1", "x");
    Job slow = job("a", pods_with("x"));
    slow.min_update_interval = std::chrono::seconds(10);
    settle_with({slow});
    CHECK(host.take_diffs() == "a(full): 1(full)[~p1]");
    label("p2", "x");
    settle();
    slow.filter.conditions.edit(0, [](LabelCondition& c) { c.values.push_back("z"); });
    host.manager->change_jobs({slow}, {});
    settle();
    CHECK(host.take_diffs() == "");
    advance(std::chrono::seconds(10));
    CHECK(host.take_diffs() == "a: 1[~p2]");
    CHECK(host.complaints == "");
}

TEST_CASE_METHOD(Jobs, "Discovery manager: change_jobs() leaves other jobs as they are") {
    const Job a{.name = "a", .configs = {pods()}};
    const Job b{.name = "b", .configs = {pods(), unusable()}};
    CHECK(apply({a, b}).size() == 1);
    settle();
    CHECK(host.diffs == 2);
    CHECK(metrics->failed_configs == 1);
    CHECK(metrics->jobs == 2);
    const Job c{.name = "c", .configs = {services()}};
    CHECK(host.manager->change_jobs({c}, {"unknown"}).empty());
    settle();
    CHECK(host.sources("c") == "s1");
    CHECK(host.diffs == 3);
    CHECK(metrics->failed_configs == 1);
    CHECK(metrics->jobs == 3);
    const Job changed_b{.name = "b", .configs = {services()}};
    CHECK(host.manager->change_jobs({changed_b}, {"a", "b"}).empty());
    settle();
    CHECK(host.sources("b") == "s1");
    CHECK(host.sources("a") == "");
    CHECK(metrics->failed_configs == 0);
    CHECK(metrics->jobs == 2);
    CHECK(host.manager->change_jobs({a}, {"b"}).empty());
    settle();
    std::vector<std::string> names;
    for (const JobStatus& job : host.manager->status()) names.push_back(job.name);
    CHECK(names == std::vector<std::string>{"c", "a"});
    CHECK(host.sources("a") == "p1 p2");
    CHECK_THROWS_AS(host.manager->change_jobs({Job{}}, {}), ConfigError);
    CHECK_THROWS_AS(host.manager->change_jobs({a, a}, {}), ConfigError);
    CHECK(host.manager->change_jobs({}, {"a", "c"}).empty());
    settle();
    CHECK(host.problems() == "");
    CHECK(is_quiet());
}
