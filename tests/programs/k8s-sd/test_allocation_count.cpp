#include "collectors/allocation_count.hpp"
#include "k8s_sd/target_group.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

using k8s_sd::LabelMap;
using k8s_sd::ProviderId;
using k8s_sd_program::Allocation;
using k8s_sd_program::AllocationMetrics;
using k8s_sd_program::AllocationView;
using k8s_sd_program::AllocationViewPtr;
using k8s_sd_program::Collectors;
using k8s_sd_program::JobTargets;
using k8s_sd_program::UnassignedNotes;

namespace {

AllocationViewPtr per_node(std::vector<k8s_sd_program::Collector> members, bool fallback = false) {
    return std::make_shared<const AllocationView>(std::vector{std::make_shared<const Collectors>(
        std::move(members), Collectors::Options{Allocation::per_node, fallback})});
}

/// A job with targets on these nodes; "" is none.
struct Job {
    explicit Job(const std::vector<std::string>& nodes) : targets(config(), {}, metrics) {
        targets.expect({.needed = {1}});
        std::vector<LabelMap> labels;
        for (const std::string& node : nodes) {
            labels.push_back({{"__address__", "10.0.0." + std::to_string(labels.size()) + ":80"}});
            if (!node.empty()) labels.back().emplace("__meta_kubernetes_pod_node_name", node);
        }
        k8s_sd::ProviderDiff diff{.provider = 1};
        diff.diff.full = true;
        k8s_sd::TargetGroupMaker maker;
        diff.diff.updated.push_back({maker.make("pods", {}, labels), nullptr, false});
        targets.apply({.job = "pods", .full = true, .providers = {diff}});
    }
    static k8s_sd::ScrapeConfig config() {
        k8s_sd::ScrapeConfig config;
        config.job_name = "pods";
        return config;
    }
    AllocationMetrics count(const AllocationViewPtr& view) {
        AllocationMetrics counts;
        counts.strategy = "per-node";
        for (const auto& member : view->present().members()) counts.collectors[member.name];
        count_allocation(counts, "pods", targets, view, std::chrono::steady_clock::now());
        return counts;
    }

    k8s_sd_program::ListMetrics metrics;
    JobTargets targets;
};

AllocationMetrics unassigned(std::map<std::string, std::size_t> jobs) {
    AllocationMetrics counts;
    counts.collectors["c"];
    for (const auto& [name, targets] : jobs) counts.jobs[name] = {9, 9, targets};
    return counts;
}

}  // namespace

TEST_CASE("count_allocation: targets without a collector are counted, too") {
    Job job({"a", "a", "b", "c", "", ""});
    REQUIRE(job.targets.complete());
    const auto counts = job.count(per_node({{"on-a", "a"}, {"on-b", "b"}, {"on-d", "d"}}));
    CHECK(counts.collectors ==
          std::map<std::string, std::size_t>{{"on-a", 2}, {"on-b", 1}, {"on-d", 0}});
    CHECK(counts.jobs.at("pods").discovered == 6);
    CHECK(counts.jobs.at("pods").kept == 6);
    CHECK(counts.jobs.at("pods").unassigned == 3);
    CHECK(job.count(per_node({})).jobs.at("pods").unassigned == 6);
    CHECK(job.count(per_node({{"on-a", "a"}}, true)).jobs.at("pods").unassigned == 0);
    job.targets.begin_anew();
    CHECK(job.count(per_node({})).jobs.empty());
}

TEST_CASE("count_allocation: the metrics have the names of the Target Allocator") {
    Job job({"a", "", ""});
    AllocationMetrics counts = job.count(per_node({{"on-a", "a"}}));
    counts.discovered = 2;
    const std::string text = to_text(counts);
    for (const char* line :
         {"opentelemetry_allocator_targets{job_name=\"pods\"} 3\n",
          "# TYPE opentelemetry_allocator_targets_unassigned gauge\n",
          "\nopentelemetry_allocator_targets_unassigned 2\n",
          "\nopentelemetry_allocator_targets_remaining 3\n",
          "\nopentelemetry_allocator_targets_per_collector{collector_name=\"on-a\",strategy=\"per-"
          "node\"} 1\n",
          "\nopentelemetry_allocator_collectors_discovered 2\n",
          "\nopentelemetry_allocator_collectors_allocatable{strategy=\"per-node\"} 1\n"}) {
        INFO(line);
        CHECK(text.find(line) != std::string::npos);
    }
}

TEST_CASE(
    "UnassignedNotes: a job is reported once, when its targets are unassigned twice in a row") {
    UnassignedNotes notes;
    CHECK(notes.check(unassigned({{"a", 2}, {"b", 0}})).empty());
    const std::string line = notes.check(unassigned({{"a", 3}, {"b", 0}}));
    CHECK(line.starts_with("3 targets are allocated to no collector: a (3); no collector runs on "
                           "their node, "));
    CHECK(line.find("--allocation-fallback") != std::string::npos);
    CHECK(notes.check(unassigned({{"a", 5}, {"b", 1}})).empty());
    CHECK(notes.check(unassigned({{"a", 5}, {"b", 1}}))
              .starts_with("6 targets are allocated to no collector: a (5), b (1); "));
    CHECK(notes.check(unassigned({{"a", 0}, {"b", 1}})).empty());
    CHECK(notes.check(unassigned({{"a", 1}, {"b", 1}})).empty());
    CHECK(notes.check(unassigned({{"a", 1}, {"b", 1}})).empty());
    CHECK(notes.check(unassigned({{"a", 0}, {"b", 0}})) ==
          "all targets are allocated to collectors again");
    CHECK(notes.check(unassigned({{"a", 0}, {"b", 0}})).empty());
    CHECK(notes.check(unassigned({{"a", 1}})).empty());
    CHECK(notes.check(unassigned({})).empty());
    AllocationMetrics alone = unassigned({{"a", 1}});
    alone.collectors.clear();
    CHECK(notes.check(alone).empty());
    CHECK(notes.check(alone) ==
          "1 target is allocated to no collector: a (1); there is no collector");
}
