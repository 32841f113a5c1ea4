// The additional cost of many jobs over the same pods, and the cost of a configuration reload. The
// host of the measured process only counts changes, so the figures exclude the host's own work.

#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "measure.hpp"
#include "server.hpp"

#include <boost/asio/io_context.hpp>
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
using bench::cpu_seconds;
using bench::memory_mb;

struct Result {
    double sync_cpu, steady_mb, burst_cpu, after_burst_mb, rename_cpu, reapply_cpu;
    double changes, reload_requests;
};

/// A program with this many jobs, which runs one step after the other.
class Program {
 public:
    Program(const bench::Server& server, std::size_t jobs, bool different, std::size_t events)
        : server_(server),
          jobs_(jobs),
          different_(different),
          manager_(context_.get_executor(), [this](const auto& diff) { on_diff(diff); }) {
        char text[16];
        std::snprintf(text, sizeof text, "%09zu", events);
        last_revision_ = text;
    }

    Result measure() {
        Result result{};
        manager_.async_run([](k8s_sd::error_code) {});
        const double base = memory_mb("VmRSS");
        result.sync_cpu = timed([&] {
            manager_.apply_config(jobs("job-"));
            run_until([&] { return diffs_ == jobs_; });
        });
        result.steady_mb = memory_mb("VmRSS") - base;
        if (::write(server_.input, "!", 1) != 1) std::abort();
        result.burst_cpu = timed([&] { run_until([&] { return burst_done_; }); });
        result.after_burst_mb = memory_mb("VmRSS") - base;
        result.changes = static_cast<double>(changes_);
        const std::uint64_t before = requests();
        diffs_ = 0;
        result.rename_cpu = timed([&] {
            manager_.apply_config(jobs("renamed-"));
            run_until([&] { return diffs_ == 2 * jobs_; });
        });
        result.reapply_cpu = timed([&] { manager_.apply_config(jobs("renamed-")); });
        result.reload_requests = static_cast<double>(requests() - before);
        return result;
    }

 private:
    std::vector<k8s_sd::Job> jobs(const std::string& prefix) const {
        k8s_sd::DiscoveryConfig config;
        config.api_server.url = "http://127.0.0.1:" + std::to_string(server_.port);
        std::vector<k8s_sd::Job> jobs(jobs_);
        for (std::size_t i = 0; i < jobs_; ++i) {
            jobs[i].name = prefix + std::to_string(i);
            if (different_) config.selectors = {selector(i)};
            jobs[i].configs = {config};
        }
        return jobs;
    }
    /// A hundred selectors match each of 10 000 pods once: the recorded pods then have 20
    /// namespaces with five applications each.
    static k8s_sd::Selector selector(std::size_t i) {
        const std::size_t ns = i / 5;
        char label[32];
        char field[48];
        std::snprintf(label, sizeof label, "app=app-%04zu", ns % 4 * 5 + i % 5);
        std::snprintf(field, sizeof field, "metadata.namespace=ns-%03zu", ns);
        return {k8s_sd::Role::pod, label, field};
    }
    template <class Work>
    static double timed(Work work) {
        const double start = cpu_seconds();
        work();
        return cpu_seconds() - start;
    }
    template <class Done>
    void run_until(Done done) {
        while (!done()) context_.run_one();
    }
    void on_diff(const k8s_sd::JobDiff& diff) {
        ++diffs_;
        for (const auto& provider : diff.providers) {
            changes_ += provider.diff.full ? 0 : count(provider.diff);
        }
        // The last job receives its diff last; of different jobs, only one receives the last event.
        const bool last = different_ || diff.job == "job-" + std::to_string(jobs_ - 1);
        if (diff.full || diff.last || !last) return;
        for (const auto& provider : diff.providers) {
            burst_done_ = burst_done_ ||
                          std::any_of(provider.diff.updated.begin(), provider.diff.updated.end(),
                                      [&](const auto& c) { return is_last(*c.group); });
        }
    }
    static std::size_t count(const k8s_sd::TargetGroupDiff& diff) { return diff.updated.size(); }
    bool is_last(const k8s_sd::TargetGroup& group) const {
        return group.labels().get("__meta_kubernetes_pod_label_bench_example_com_rev") ==
               std::string_view(last_revision_);
    }
    std::uint64_t requests() {
        std::uint64_t requests = 0;
        for (const auto& kind : k8s_sd::metrics_of(context_)->kinds) {
            requests += kind.lists + kind.watches;
        }
        return requests;
    }

    const bench::Server& server_;
    std::size_t jobs_;
    bool different_;  ///< in their selectors
    std::string last_revision_;
    std::size_t diffs_ = 0;
    std::size_t changes_ = 0;
    bool burst_done_ = false;
    asio::io_context context_;
    k8s_sd::DiscoveryManager manager_;
};

/// The best of several runs, value by value: other load on the machine only adds.
Result best(const bench::Server& server, std::size_t jobs, bool different, std::size_t events) {
    Result best{};
    for (int run = 0; run < 5; ++run) {
        const Result result =
            bench::in_process([&] { return Program(server, jobs, different, events).measure(); });
        const auto keep = [&](double Result::*value) {
            if (run == 0 || result.*value < best.*value) best.*value = result.*value;
        };
        for (const auto value :
             {&Result::sync_cpu, &Result::steady_mb, &Result::burst_cpu, &Result::after_burst_mb,
              &Result::rename_cpu, &Result::reapply_cpu, &Result::changes}) {
            keep(value);
        }
        best.reload_requests = std::max(best.reload_requests, result.reload_requests);
    }
    return best;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--help") {
        std::puts("usage: bench_jobs [PODS=10000] [EVENTS=10000]");
        return 0;
    }
    const std::size_t events = bench::argument(argc, argv, 2, 10'000);
    const bench::Server server = bench::serve(bench::argument(argc, argv, 1, 10'000), events);
    std::puts("        CPU of the      memory,         CPU of the      memory  rename  apply");
    std::puts("        initial sync    synced          burst           after   all     again   ");
    std::puts(
        "  jobs  s       ratio   MB      ratio   s       ratio   MB      CPU s   CPU s   requests");
    Result one{};
    const auto row = [&](std::size_t jobs, bool different) {
        const Result r = best(server, jobs, different, events);
        if (jobs == 1) one = r;
        std::printf(
            "%6zu  %-6.3f  %-6.2f  %-6.1f  %-6.2f  %-6.3f  %-6.2f  %-6.1f  %-6.3f  %-6.4f  %.0f\n",
            jobs, r.sync_cpu, r.sync_cpu / one.sync_cpu, r.steady_mb, r.steady_mb / one.steady_mb,
            r.burst_cpu, r.burst_cpu / one.burst_cpu, r.after_burst_mb, r.rename_cpu, r.reapply_cpu,
            r.reload_requests);
    };
    for (const std::size_t jobs : {1U, 10U, 100U, 1000U}) row(jobs, false);
    std::puts("jobs with different selectors, of which each pod has one");
    row(100, true);
    bench::stop(server);
    return 0;
}
