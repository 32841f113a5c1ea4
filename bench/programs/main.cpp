// The cost of k8s-sd: the latency of its lists, and the cost of requests, changes, jobs and the
// page. Each measurement stands beside a floor from the same run.

#include "measure.hpp"
#include "sections.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

namespace bench {

namespace {

struct Section {
    std::string_view name;
    void (*measure)(const ServedPods&);
};

constexpr std::array<Section, 6> sections{{{"latency", measure_latency},
                                           {"requests", measure_requests},
                                           {"polls", measure_polls},
                                           {"changes", measure_changes},
                                           {"memory", measure_memory},
                                           {"page", measure_page}}};

void run(std::size_t pods, std::string_view only) {
    const ServedPods served{serve(pods, 1), pods};
    std::printf("%zu pods, %zu targets, %zu shards\n", pods, served.targets(), served.shards());
    for (const Section& section : sections) {
        if (!only.empty() && only != section.name) continue;
        std::printf("\n%s\n", section.name.data());
        section.measure(served);
    }
    stop(served.server);
}

}  // namespace

std::size_t ServedPods::shards() const noexcept {
    constexpr std::size_t targets_of_a_shard = 1'500;
    return std::max<std::size_t>(1, targets() / targets_of_a_shard);
}

void print(const char* what, double value, const char* unit, double floor) {
    std::printf("  %-58s %11.3f %-8s", what, value, unit);
    if (floor > 0) std::printf(" x %.2f", value / floor);
    std::printf("\n");
    std::fflush(stdout);
}

}  // namespace bench

int main(int argc, char** argv) {
    const std::string_view first = argc > 1 ? argv[1] : "";
    if (first == "--help") {
        std::puts("usage: bench_k8s_sd [PODS=50000] [latency|requests|polls|changes|memory|page]");
        return 0;
    }
    try {
        // The server serves whole pages of pods.
        constexpr std::size_t page = 2'000;
        const std::size_t pods = bench::argument(argc, argv, 1, 50'000);
        bench::run(std::max<std::size_t>(1, (pods + page - 1) / page) * page,
                   argc > 2 ? argv[2] : "");
    } catch (const std::exception& e) {
        std::fprintf(stderr, "bench_k8s_sd: %s\n", e.what());
        return 1;
    }
    return 0;
}
