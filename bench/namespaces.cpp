// The cost of a scope of many namespaces until all of them are listed and watched, with one watch
// per namespace and with one cluster-wide watch: CPU for N and for 2 N namespaces of one pod each.
// The simulated server runs in the same process, and its CPU is counted.

#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "measure.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/json/object.hpp>
#include <cstdio>
#include <string>
#include <string_view>

namespace {

namespace asio = boost::asio;
namespace json = boost::json;

struct Result {
    double cpu, requests, memory_mb;
};

json::object pod(const std::string& ns) {
    return {{"kind", "Pod"},
            {"apiVersion", "v1"},
            {"metadata", json::object{{"name", "web"}, {"namespace", ns}}},
            {"spec", json::object{{"containers", json::array{json::object{{"name", "web"}}}}}},
            {"status", json::object{{"phase", "Running"}, {"podIP", "10.0.0.1"}}}};
}

Result measure(std::size_t namespaces, std::size_t cluster_wide_from) {
    asio::io_context context;
    k8s_sd::sim::ApiServer server(context.get_executor());
    k8s_sd::Environment environment;
    environment.connector = server.connector();
    environment.limits.watches = 0;
    k8s_sd::install(context, environment);
    k8s_sd::DiscoveryConfig config;
    config.api_server.url = server.url();
    config.watch.cluster_wide_from = cluster_wide_from;
    for (std::size_t i = 0; i < namespaces; ++i) {
        config.namespaces.push_back("a-namespace-with-a-long-name-" + std::to_string(i));
        server.apply(pod(config.namespaces.back()));
    }
    bool complete = false;
    k8s_sd::Discoverer discoverer(
        context.get_executor(), config,
        [&](const k8s_sd::TargetGroupDiff& diff) { complete = diff.updated.size() == namespaces; });
    discoverer.async_run([](k8s_sd::error_code) {});
    const auto& pods = k8s_sd::metrics_of(context)->of(k8s_sd::Kind::pod);
    const auto watching = [&] { return pods.watches >= static_cast<std::uint64_t>(pods.watchers); };
    const double base = bench::memory_mb("VmRSS");
    const double start = bench::cpu_seconds();
    while (!complete || !watching()) context.run_one();
    return {bench::cpu_seconds() - start, static_cast<double>(server.requests().size()),
            bench::memory_mb("VmRSS") - base};
}

void compare(const char* what, std::size_t namespaces, std::size_t cluster_wide_from) {
    const auto run = [&](std::size_t n) {
        return bench::in_process([&] { return measure(n, cluster_wide_from); });
    };
    const Result once = run(namespaces);
    const Result twice = run(2 * namespaces);
    for (const auto& [n, result] :
         {std::pair(namespaces, once), std::pair(2 * namespaces, twice)}) {
        std::printf("%-16s %6zu namespaces: %7.3f s, %6.0f requests, %6.1f MB\n", what, n,
                    result.cpu, result.requests, result.memory_mb);
    }
    std::printf("%-16s twice as many take %.2f times as long\n", what, twice.cpu / once.cpu);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--help") {
        std::puts("usage: bench_namespaces [NAMESPACES=1000]");
        return 0;
    }
    const std::size_t namespaces = bench::argument(argc, argv, 1, 1000);
    compare("a watch for each", namespaces, 0);
    compare("one watch", namespaces, 1);
    return 0;
}
