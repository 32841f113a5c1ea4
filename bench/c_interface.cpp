// The border of the interface for C: syncs the pods of a cluster and follows a burst of changes
// through both interfaces, each with a thread of the library and a thread that reads all labels.

#include "k8s_sd/discoverer.hpp"
#include "k8s_sd_c.h"
#include "measure.hpp"
#include "server.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <unistd.h>
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
    double sync = 0;        ///< seconds of CPU until all labels are read
    double changes = 0;     ///< seconds of CPU for the burst
    std::size_t bytes = 0;  ///< of all labels that were read in the sync
};

constexpr const char* revision_label = "__meta_kubernetes_pod_label_bench_example_com_rev";

/// The revision of the last change.
std::string last_revision(std::size_t events) {
    char text[16];
    std::snprintf(text, sizeof text, "%09zu", events);
    return text;
}

void begin_changes(const bench::Server& server) {
    if (::write(server.input, "!", 1) != 1) std::abort();
}

std::size_t read_labels(const k8s_sd::Labels& labels) {
    std::size_t bytes = 0;
    for (const auto& [name, value] : labels) bytes += name.size() + value.size();
    return bytes;
}

/// Reads all labels. \return whether the last change is among them
bool read_diff(const k8s_sd::TargetGroupDiff& diff, std::string_view last, std::size_t& bytes) {
    bool ended = false;
    for (const auto& change : diff.updated) {
        bytes += read_labels(change.group->labels());
        for (std::size_t i = 0; i < change.group->size(); ++i) {
            bytes += read_labels((*change.group)[i]);
        }
        ended = ended || change.group->labels().get(revision_label) == last;
    }
    return ended;
}

Cost measure_cpp(const bench::Server& server, std::size_t events) {
    const std::string last = last_revision(events);
    double began = bench::cpu_seconds();
    asio::io_context io;
    k8s_sd::DiscoveryConfig config;
    config.api_server.url = "http://127.0.0.1:" + std::to_string(server.port);
    k8s_sd::Discoverer discoverer(io.get_executor(), config);
    const auto next = [&] {
        std::promise<k8s_sd::TargetGroupDiff> promise;
        auto diff = promise.get_future();
        asio::post(io, [&] {
            discoverer.async_next([&](k8s_sd::error_code, k8s_sd::TargetGroupDiff given) {
                promise.set_value(std::move(given));
            });
        });
        return diff.get();
    };
    const auto work = asio::make_work_guard(io);
    std::jthread thread([&] { io.run(); });
    Cost cost;
    read_diff(next(), last, cost.bytes);
    cost.sync = bench::cpu_seconds() - began;
    began = bench::cpu_seconds();
    begin_changes(server);
    for (std::size_t bytes = 0; !read_diff(next(), last, bytes);) {
    }
    cost.changes = bench::cpu_seconds() - began;
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

/// Reads all labels. \return whether the last change is among them
bool read_event(const k8s_sd_event* event, std::string_view last, std::size_t& bytes) {
    bool ended = false;
    for (std::size_t i = 0; i < k8s_sd_event_size(event); ++i) {
        bytes += read_pairs(event, i, K8S_SD_LABELS);
        const auto targets = static_cast<std::int64_t>(k8s_sd_change_targets(event, i));
        for (std::int64_t target = 0; target < targets; ++target) {
            bytes += read_pairs(event, i, target);
        }
        const k8s_sd_string revision = k8s_sd_change_value(event, i, K8S_SD_LABELS, revision_label);
        ended = ended || std::string_view(revision.data, revision.size) == last;
    }
    return ended;
}

Cost measure_c(const bench::Server& server, std::size_t events) {
    const std::string last = last_revision(events);
    double began = bench::cpu_seconds();
    k8s_sd_context* const context = k8s_sd_open(nullptr, nullptr);
    const std::string yaml =
        "{role: pod, api_server: 'http://127.0.0.1:" + std::to_string(server.port) + "'}";
    auto config = K8S_SD_INIT(k8s_sd_config);
    config.yaml = yaml.c_str();
    if (k8s_sd_discover(context, &config, nullptr, nullptr) != K8S_SD_OK) std::abort();
    Cost cost;
    std::size_t bytes = 0;
    for (bool ended = false; !ended;) {
        k8s_sd_poll(context, -1, nullptr);
        k8s_sd_event* const event = k8s_sd_next(context);
        const bool synced = k8s_sd_event_full(event) == 1;
        ended = read_event(event, last, synced ? cost.bytes : bytes);
        k8s_sd_event_free(event);
        if (!synced) continue;
        cost.sync = bench::cpu_seconds() - began;
        began = bench::cpu_seconds();
        begin_changes(server);
    }
    cost.changes = bench::cpu_seconds() - began;
    k8s_sd_free(context);
    return cost;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--help") {
        std::puts("usage: bench_c_interface [PODS=50000] [EVENTS=100000] [RUNS=7]");
        return 0;
    }
    const std::size_t pods = bench::argument(argc, argv, 1, 50'000);
    const std::size_t events = bench::argument(argc, argv, 2, 100'000);
    constexpr double never = std::numeric_limits<double>::max();
    Cost cpp{never, never, 0};
    Cost c = cpp;
    const auto keep_best = [](Cost& best, const Cost& cost) {
        best.sync = std::min(best.sync, cost.sync);
        best.changes = std::min(best.changes, cost.changes);
    };
    for (std::size_t run = bench::argument(argc, argv, 3, 7); run > 0; --run) {
        const bench::Server server = bench::serve(pods, events);
        const Cost through_cpp = bench::in_process([&] { return measure_cpp(server, events); });
        const Cost through_c = bench::in_process([&] { return measure_c(server, events); });
        bench::stop(server);
        if (through_c.bytes != through_cpp.bytes) std::puts("the labels differ");
        keep_best(cpp, through_cpp);
        keep_best(c, through_c);
    }
    const auto print = [](const char* what, double of_cpp, double of_c) {
        std::printf("%-10s C++ %.3f, C %.3f (%+.1f %%)\n", what, of_cpp, of_c,
                    (of_c / of_cpp - 1) * 100);
    };
    std::printf("%zu pods, %zu changes, the best run of each, seconds of CPU\n", pods, events);
    print("sync", cpp.sync, c.sync);
    print("changes", cpp.changes, c.changes);
    return 0;
}
