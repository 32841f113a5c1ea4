#include "jobs/served_jobs.hpp"
#include "support/allocations.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

using k8s_sd_program::ListAnswer;
using k8s_sd_program::ListForm;
using k8s_sd_program::Refusal;
using k8s_sd_program::ServedJob;
using k8s_sd_program::ServedJobs;
using k8s_sd_program::ServeMetrics;
using k8s_sd_program::ServeOptions;
using k8s_sd_program::UnusableClusters;

namespace {

/// Jobs whose workers can be slow.
class Jobs {
 public:
    Jobs() : jobs(strand_.get_executor(), workers_.get_executor(), ServeOptions{}, metrics_) {}
    ~Jobs() {
        jobs.stop();
        work();
    }

    static k8s_sd::ScrapeJob job(const std::string& name, std::vector<std::string> targets) {
        k8s_sd::ScrapeJob job;
        job.scrape.job_name = job.discovery.name = name;
        if (!targets.empty()) job.discovery.static_configs = {{.targets = std::move(targets)}};
        return job;
    }
    void apply(std::vector<k8s_sd::ScrapeJob> all) {
        k8s_sd::ScrapeConfigFile file;
        file.jobs = std::move(all);
        jobs.apply(file);
    }
    /// One job that wants all clusters of a hub.
    void apply(k8s_sd::ScrapeJob job, UnusableClusters clusters) {
        clusters.jobs.insert(job.scrape.job_name);
        k8s_sd::ScrapeConfigFile file;
        file.jobs = {std::move(job)};
        jobs.apply(file, {}, clusters);
        work();
    }
    static k8s_sd::MonitorJobPtr monitor(const std::string& name,
                                         std::vector<std::string> targets) {
        k8s_sd::MonitorJob made;
        made.origin = name;
        made.object = "ServiceMonitor " + name;
        made.job = std::make_shared<const k8s_sd::ScrapeJob>(job(name, std::move(targets)));
        return std::make_shared<const k8s_sd::MonitorJob>(std::move(made));
    }
    /// The manager delivers all pending diffs; the workers do not run yet.
    void deliver() {
        strand_.restart();
        strand_.poll();
    }
    void work() {
        for (int i = 0; i < 10; ++i) {
            deliver();
            workers_.restart();
            workers_.poll();
        }
    }
    /// The list, or the reason for its absence.
    std::string list(const std::shared_ptr<ServedJob>& job) {
        work();
        std::string text = "no answer";
        job->get({.content = {ListForm::discovered}}, [&](const ListAnswer& answer) {
            text =
                answer.body && answer.why == Refusal::none ? *answer.body->bytes() : answer.refusal;
        });
        work();
        return text;
    }
    std::string list(const std::string& name) { return list(jobs.find(name)); }

 private:
    boost::asio::io_context strand_;
    boost::asio::io_context workers_;
    ServeMetrics metrics_;

 public:
    ServedJobs jobs;
};

}  // namespace

TEST_CASE(
    "ServedJobs: a job that leaves and returns before its end was delivered has its targets") {
    Jobs all;
    all.apply({Jobs::job("a", {"x:1", "y:1"})});
    all.deliver();
    all.apply({});
    all.deliver();
    CHECK_FALSE(all.jobs.find("a"));
    all.apply({Jobs::job("a", {"x:1", "y:1"})});
    CHECK(all.list("a").find(R"("x:1","y:1")") != std::string::npos);
    CHECK(all.jobs.not_ready().empty());
}

TEST_CASE("ServedJobs: a job that returns as another one is not complete with what it had") {
    Jobs all;
    all.apply({Jobs::job("a", {"x:1"})});
    all.deliver();
    all.apply({});
    all.deliver();
    all.apply({Jobs::job("a", {"y:1"})});
    const std::string text = all.list("a");
    CHECK(text.find("y:1") != std::string::npos);
    CHECK(text.find("x:1") == std::string::npos);
}

TEST_CASE(
    "ServedJobs: readers of a removed job are notified; one that returns later is a new one") {
    Jobs all;
    all.apply({Jobs::job("a", {"x:1"})});
    all.work();
    const auto gone = all.jobs.find("a");
    all.apply({});
    CHECK(all.list(gone) == "the configuration no longer has this job");
    all.work();
    all.apply({Jobs::job("a", {"x:1"})});
    CHECK(all.jobs.find("a") != gone);
    CHECK(all.list(gone) == "the configuration no longer has this job");
    CHECK(all.list("a").find("x:1") != std::string::npos);
}

TEST_CASE("ServedJobs: a job that leaves before its first diff and returns is complete") {
    Jobs all;
    all.apply({Jobs::job("a", {"x:1"})});
    all.apply({});
    all.apply({Jobs::job("a", {"x:1"})});
    CHECK(all.list("a").find("x:1") != std::string::npos);
}

TEST_CASE("ServedJobs: a change of one monitor touches no other job") {
    Jobs all;
    k8s_sd::ScrapeConfigFile file;
    file.jobs = {Jobs::job("file", {"f:1"})};
    all.jobs.apply(file, {Jobs::monitor("a", {"a:1"}), Jobs::monitor("b", {"b:1"})});
    all.work();
    const auto job = all.jobs.find("b");
    const auto config = all.jobs.config("b");
    const auto file_config = all.jobs.config("file");
    const std::string list = all.list("b");

    CHECK(all.jobs.change({.updated = {Jobs::monitor("a", {"a:2"})}}).empty());
    CHECK(all.jobs.changes().changed == std::vector<std::string>{"a"});
    CHECK(all.list("a").find("a:2") != std::string::npos);
    CHECK(all.jobs.change({.updated = {Jobs::monitor("c", {"c:1"})}, .removed = {"a"}}).empty());
    CHECK(all.jobs.changes().added == std::vector<std::string>{"c"});
    CHECK(all.jobs.changes().removed == std::vector<std::string>{"a"});
    CHECK(all.list("c").find("c:1") != std::string::npos);
    CHECK_FALSE(all.jobs.find("a"));
    CHECK(all.jobs.count() == 3);

    // Any work on them makes new configurations.
    CHECK(all.jobs.find("b") == job);
    CHECK(all.jobs.config("b") == config);
    CHECK(all.jobs.config("file") == file_config);
    CHECK(all.list("b") == list);
    CHECK(all.jobs.not_ready().empty());
}

TEST_CASE("ServedJobs: a monitor cannot change or remove a job of the file") {
    Jobs all;
    all.apply({Jobs::job("a", {"f:1"})});
    CHECK(
        all.jobs.change({.updated = {Jobs::monitor("a", {"a:1"})}}) ==
        std::vector<std::string>{"the file has a job a, so that of ServiceMonitor a is left out"});
    CHECK(all.list("a").find("f:1") != std::string::npos);
    all.jobs.change({.removed = {"a"}});
    CHECK(all.jobs.changes().removed.empty());
    CHECK(all.list("a").find("f:1") != std::string::npos);
}

TEST_CASE("ServedJobs: a job of a monitor that leaves and returns has its targets") {
    Jobs all;
    all.jobs.apply(k8s_sd::ScrapeConfigFile{}, {Jobs::monitor("a", {"a:1"})});
    all.deliver();
    all.jobs.change({.removed = {"a"}});
    all.deliver();
    CHECK_FALSE(all.jobs.find("a"));
    all.jobs.change({.updated = {Jobs::monitor("a", {"a:1"})}});
    CHECK(all.list("a").find("a:1") != std::string::npos);
    CHECK(all.jobs.not_ready().empty());
}

TEST_CASE("ServedJobs: the reasons of a thousand incomplete jobs cost a pass over the jobs") {
    constexpr int count = 1'000;
    Jobs all;
    std::vector<k8s_sd::ScrapeJob> jobs;
    for (int i = 0; i < count; ++i) jobs.push_back(Jobs::job("j" + std::to_string(i), {"x:1"}));
    all.apply(std::move(jobs));
    std::string not_ready;
    std::size_t incomplete = 0;
    // An allocation beyond these throws.
    k8s_sd::test::allocations_left = 100L * count;
    try {
        not_ready = all.jobs.not_ready();
        incomplete = all.jobs.incomplete().size();
    } catch (const std::bad_alloc&) {
        not_ready.clear();
    }
    k8s_sd::test::allocations_left = -1;
    CHECK(std::count(not_ready.begin(), not_ready.end(), '\n') == count);
    CHECK(incomplete == count);
}

TEST_CASE("ServedJobs: without a ClusterProfile a job is not complete") {
    constexpr const char* reason =
        "job a has not been discovered completely yet; no ClusterProfile of the hub is "
        "selected";
    Jobs all;
    all.apply(Jobs::job("a", {}), {.hub_is_empty = true});
    CHECK(all.list("a") == reason);
    CHECK(all.jobs.not_ready() == std::string(reason) + "\n");
    CHECK(all.jobs.failed().empty());
    // A list that was complete becomes empty.
    all.apply(Jobs::job("a", {"x:1"}), {});
    CHECK(all.list("a").find("x:1") != std::string::npos);
    all.apply(Jobs::job("a", {}), {.hub_is_empty = true});
    CHECK(all.list("a") == "[]\n");
    CHECK(all.jobs.not_ready().empty());
}

TEST_CASE("ServedJobs: a job waits for the first ClusterProfile also if it has other targets") {
    Jobs all;
    k8s_sd::ScrapeConfigFile file;
    file.jobs = {Jobs::job("a", {"x:1"}), Jobs::job("b", {"y:1"})};
    all.jobs.apply(file, {}, {.jobs = {"a"}, .hub_is_empty = true});
    all.work();
    CHECK(all.list("a").find("no ClusterProfile of the hub is selected") != std::string::npos);
    // The hub may stay empty, so the other job is ready.
    CHECK(all.list("b").find("y:1") != std::string::npos);
    CHECK(all.jobs.not_ready().empty());
    CHECK(all.jobs.failed().find("job a ") == 0);
}

TEST_CASE("ServedJobs: while clusters are replaced a job is not complete with its other targets") {
    Jobs all;
    const auto why = [] { return std::string("the clusters of the hub change"); };
    all.apply(Jobs::job("a", {"x:1"}), {.why_unknown = why});
    CHECK(all.jobs.not_ready() ==
          "job a has not been discovered completely yet; the clusters of the hub change\n");
}

TEST_CASE("ServedJobs: problems of any number of clusters make a bounded, printable text") {
    UnusableClusters clusters;
    clusters.problems["fleet/c00"] = "bad \x1b[1m\nnews";
    for (int i = 10; i < 60; ++i)
        clusters.problems["fleet/c" + std::to_string(i)] = std::string(10'000, 'x');
    Jobs all;
    all.apply(Jobs::job("a", {}), clusters);
    const std::string text = all.jobs.not_ready();
    CHECK(text.size() < 20 * 2'100);
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(std::count(text.begin(), text.end(), '\n') == 1);
    CHECK(text.find("; cluster fleet/c28: xxx") != std::string::npos);
    CHECK(text.find("fleet/c29") == std::string::npos);
    CHECK(text.find("...; and 31 more\n") != std::string::npos);
}
