// The cost of a large scraper's pools: memory per target, relabelling of all targets in one and in
// two threads, and a reload of many jobs.

#include "discovered.hpp"
#include "k8s_sd/scrape/target_pool.hpp"
#include "measure.hpp"
#include "recipes.hpp"

#include <malloc.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using namespace k8s_sd;
using Groups = std::vector<TargetGroupPtr>;

/// Keeps the number of each target, as a host does.
struct Handler final : TargetHandler {
    void stop(TargetId, const ScrapeTargetPtr&, StopReason) noexcept override { --running; }
    void keep(TargetId, const ScrapeTargetPtr&) noexcept override {}
    void start(TargetId, const ScrapeTargetPtr&) noexcept override { ++running; }
    std::size_t running = 0;
};

struct Job {
    explicit Job(const ScrapeConfig& config) : pool(config, handler) {}
    Handler handler;
    TargetPool pool;
};

ScrapeConfig config_with(bench::Rules rules, const std::string& name = "pods") {
    ScrapeConfig config;
    config.job_name = name;
    config.relabel_configs = std::move(rules);
    return config;
}

TargetGroupDiff whole(const Groups& groups) {
    TargetGroupDiff diff;
    diff.full = true;
    for (const TargetGroupPtr& group : groups) diff.updated.push_back({group, nullptr, false});
    return diff;
}

/// Seconds.
struct Time {
    double wall = 1e9;
    double cpu = 1e9;
};

Time time_of(const std::function<void()>& work) {
    const double cpu = bench::cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    return {wall.count(), bench::cpu_seconds() - cpu};
}

// --- memory --------------------------------------------------------------------------------------

struct Memory {
    std::size_t targets;
    double bytes;  ///< per target
};

double allocated() {
    const auto info = ::mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
}

Memory memory_of_pool(const TargetGroupDiff& diff, const ScrapeConfig& config) {
    return bench::in_process([&] {
        const double before = allocated();
        Job job(config);
        job.pool.apply(diff);
        const std::size_t targets = job.pool.active_count();
        return Memory{targets, (allocated() - before) / static_cast<double>(targets)};
    });
}

/// The obvious first implementation: strings, grouped by their source.
struct PlainTarget {
    std::vector<std::pair<std::string, std::string>> labels;
    std::string url;
};

Memory memory_of_plain_form(const TargetGroupDiff& diff, const ScrapeConfig& config) {
    return bench::in_process([&] {
        Job job(config);
        job.pool.apply(diff);
        const double before = allocated();
        std::unordered_map<std::string, std::vector<PlainTarget>> plain;
        for (const ScrapeTargetPtr& target : job.pool.active()) {
            PlainTarget& made = plain[std::string(target->source())].emplace_back();
            made.labels.reserve(target->labels().size());
            for (const auto& [name, value] : target->labels())
                made.labels.emplace_back(name, value);
            made.url = target->url();
        }
        const std::size_t targets = job.pool.active_count();
        return Memory{targets, (allocated() - before) / static_cast<double>(targets)};
    });
}

void print_memory(const char* what, const TargetGroupDiff& diff, const ScrapeConfig& config) {
    const Memory pool = memory_of_pool(diff, config);
    const Memory plain = memory_of_plain_form(diff, config);
    std::printf("%-38s %8zu %10.0f %10.0f %7.2f\n", what, pool.targets, pool.bytes, plain.bytes,
                pool.bytes / plain.bytes);
}

// --- time ----------------------------------------------------------------------------------------

/// Distributes all jobs over `threads` threads, each job on one of them.
Time work_on(std::vector<std::unique_ptr<Job>>& jobs, unsigned threads,
             const std::function<void(Job&)>& work) {
    return time_of([&] {
        std::vector<std::jthread> others;
        for (unsigned thread = 0; thread < threads; ++thread) {
            others.emplace_back([&, thread] {
                for (std::size_t i = thread; i < jobs.size(); i += threads) work(*jobs[i]);
            });
        }
    });
}

std::vector<std::unique_ptr<Job>> make_jobs(std::size_t count, const bench::Rules& rules) {
    std::vector<std::unique_ptr<Job>> jobs;
    for (std::size_t i = 0; i < count; ++i) {
        jobs.push_back(std::make_unique<Job>(config_with(rules, "job-" + std::to_string(i))));
    }
    return jobs;
}

Time relabel(const TargetGroupDiff& diff, const bench::Rules& rules, unsigned threads) {
    Time best;
    for (int round = 0; round < 5; ++round) {
        auto jobs = make_jobs(2, rules);
        const Time time = work_on(jobs, threads, [&](Job& job) { job.pool.apply(diff); });
        best = {std::min(best.wall, time.wall), std::min(best.cpu, time.cpu)};
    }
    return best;
}

void print_relabelling(const char* what, const TargetGroupDiff& diff, const bench::Rules& rules) {
    const Time one = relabel(diff, rules, 1);
    const Time two = relabel(diff, rules, 2);
    std::printf("%-38s %8.3f %8.3f %8.3f %8.3f %7.2f\n", what, one.wall, one.cpu, two.wall, two.cpu,
                one.wall / two.wall);
}

struct Reload {
    Time first, same, other;
};

Reload reload(const TargetGroupDiff& diff, std::size_t count, unsigned threads) {
    auto jobs = make_jobs(count, bench::pods_with_annotations());
    Reload result{};
    result.first = work_on(jobs, threads, [&](Job& job) { job.pool.apply(diff); });
    result.same = work_on(jobs, threads, [](Job& job) { job.pool.reload(job.pool.config()); });
    result.other = work_on(jobs, threads, [](Job& job) {
        ScrapeConfig config = job.pool.config();
        config.relabel_configs.push_back({.target_label = "env", .replacement = "prod"});
        job.pool.reload(config);
    });
    return result;
}

void print_reload(const TargetGroupDiff& diff, std::size_t jobs, unsigned threads) {
    const Reload r = bench::in_process([&] { return reload(diff, jobs, threads); });
    std::printf("%8u %8.3f %8.3f %8.4f %8.4f %8.3f %8.3f\n", threads, r.first.wall, r.first.cpu,
                r.same.wall, r.same.cpu, r.other.wall, r.other.cpu);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--help") {
        std::puts("usage: bench_pools [PODS=50000] [JOBS=1000]");
        return 0;
    }
    const Groups groups = bench::discover_groups(bench::argument(argc, argv, 1, 50'000));
    const std::size_t jobs = bench::argument(argc, argv, 2, 1'000);
    std::size_t targets = 0;
    for (const TargetGroupPtr& group : groups) targets += group->size();
    std::printf("%zu pods, %zu targets\n\n", groups.size(), targets);
    const TargetGroupDiff all = whole(groups);

    std::printf("%-38s %8s %10s %10s %7s\n", "bytes a target, beside its group", "targets", "pool",
                "plain", "ratio");
    const bench::Rules recipe = bench::pods_with_annotations();
    print_memory("all ports of all pods", all, config_with(bench::pods()));
    // These rules give all ports of a pod the same address: three targets become one.
    print_memory("pods with annotations", all, config_with(recipe));
    bench::Rules one_port = bench::pods();
    one_port.insert(
        one_port.begin(),
        {.action = RelabelAction::keep,
         .source_labels = {bench::meta + "pod_container_port_name"},
         .regex = std::string(
             (*groups.front())[0].get(bench::meta + "pod_container_port_name").value_or(""))});
    print_memory("one port of each pod", all, config_with(one_port));

    std::printf("\n%-38s %8s %8s %8s %8s %7s\n", "two jobs relabel all targets", "1 thread",
                "CPU s", "2 thr.", "CPU s", "times");
    print_relabelling("pods", all, bench::pods());
    print_relabelling("pods with annotations", all, recipe);
    print_relabelling("API servers: everything is dropped", all, bench::api_servers());

    const TargetGroupDiff few = whole(Groups(groups.begin(), groups.begin() + 100));
    std::printf("\n%zu jobs of %zu pods each\n", jobs, few.updated.size());
    // If the configuration is unchanged, a pool only compares it.
    std::printf("%8s %8s %8s %8s %8s %8s %8s\n", "threads", "first", "CPU s", "same", "CPU s",
                "rules", "CPU s");
    for (const unsigned threads : {1U, 2U}) print_reload(few, jobs, threads);
    return 0;
}
