// The border of the interface for C: syncs the pods of a cluster through both interfaces, each with
// a thread of the library and a thread that reads all labels.

#include "k8s_sd/discoverer.hpp"
#include "k8s_sd_c.h"
#include "measure.hpp"
#include "server.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace {

namespace asio = boost::asio;

struct Cost {
    double seconds = 0;     ///< of CPU
    std::size_t bytes = 0;  ///< of all labels that were read
};

std::size_t read_labels(const k8s_sd::Labels& labels) {
    std::size_t bytes = 0;
    for (const auto& [name, value] : labels) bytes += name.size() + value.size();
    return bytes;
}

Cost measure_cpp(const bench::Server& server) {
    const double began = bench::cpu_seconds();
    asio::io_context io;
    k8s_sd::DiscoveryConfig config;
    config.api_server.url = "http://127.0.0.1:" + std::to_string(server.port);
    k8s_sd::Discoverer discoverer(io.get_executor(), config);
    std::promise<k8s_sd::TargetGroupDiff> first;
    discoverer.async_next([&](k8s_sd::error_code, k8s_sd::TargetGroupDiff diff) {
        first.set_value(std::move(diff));
    });
    const auto work = asio::make_work_guard(io);
    std::jthread thread([&] { io.run(); });
    const k8s_sd::TargetGroupDiff diff = first.get_future().get();
    Cost cost;
    for (const auto& change : diff.updated) {
        cost.bytes += read_labels(change.group->labels());
        for (std::size_t i = 0; i < change.group->size(); ++i) {
            cost.bytes += read_labels((*change.group)[i]);
        }
    }
    cost.seconds = bench::cpu_seconds() - began;
    io.stop();
    return cost;
}

std::size_t read_pairs(const k8s_sd_event* event, std::size_t change, std::int64_t set) {
    std::array<k8s_sd_pair, 128> pairs;
    const std::size_t count =
        std::min(k8s_sd_change_pairs(event, change, set, pairs.data(), pairs.size()), pairs.size());
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) bytes += pairs[i].name.size + pairs[i].value.size;
    return bytes;
}

std::size_t read_event(const k8s_sd_event* event) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < k8s_sd_event_size(event); ++i) {
        bytes += read_pairs(event, i, K8S_SD_LABELS);
        const auto targets = static_cast<std::int64_t>(k8s_sd_change_targets(event, i));
        for (std::int64_t target = 0; target < targets; ++target) {
            bytes += read_pairs(event, i, target);
        }
    }
    return bytes;
}

Cost measure_c(const bench::Server& server) {
    const double began = bench::cpu_seconds();
    k8s_sd_context* const context = k8s_sd_open(nullptr, nullptr);
    const std::string yaml =
        "{role: pod, api_server: 'http://127.0.0.1:" + std::to_string(server.port) + "'}";
    auto config = K8S_SD_INIT(k8s_sd_config);
    config.yaml = yaml.c_str();
    if (k8s_sd_discover(context, &config, nullptr, nullptr) != K8S_SD_OK) std::abort();
    Cost cost;
    for (bool synced = false; !synced;) {
        k8s_sd_poll(context, -1, nullptr);
        k8s_sd_event* const event = k8s_sd_next(context);
        synced = k8s_sd_event_full(event) == 1;
        cost.bytes += read_event(event);
        k8s_sd_event_free(event);
    }
    cost.seconds = bench::cpu_seconds() - began;
    k8s_sd_free(context);
    return cost;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--help") {
        std::puts("usage: bench_c_interface [PODS=50000] [RUNS=7]");
        return 0;
    }
    const std::size_t pods = bench::argument(argc, argv, 1, 50'000);
    double cpp = std::numeric_limits<double>::max();
    double c = cpp;
    for (std::size_t run = bench::argument(argc, argv, 2, 7); run > 0; --run) {
        const bench::Server server = bench::serve(pods, 0);
        const Cost through_cpp = bench::in_process([&] { return measure_cpp(server); });
        const Cost through_c = bench::in_process([&] { return measure_c(server); });
        bench::stop(server);
        if (through_c.bytes != through_cpp.bytes) std::puts("the labels differ");
        cpp = std::min(cpp, through_cpp.seconds);
        c = std::min(c, through_c.seconds);
    }
    std::printf("%zu pods, the best run of each, seconds of CPU: C++ %.3f, C %.3f (%+.1f %%)\n",
                pods, cpp, c, (c / cpp - 1) * 100);
    return 0;
}
