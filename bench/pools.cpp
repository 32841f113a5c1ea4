// What the pools of a large scraper cost: memory of a target, relabelling of all targets in one and
// in two threads, a reload of many jobs.

#include "discovered.hpp"
#include "k8s_sd/scrape/target_pool.hpp"
#include "measure.hpp"
#include "recipes.hpp"

#include <malloc.h>
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
    void stop(TargetId, const ScrapeTargetPtr&) noexcept override { --running; }
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

double seconds(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// --- memory --------------------------------------------------------------------------------------

struct Memory {
    std::size_t targets;
    double bytes;  ///< of a target
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

/// What one writes first: strings, by the group that they come from.
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

/// Lets `threads` threads do the work of all jobs, each job in one of them.
double work_on(std::vector<std::unique_ptr<Job>>& jobs, unsigned threads,
               const std::function<void(Job&)>& work) {
    return seconds([&] {
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

double relabel(const TargetGroupDiff& diff, const bench::Rules& rules, unsigned threads) {
    double best = 1e9;
    for (int round = 0; round < 3; ++round) {
        auto jobs = make_jobs(2, rules);
        best = std::min(best, work_on(jobs, threads, [&](Job& job) { job.pool.apply(diff); }));
    }
    return best;
}

void print_relabelling(const char* what, const TargetGroupDiff& diff, const bench::Rules& rules) {
    const double one = relabel(diff, rules, 1);
    const double two = relabel(diff, rules, 2);
    std::printf("%-38s %10.3f s %10.3f s %6.2f\n", what, one, two, one / two);
}

struct Reload {
    double first, same, other;
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
    std::printf("%8u %12.3f s %12.5f s %12.3f s\n", threads, r.first, r.same, r.other);
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
    // Their rules give the ports of a pod the same address: three targets become one.
    print_memory("pods with annotations", all, config_with(recipe));
    bench::Rules one_port = bench::pods();
    one_port.insert(
        one_port.begin(),
        {.action = RelabelAction::keep,
         .source_labels = {bench::meta + "pod_container_port_name"},
         .regex = std::string(
             (*groups.front())[0].get(bench::meta + "pod_container_port_name").value_or(""))});
    print_memory("one port of each pod", all, config_with(one_port));

    std::printf("\n%-38s %12s %12s %6s\n", "two jobs relabel all targets", "one thread",
                "two threads", "times");
    print_relabelling("pods", all, bench::pods());
    print_relabelling("pods with annotations", all, recipe);
    print_relabelling("API servers: everything is dropped", all, bench::api_servers());

    const TargetGroupDiff few = whole(Groups(groups.begin(), groups.begin() + 100));
    std::printf("\n%zu jobs of %zu pods each\n", jobs, few.updated.size());
    std::printf("%8s %14s %14s %14s\n", "threads", "first diffs", "reload, same", "other rules");
    for (const unsigned threads : {1U, 2U}) print_reload(few, jobs, threads);
    return 0;
}
