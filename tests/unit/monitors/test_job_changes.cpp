#include "k8s_sd/detail/monitors/job_changes.hpp"
#include "support/allocations.hpp"

#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <new>
#include <optional>
#include <string>

namespace k8s_sd::test {

namespace {

MonitorJobPtr job_with_path(const std::string& name, const std::string& path) {
    ScrapeJob job;
    job.scrape.job_name = name;
    job.scrape.metrics_path = path;
    return std::make_shared<const MonitorJob>(
        MonitorJob{name, "object", std::make_shared<const ScrapeJob>(job)});
}

/// "full +a +b -c".
std::string diff_text(const MonitorDiff& diff) {
    std::string text = diff.full ? "full" : "";
    for (const MonitorJobPtr& job : diff.updated) text += " +" + job->origin;
    for (const std::string& name : diff.removed) text += " -" + name;
    return text;
}

}  // namespace

TEST_CASE("JobChanges: the first diff has all jobs, the next ones what has changed since") {
    detail::JobChanges jobs;
    jobs.put(job_with_path("b", "/"));
    jobs.put(job_with_path("a", "/"));
    CHECK(jobs.any());
    CHECK(diff_text(jobs.take()) == "full +a +b");
    CHECK_FALSE(jobs.any());
    CHECK(diff_text(jobs.take()).empty());

    jobs.put(job_with_path("a", "/other"));
    jobs.remove("b");
    jobs.put(job_with_path("c", "/"));
    CHECK(jobs.count() == 2);
    CHECK(diff_text(jobs.take()) == " +a +c -b");
    CHECK(jobs.taken() == 5);
}

TEST_CASE("JobChanges: a diff without memory is taken later, whole") {
    for (long allocations = 0;; ++allocations) {
        detail::JobChanges jobs;
        for (const char* name : {"a", "b", "c"}) jobs.put(job_with_path(name, "/"));
        jobs.take();
        jobs.put(job_with_path("a", "/other"));
        jobs.put(job_with_path("d", "/"));
        jobs.remove("b");
        jobs.remove("c");
        std::optional<MonitorDiff> diff;
        allocations_left = allocations;
        try {
            diff = jobs.take();
        } catch (const std::bad_alloc&) {
        }
        allocations_left = -1;
        const bool enough = diff.has_value();
        if (!enough) diff = jobs.take();
        CHECK(diff_text(*diff) == " +a +d -b -c");
        CHECK(jobs.count() == 2);
        if (enough) break;
    }
}

TEST_CASE("JobChanges: a first diff without jobs is a full one, too") {
    detail::JobChanges jobs;
    CHECK_FALSE(jobs.any());
    CHECK(diff_text(jobs.take()) == "full");
}

TEST_CASE("JobChanges: what is reverted before it is taken is no change") {
    detail::JobChanges jobs;
    const MonitorJobPtr first = job_with_path("a", "/");
    jobs.put(first);
    jobs.take();
    SECTION("by an equal job") {
        jobs.put(job_with_path("a", "/other"));
        jobs.put(job_with_path("a", "/"));
    }
    SECTION("by its removal") {
        jobs.remove("a");
        jobs.put(first);
    }
    SECTION("of a new job") {
        jobs.put(job_with_path("b", "/"));
        jobs.remove("b");
    }
    CHECK(diff_text(jobs.take()).empty());
    CHECK(jobs.count() == 1);
    CHECK(jobs.taken() == 1);
}

TEST_CASE("JobChanges: the same job again, or the removal of none, is not even looked at") {
    detail::JobChanges jobs;
    const MonitorJobPtr job = job_with_path("a", "/");
    jobs.put(job);
    jobs.take();
    jobs.put(job);
    jobs.remove("b");
    CHECK_FALSE(jobs.any());
}

}  // namespace k8s_sd::test
