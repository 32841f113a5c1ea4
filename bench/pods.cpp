// Syncs the pods of a cluster and applies a burst of changes as a host would, keeping all targets
// reachable. Prints CPU and memory of the measured process for each encoding, beside the floors of
// the same run: reading the same bytes, finding the wanted fields in them, and the text of the
// labels.

#include "floor.hpp"
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/target_groups.hpp"
#include "measure.hpp"
#include "server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

namespace asio = boost::asio;
using bench::cpu_seconds;
using bench::in_process;
using bench::memory_mb;
using bench::reset_peak;
using bench::thread_cpu_seconds;
using Seconds = std::chrono::duration<double>;

/// The report of a measured process to its parent.
struct Result {
    double sync_cpu, sync_wall, base_mb, peak_mb, steady_mb, groups, targets, label_bytes;
    double burst_cpu, burst_wall, burst_peak_mb, changes;
    double max_before_diff, max_diff, max_in_burst;
};

Result measure_k8s_sd(const bench::Server& server, std::size_t events) {
    asio::io_context context;
    k8s_sd::DiscoveryConfig config;
    config.api_server.url = "http://127.0.0.1:" + std::to_string(server.port);
    reset_peak();
    Result result{};
    result.base_mb = memory_mb("VmRSS");
    const auto start = std::chrono::steady_clock::now();
    const double cpu = cpu_seconds();
    std::chrono::steady_clock::time_point burst_start;
    double burst_cpu = 0;
    k8s_sd::TargetGroups host;
    std::size_t changes = 0;
    char last[16];
    std::snprintf(last, sizeof last, "%09zu", events);
    bool synced = false;
    const auto begin_burst = [&] {
        result.peak_mb = memory_mb("VmHWM");
        result.steady_mb = memory_mb("VmRSS");
        reset_peak();
        burst_start = std::chrono::steady_clock::now();
        burst_cpu = cpu_seconds();
        if (::write(server.input, "!", 1) != 1) std::abort();
    };
    k8s_sd::Discoverer discoverer(
        context.get_executor(), config, [&](const k8s_sd::TargetGroupDiff& diff) {
            host.apply(diff);
            if (!diff.full) changes += diff.updated.size();
            if (diff.full) {
                result.sync_cpu = cpu_seconds() - cpu;
                result.sync_wall = Seconds(std::chrono::steady_clock::now() - start).count();
                synced = true;
                asio::post(context, begin_burst);
                return;
            }
            for (const auto& change : diff.updated) {
                const auto rev =
                    change.group->labels().get("__meta_kubernetes_pod_label_bench_example_com_rev");
                if (rev == std::string_view(last)) context.stop();
            }
        });
    discoverer.async_run([](k8s_sd::error_code) {});
    for (double before = thread_cpu_seconds(); context.run_one() > 0;) {
        const double after = thread_cpu_seconds();
        double& longest = !synced                ? result.max_before_diff
                          : result.max_diff == 0 ? result.max_diff
                                                 : result.max_in_burst;
        longest = std::max(longest, after - before);
        before = after;
    }
    result.burst_cpu = cpu_seconds() - burst_cpu;
    result.burst_wall = Seconds(std::chrono::steady_clock::now() - burst_start).count();
    result.burst_peak_mb = memory_mb("VmHWM");
    result.groups = static_cast<double>(host.group_count());
    result.targets = static_cast<double>(host.target_count());
    result.label_bytes = static_cast<double>(bench::label_text(host));
    result.changes = static_cast<double>(changes);
    return result;
}

void measure(bench::Encoding encoding, std::size_t pods_wanted, std::size_t events) {
    const bench::Server server = bench::serve(pods_wanted, events, false, encoding);
    const auto floor = [&](bench::Floor what) {
        return bench::measure_floor(server.port, encoding, what);
    };
    const double socket = floor(bench::Floor::socket);
    const double walk = floor(bench::Floor::field_walk);
    const Result result = in_process([&] { return measure_k8s_sd(server, events); });

    const bool json = encoding == bench::Encoding::json;
    const double pods = result.groups;
    std::printf("=== %s: list of %.0f pods, %.0f MB, %.0f targets\n", json ? "JSON" : "protobuf",
                pods, static_cast<double>(server.list_bytes) / 1e6, result.targets);
    std::printf("floor: socket                   %6.3f s CPU\n", socket);
    std::printf("floor: socket and field walk    %6.3f s CPU\n", walk);
    if (json) {
        std::printf("floor: socket and Boost.JSON    %6.3f s CPU\n",
                    floor(bench::Floor::json_parser));
    }
    std::printf(
        "initial sync                    %6.3f s CPU, %.2f times the floor, %.2f s in all\n",
        result.sync_cpu, result.sync_cpu / walk, result.sync_wall);
    bench::stop(server);
    std::printf("memory: before %.1f MB, peak %.1f MB, afterwards %.1f MB\n", result.base_mb,
                result.peak_mb, result.steady_mb);
    const double memory = (result.steady_mb - result.base_mb) * 1024 * 1024 / pods;
    const double text = result.label_bytes / pods;
    std::printf("floor: text of the labels, each once: %.0f bytes a pod\n", text);
    std::printf("memory a pod, all targets reachable:  %.0f bytes, %.2f times the floor\n", memory,
                memory / text);
    const double rate = static_cast<double>(events) / result.burst_cpu;
    const double floor_rate = pods / walk;
    std::printf("floor: socket and field walk of %.0f pods a CPU second\n", floor_rate);
    std::printf("burst of %zu MODIFIED events: %.2f s CPU, %.0f events a CPU second, %.2f times "
                "the floor, %.2f s in all, peak %.1f MB, %.0f changes delivered\n",
                events, result.burst_cpu, rate, floor_rate / rate, result.burst_wall,
                result.burst_peak_mb, result.changes);
    std::printf("longest handler: sync %.2f ms, first diff %.2f ms, burst %.2f ms of CPU\n",
                result.max_before_diff * 1e3, result.max_diff * 1e3, result.max_in_burst * 1e3);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--help") {
        std::puts("usage: bench_pods [PODS=50000] [EVENTS=100000]");
        return 0;
    }
    const std::size_t pods = bench::argument(argc, argv, 1, 50'000);
    const std::size_t events = bench::argument(argc, argv, 2, 100'000);
    measure(bench::Encoding::protobuf, pods, events);
    measure(bench::Encoding::json, pods, events);
    return 0;
}
