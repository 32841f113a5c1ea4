// Half a million pods on 15 000 nodes: whether CPU and memory grow linearly, the longest handler,
// a change of a node with 250 pods, the latency of thousands of changes a second, 10 000 namespaces
// and 2 000 jobs. A separate process makes the bytes while it sends them. The measured processes
// are hosts that keep all targets reachable.

#include "floor.hpp"
#include "measure.hpp"
#include "scale/discovery.hpp"
#include "scale/server.hpp"

#include <cstdio>
#include <string_view>

namespace {

using namespace bench::scale;
using bench::Encoding;
using bench::in_process;
using k8s_sd::Kind;
using k8s_sd::Role;

struct Options {
    std::size_t pods, seconds, rate, jobs;
    Encoding encoding;
};

/// \param in_parts  whether the host receives large diffs in parts
k8s_sd::DiscoveryConfig with_nodes(Role role, bool in_parts = false) {
    k8s_sd::DiscoveryConfig config;
    config.role = role;
    config.attach_metadata.node = true;
    if (in_parts) config.max_groups_per_diff = 1000;
    return config;
}

void print_header(const char* title) {
    std::printf("%s\n", title);
    std::puts("          sync             of the  memory, MB             of the  "
              "longest handler, ms: first diff");
    std::puts("   pods   CPU s  us a pod  floor    peak    end  bytes a pod floor  "
              "sync   in parts    whole");
}

/// \returns the CPU time for a pod
double print_row(const Options& options, std::size_t pods, Role role) {
    const Server server = serve({.pods = pods}, options.encoding);
    double floor = 0;
    for (const Kind kind : {Kind::pod, Kind::node, Kind::service, Kind::endpointslice}) {
        const bool watched = role != Role::pod || kind == Kind::pod || kind == Kind::node;
        if (!watched) continue;
        floor +=
            bench::measure_floor(server.port, options.encoding, bench::Floor::field_walk, kind);
    }
    const Discovered r = in_process([&] { return discover(server, with_nodes(role, true), 0, 0); });
    const Discovered whole = in_process([&] { return discover(server, with_nodes(role), 0, 0); });
    bench::stop(server);
    const auto count = static_cast<double>(pods);
    const double bytes = r.memory_mb * 1024 * 1024 / count;
    std::printf("%7zu %7.2f  %8.2f  %5.2f  %6.0f %6.0f  %11.0f %5.2f  %4.1f  %9.1f  %7.1f\n", pods,
                r.cpu, r.cpu / count * 1e6, r.cpu / floor, r.peak_mb, r.memory_mb, bytes,
                bytes * count / r.label_bytes, r.longest.sync * 1e3, r.longest.first_diff * 1e3,
                whole.longest.first_diff * 1e3);
    std::fflush(stdout);
    return r.cpu / count;
}

void measure_growth(const Options& options, Role role, const char* title) {
    print_header(title);
    double first = 0, last = 0;
    for (const std::size_t part : {10U, 5U, 2U, 1U}) {
        last = print_row(options, options.pods / part, role);
        if (first == 0) first = last;
    }
    std::printf("CPU of a pod in the largest cluster, of that in the smallest: %.2f\n",
                last / first);
}

void measure_changes(const Options& options) {
    const Server server = serve({.pods = options.pods}, options.encoding);
    const std::size_t changes = options.rate * options.seconds;
    const Latency floor = in_process([&] {
        return floor_of_latency(server, options.rate * (options.seconds / 6 + 1), options.rate);
    });
    const Discovered r =
        in_process([&] { return discover(server, with_nodes(Role::pod), changes, options.rate); });
    bench::stop(server);
    std::printf("labels of a node change: %.3f ms CPU, %.0f groups, %.2f us each\n",
                r.node_change * 1e3, r.node_groups, r.node_change * 1e6 / r.node_groups);
    std::printf("%zu changes a second for %zu s, %.0f of %zu delivered, %.2f of a core\n",
                options.rate, options.seconds, r.changes, changes,
                r.churn_cpu / static_cast<double>(options.seconds));
    std::printf("  latency:                p50 %7.3f  p99 %7.3f  longest %7.3f ms\n", r.p50, r.p99,
                r.longest_latency);
    std::printf("  floor, reads the bytes: p50 %7.3f  p99 %7.3f  longest %7.3f ms\n", floor.p50,
                floor.p99, floor.longest);
    std::printf("  longest handler: %.2f ms of CPU\n", r.longest.changes * 1e3);
    std::printf("a list that lacks two of five pods: %.2f s CPU, longest handler %.2f ms\n",
                r.relist_cpu, r.longest.removals * 1e3);
}

void print_compared(const char* what, double cpu, double memory, double groups, double floor_cpu,
                    double floor_memory) {
    std::printf("%-32s %6.2f s CPU, x %.2f  %5.0f MB, x %.2f  %8.0f groups\n", what, cpu,
                cpu / floor_cpu, memory, memory / floor_memory, groups);
    std::fflush(stdout);
}

void measure_namespaces(const Options& options) {
    constexpr std::size_t namespace_size = 10;
    const std::size_t pods = options.pods / 5;
    const Server server = serve({pods, namespace_size}, options.encoding);
    k8s_sd::DiscoveryConfig config;
    const Discovered all = in_process([&] { return discover(server, config, 0, 0); });
    for (std::size_t i = 0; i < pods / namespace_size; ++i) {
        config.namespaces.push_back(bench::ObjectList::namespace_name(i));
    }
    const Discovered named = in_process([&] { return discover(server, config, 0, 0); });
    bench::stop(server);
    char title[48];
    std::snprintf(title, sizeof title, "%zu namespaces by name", config.namespaces.size());
    print_compared("all namespaces", all.cpu, all.memory_mb, all.groups, all.cpu, all.memory_mb);
    print_compared(title, named.cpu, named.memory_mb, named.groups, all.cpu, all.memory_mb);
}

void measure_jobs(const Options& options) {
    const std::size_t pods = options.pods / 5;
    const Server server = serve({.pods = pods}, options.encoding);
    const Jobs one = in_process([&] { return run_jobs(server, pods, 1); });
    const Jobs many = in_process([&] { return run_jobs(server, pods, options.jobs); });
    bench::stop(server);
    char title[48];
    std::snprintf(title, sizeof title, "%zu jobs of 100 pods", options.jobs);
    print_compared("a job of all pods", one.cpu, one.memory_mb, one.groups, one.cpu, one.memory_mb);
    print_compared(title, many.cpu, many.memory_mb, many.groups, one.cpu, one.memory_mb);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--help") {
        std::puts("usage: bench_scale [PODS=500000] [SECONDS=60] [RATE=5000] [JOBS=2000] [json]");
        return 0;
    }
    const Options options{
        bench::argument(argc, argv, 1, 500'000), bench::argument(argc, argv, 2, 60),
        bench::argument(argc, argv, 3, 5000), bench::argument(argc, argv, 4, 2000),
        argc > 5 && std::string_view(argv[5]) == "json" ? Encoding::json : Encoding::protobuf};
    measure_growth(options, Role::pod, "pods with attached nodes");
    measure_growth(options, Role::endpointslice,
                   "endpoint slices with their services, pods, and attached nodes");
    measure_changes(options);
    measure_namespaces(options);
    measure_jobs(options);
    return 0;
}
