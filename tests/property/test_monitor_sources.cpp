#include "property/for_each_seed.hpp"
#include "support/random_monitors.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace monitor_sources_tests {

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

bool equal(const std::vector<MonitorJobPtr>& a, const std::vector<MonitorJobPtr>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return *x->job == *y->job; });
}

}  // namespace

TEST_CASE("MonitorSource: any history of changes ends as a fresh start, and as a file read") {
    for_each_seed("MONITORS", 40, [&](std::uint64_t seed) {
        RandomMonitors monitors(seed);
        const bool is_limited = seed % 3 == 0;
        if (is_limited) monitors.config.limits.references = 3;
        if (seed % 3 == 1) monitors.config.limits.quota.jobs = 5;
        monitors.start();
        std::map<std::string, MonitorJobPtr> delivered;  // the state of the host
        bool is_first = true;
        monitors.source.emplace(monitors.context.get_executor(), monitors.config,
                                [&](const MonitorDiff& diff) {
                                    CHECK(diff.full == std::exchange(is_first, false));
                                    for (const auto& job : diff.updated)
                                        delivered[job->origin] = job;
                                    for (const auto& name : diff.removed) {
                                        CHECK(delivered.erase(name) == 1);
                                    }
                                });
        monitors.source->async_run(boost::asio::detached);
        monitors.settle();
        for (int i = 0; i < 60; ++i) {
            monitors.change();
            if (monitors.chance(60)) monitors.settle();
        }
        monitors.settle();
        MonitorSource fresh(monitors.context.get_executor(), monitors.config,
                            [](const MonitorDiff&) {});
        fresh.async_run(boost::asio::detached);
        monitors.settle();
        REQUIRE(fresh.status().synced);
        const std::vector<MonitorJobPtr> jobs = monitors.source->jobs();
        CHECK(RandomMonitors::states(*monitors.source) == RandomMonitors::states(fresh));
        CHECK(equal(jobs, fresh.jobs()));
        CHECK(delivered.size() == jobs.size());
        for (const MonitorJobPtr& job : jobs) {
            REQUIRE(delivered.contains(job->origin));
            CHECK(*delivered[job->origin]->job == *job->job);
        }
        if (is_limited) {
            CHECK(monitors.source->status().references <= 3);
            return;
        }
        const std::vector<ScrapeJob> file = monitors.jobs_of_file();
        REQUIRE(file.size() == jobs.size());
        for (std::size_t i = 0; i < file.size(); ++i) {
            CAPTURE(file[i].scrape.job_name, jobs[i]->origin);
            CHECK(file[i].scrape == jobs[i]->job->scrape);
            CHECK(file[i].discovery == jobs[i]->job->discovery);
            CHECK(file[i].client == jobs[i]->job->client);
            CHECK(file[i].settings == jobs[i]->job->settings);
        }
    });
}

TEST_CASE("MonitorSource: after any changes, jobs have the targets of the printed file") {
    for_each_seed("MONITOR_TARGETS", 20, [&](std::uint64_t seed) {
        RandomTargets monitors(seed);
        const FollowedMonitors followed(monitors);
        ScrapeHost of_file(monitors.context, false);
        of_file.change(monitors.jobs_of_file(), {});
        monitors.settle();
        CHECK(followed.targets() == of_file.targets());
    });
}

}  // namespace monitor_sources_tests
