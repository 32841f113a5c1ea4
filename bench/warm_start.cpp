// The time until a host that starts while the API server is unreachable has the targets of its
// snapshot, beside reading the file.

#include "k8s_sd/discoverer.hpp"
#include "measure.hpp"
#include "server.hpp"

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

using namespace k8s_sd;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begun) {
    return std::chrono::duration<double>(Clock::now() - begun).count();
}

struct Cost {
    double wall = 0;
    double cpu = 0;
    double memory = 0;  // MB
    std::size_t targets = 0;
};

/// Discovers until the first diff. \param directory  empty: no snapshot
Cost first_diff(const std::string& url, const std::string& directory) {
    const auto begun = Clock::now();
    boost::asio::io_context context;
    DiscoveryConfig config;
    config.api_server.url = url;
    WarmStart warm;
    warm.directory = directory;
    warm.server_timeout = Duration{};
    warm.annotations = {""};
    Cost cost;
    Discoverer discoverer(
        context.get_executor(), config,
        [&](const TargetGroupDiff& diff) {
            cost = {seconds_since(begun), bench::cpu_seconds(), bench::memory_mb("VmHWM"), 0};
            for (const GroupChange& change : diff.updated) cost.targets += change.group->size();
            discoverer.cancel();  // writes the snapshot
        },
        warm);
    discoverer.async_run([](error_code) {});
    context.run();
    return cost;
}

Cost read_file(const std::string& directory) {
    const auto begun = Clock::now();
    std::size_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string text(std::istreambuf_iterator<char>(file), {});
        bytes += text.size();
    }
    return {seconds_since(begun), bench::cpu_seconds(), bench::memory_mb("VmHWM"), bytes};
}

}  // namespace

int main(int argc, char** argv) {
    const std::size_t pods = bench::argument(argc, argv, 1, 33'400);
    std::string directory = (std::filesystem::temp_directory_path() / "bench-XXXXXX").string();
    if (!mkdtemp(directory.data())) return 1;
    const bench::Server server = bench::serve(pods, 0);
    const std::string url = "http://127.0.0.1:" + std::to_string(server.port);
    const Cost live = bench::in_process([&] { return first_diff(url, directory); });
    bench::stop(server);
    // From here on, nothing listens at that address.
    const Cost warm = bench::in_process([&] { return first_diff(url, directory); });
    const Cost floor = bench::in_process([&] { return read_file(directory); });
    std::filesystem::remove_all(directory);

    std::printf("%-28s %9s %9s %9s\n", "", "wall s", "CPU s", "peak MB");
    const auto line = [](const char* what, const Cost& cost) {
        std::printf("%-28s %9.3f %9.3f %9.1f\n", what, cost.wall, cost.cpu, cost.memory);
    };
    line("list of the API server", live);
    line("snapshot, server away", warm);
    line("reading the file", floor);
    std::printf("%zu targets (%zu live); file %.1f MB; %.1f x reading, %.2f x the list\n",
                warm.targets, live.targets, static_cast<double>(floor.targets) / 1e6,
                warm.wall / floor.wall, warm.wall / live.wall);
    return warm.targets == live.targets ? 0 : 1;
}
