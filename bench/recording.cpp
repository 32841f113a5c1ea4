// The CPU time to sync the pods of a cluster without and with a recording, which is anonymous or
// not, with lists as they are and with gzip.

#include "k8s_sd/sim/recording.hpp"

#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/environment.hpp"
#include "measure.hpp"
#include "server.hpp"

#include <boost/asio/io_context.hpp>
#include <sys/stat.h>
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

namespace {

enum class Mode { none, recording, anonymous };

struct Result {
    double cpu = 0;
    double file_bytes = 0;
};

Result sync(const bench::Server& server, Mode mode, bool gzip) {
    const std::string file = "/tmp/bench_recording.gz";
    boost::asio::io_context context;
    k8s_sd::Environment environment;
    environment.clock = k8s_sd::system_clock();
    if (mode != Mode::none) {
        environment.connector = std::make_shared<k8s_sd::sim::RecordingConnector>(
            k8s_sd::system_connector(environment), environment.clock, file,
            k8s_sd::sim::RecordingOptions{.max_bytes = std::uint64_t{1} << 40,
                                          .anonymise = mode == Mode::anonymous});
    }
    k8s_sd::install(context, environment);
    k8s_sd::DiscoveryConfig config;
    config.api_server.url = "http://127.0.0.1:" + std::to_string(server.port);
    config.watch.gzip = gzip ? k8s_sd::Compression::always : k8s_sd::Compression::never;
    const double start = bench::cpu_seconds();
    Result result;
    k8s_sd::Discoverer discoverer(context.get_executor(), config,
                                  [&](const k8s_sd::TargetGroupDiff& diff) {
                                      if (!diff.full) return;
                                      result.cpu = bench::cpu_seconds() - start;
                                      context.stop();
                                  });
    discoverer.async_run([](k8s_sd::error_code) {});
    context.run();
    struct ::stat status {};
    if (mode != Mode::none && ::stat(file.c_str(), &status) == 0) {
        result.file_bytes = static_cast<double>(status.st_size);
    }
    std::remove(file.c_str());
    std::remove((file + ".names").c_str());
    return result;
}

/// The fastest of several rounds, each in a process of its own.
Result best(const bench::Server& server, Mode mode, bool gzip) {
    Result result{std::numeric_limits<double>::max()};
    for (int i = 0; i < 5; ++i) {
        const Result round = bench::in_process([&] { return sync(server, mode, gzip); });
        if (round.cpu < result.cpu) result = round;
    }
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--help") {
        std::puts("usage: bench_recording [PODS=20000]");
        return 0;
    }
    const bench::Server server = bench::serve(bench::argument(argc, argv, 1, 20'000), 0, true);
    std::printf("a list of %.0f MB of JSON\n", static_cast<double>(server.list_bytes) / 1e6);
    for (const bool gzip : {false, true}) {
        const Result plain = best(server, Mode::none, gzip);
        for (const Mode mode : {Mode::none, Mode::recording, Mode::anonymous}) {
            const Result result = mode == Mode::none ? plain : best(server, mode, gzip);
            constexpr const char* names[] = {"not recorded", "recorded", "anonymous"};
            std::printf("%-16s%-14s %6.3f s CPU, %5.2f times, file %5.1f MB\n",
                        gzip ? "with gzip:" : "as it is:", names[static_cast<int>(mode)],
                        result.cpu, result.cpu / plain.cpu, result.file_bytes / 1e6);
        }
    }
    bench::stop(server);
    return 0;
}
