// Syncs the pods of a cluster with watchers, each in a child process: the cost of a Store of
// structs beside a Discoverer's targets, with all fields and with those of an agent, and both on
// one watch. Then measures the time from a change in a server to the store.

#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/target_groups.hpp"
#include "measure.hpp"
#include "server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

namespace asio = boost::asio;
namespace api = k8s_sd::api;
namespace json = boost::json;
using bench::cpu_seconds;
using bench::memory_mb;
using Clock = std::chrono::steady_clock;

struct Result {
    double cpu, base_mb, steady_mb;
};

const k8s_sd::Fields agent_fields{"metadata.labels",
                                  "spec.nodeName",
                                  "status.podIP",
                                  "status.containerStatuses",
                                  "status.initContainerStatuses",
                                  "status.ephemeralContainerStatuses"};

/// \param fields  none: no watcher
Result measure(unsigned short port, bool discover, const k8s_sd::Fields& fields) {
    asio::io_context context;
    const std::string url = "http://127.0.0.1:" + std::to_string(port);
    k8s_sd::DiscoveryConfig discovery;
    discovery.api_server.url = url;
    k8s_sd::WatcherConfig watched;
    watched.api_server.url = url;
    watched.fields = fields;
    Result result{};
    result.base_mb = memory_mb("VmRSS");
    const double cpu = cpu_seconds();
    int waiting = (discover ? 1 : 0) + (fields.empty() ? 0 : 1);
    const auto synced = [&] {
        if (--waiting == 0) context.stop();
    };
    k8s_sd::TargetGroups targets;
    std::optional<k8s_sd::Discoverer> discoverer;
    if (discover) {
        discoverer.emplace(context.get_executor(), discovery,
                           [&](const k8s_sd::TargetGroupDiff& diff) {
                               targets.apply(diff);
                               synced();
                           });
        discoverer->async_run([](k8s_sd::error_code) {});
    }
    k8s_sd::Store<api::Pod> store;
    const auto by_container = store.index([](const api::Pod& pod, k8s_sd::IndexKeys& keys) {
        for (const auto& status : pod.status.container_statuses) keys.add(status.container_id);
    });
    std::optional<k8s_sd::Watcher<api::Pod>> watcher;
    if (!fields.empty()) {
        watcher.emplace(context.get_executor(), watched, store, [&](const auto&) { synced(); });
        watcher->async_run([](k8s_sd::error_code) {});
    }
    context.run();
    result.cpu = cpu_seconds() - cpu;
    context.restart();
    context.poll();  // handlers of the previous iteration
    result.steady_mb = memory_mb("VmRSS");
    return result;
}

json::object pod(std::size_t number, std::size_t revision) {
    return {{"kind", "Pod"},
            {"apiVersion", "v1"},
            {"metadata", json::object{{"name", "p" + std::to_string(number)},
                                      {"namespace", "shop"},
                                      {"labels", json::object{{"rev", std::to_string(revision)}}}}},
            {"spec", json::object{{"nodeName", "n1"},
                                  {"containers", json::array{json::object{{"name", "c"}}}}}},
            {"status", json::object{{"phase", "Running"}, {"podIP", "10.0.0.1"}}}};
}

/// Milliseconds from a change in the server to the store.
std::vector<double> measure_latency(std::size_t pods, std::size_t changes) {
    asio::io_context server_context(1);
    auto work = asio::make_work_guard(server_context);
    k8s_sd::sim::ApiServer server(server_context.get_executor());
    for (std::size_t i = 0; i < pods; ++i) server.apply(pod(i, 0));
    server.listen();
    std::jthread server_thread([&] { server_context.run(); });
    asio::io_context context(1);
    k8s_sd::WatcherConfig config;
    config.api_server.url = server.url();
    k8s_sd::Store<api::Pod> store;
    k8s_sd::Watcher<api::Pod> watcher(context.get_executor(), config, store);
    watcher.async_run([](k8s_sd::error_code) {});
    while (!store.synced()) context.run_one();
    std::vector<double> times;
    for (std::size_t i = 1; i <= changes; ++i) {
        const std::uint64_t before = store.generation();
        const auto start = Clock::now();
        server.apply(pod(i % pods, i));
        while (store.generation() == before) context.run_one();
        times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    }
    work.reset();
    server_context.stop();
    std::sort(times.begin(), times.end());
    return times;
}

void print(const char* what, const Result& result, const Result& first, std::size_t pods) {
    std::printf("%-44s %5.2f s CPU (x %.2f)  %5.0f bytes a pod\n", what, result.cpu,
                result.cpu / first.cpu,
                (result.steady_mb - result.base_mb) * 1024 * 1024 / static_cast<double>(pods));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--help") {
        std::puts("usage: bench_watchers [PODS=50000] [CHANGES=2000]");
        return 0;
    }
    const std::size_t pods = bench::argument(argc, argv, 1, 50'000);
    const unsigned short port = bench::serve(pods, 0).port;
    const auto in_process = [&](bool discover, const k8s_sd::Fields& fields) {
        return bench::in_process([&] { return measure(port, discover, fields); });
    };
    const Result targets = in_process(true, {});
    print("a Discoverer", targets, targets, pods);
    print("a Watcher with a Store, an agent's fields", in_process(false, agent_fields), targets,
          pods);
    print("a Watcher with a Store, all fields", in_process(false, k8s_sd::Fields::all()), targets,
          pods);
    print("a Discoverer beside an agent's Watcher", in_process(true, agent_fields), targets, pods);
    const std::size_t changes = bench::argument(argc, argv, 2, 2'000);
    const std::vector<double> times = measure_latency(10'000, changes);
    std::printf("change in a server of 10 000 pods to the store: p50 %.2f ms, p99 %.2f ms\n",
                times[times.size() / 2], times[times.size() * 99 / 100]);
    return 0;
}
