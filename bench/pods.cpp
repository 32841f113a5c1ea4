// Syncs the pods of a cluster and applies a burst of changes as a host would, keeping all targets
// reachable. Prints CPU and memory of the measured process, and the floors: reading the same bytes
// from the socket, and passing them through the JSON parser with a handler that does nothing.

#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/target_groups.hpp"
#include "measure.hpp"
#include "no_handler.hpp"
#include "server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/json/basic_parser_impl.hpp>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

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
    double sync_cpu, sync_wall, base_mb, peak_mb, steady_mb, groups, targets;
    double burst_cpu, burst_wall, burst_peak_mb, changes;
    double max_before_diff, max_diff, max_in_burst;
};

/// Reads the list from the socket, and parses it if requested.
Result measure_floor(unsigned short port, bool parse) {
    asio::io_context context;
    asio::ip::tcp::socket socket(context);
    socket.connect({asio::ip::address_v4::loopback(), port});
    const double cpu = cpu_seconds();
    const std::string request = "GET /api/v1/pods HTTP/1.1\r\nHost: bench\r\n\r\n";
    asio::write(socket, asio::buffer(request));
    std::vector<char> buffer(256 * 1024);
    std::size_t left = std::numeric_limits<std::size_t>::max();
    boost::json::basic_parser<bench::NoHandler> parser({});
    for (bool in_body = false; left > 0;) {
        const std::size_t n = socket.read_some(asio::buffer(buffer));
        std::string_view bytes(buffer.data(), n);
        if (!in_body) {
            const std::size_t length = bytes.find("Content-Length: ") + 16;
            left = std::strtoull(bytes.data() + length, nullptr, 10);
            bytes.remove_prefix(bytes.find("\r\n\r\n") + 4);
            in_body = true;
        }
        left -= bytes.size();
        boost::system::error_code ec;
        if (parse) parser.write_some(left > 0, bytes.data(), bytes.size(), ec);
    }
    Result result{};
    result.sync_cpu = cpu_seconds() - cpu;
    return result;
}

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
        if (::write(server.start, "!", 1) != 1) std::abort();
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
    result.changes = static_cast<double>(changes);
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--help") {
        std::puts("usage: bench_pods [PODS=50000] [EVENTS=100000]");
        return 0;
    }
    const std::size_t events = bench::argument(argc, argv, 2, 100'000);
    const bench::Server server = bench::serve(bench::argument(argc, argv, 1, 50'000), events);
    const Result socket = in_process([&] { return measure_floor(server.port, false); });
    const Result parse = in_process([&] { return measure_floor(server.port, true); });
    const Result result = in_process([&] { return measure_k8s_sd(server, events); });
    bench::stop(server);

    const double bytes = static_cast<double>(server.list_bytes);
    const double pods = result.groups;
    std::printf("list of %.0f pods, %.0f MB of JSON, %.0f targets\n", pods, bytes / 1e6,
                result.targets);
    std::printf("floor: socket            %6.2f s CPU\n", socket.sync_cpu);
    std::printf("floor: socket and parser %6.2f s CPU\n", parse.sync_cpu);
    std::printf(
        "initial sync             %6.2f s CPU  (%.2f times the parser's floor), %.2f s in all\n",
        result.sync_cpu, result.sync_cpu / parse.sync_cpu, result.sync_wall);
    std::printf("memory: before %.1f MB, peak %.1f MB, afterwards %.1f MB\n", result.base_mb,
                result.peak_mb, result.steady_mb);
    std::printf("memory a pod, all targets reachable: %.0f bytes\n",
                (result.steady_mb - result.base_mb) * 1024 * 1024 / pods);
    std::printf(
        "burst of %zu MODIFIED events: %.2f s CPU, %.0f events per CPU second, %.2f s in all, "
        "peak %.1f MB, %.0f changes delivered\n",
        events, result.burst_cpu, static_cast<double>(events) / result.burst_cpu, result.burst_wall,
        result.burst_peak_mb, result.changes);
    std::printf("longest handler: sync %.2f ms, first diff %.2f ms, burst %.2f ms of CPU\n",
                result.max_before_diff * 1e3, result.max_diff * 1e3, result.max_in_burst * 1e3);
    return 0;
}
