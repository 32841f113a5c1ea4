// The CPU time to sync the pods of a cluster without and with a recording, which is anonymous or
// not, with lists as they are and with gzip. A copy of the received bytes to a file is the least
// that any recording costs.

#include "k8s_sd/sim/recording.hpp"

#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/environment.hpp"
#include "measure.hpp"
#include "server.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <sys/stat.h>
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace {

enum class Mode { none, copy, recording, anonymous };

using File = std::shared_ptr<std::FILE>;

/// Writes received bytes to a file as they are.
class CopyingStream final : public k8s_sd::ByteStream {
 public:
    CopyingStream(std::unique_ptr<ByteStream> inner, File file)
        : inner_(std::move(inner)), file_(std::move(file)) {}

    void async_connect(ConnectHandler handler) override {
        inner_->async_connect(std::move(handler));
    }
    void async_read_some(boost::asio::mutable_buffer buffer, IoHandler handler) override {
        inner_->async_read_some(buffer, [file = file_, buffer, handler = std::move(handler)](
                                            k8s_sd::error_code ec, std::size_t size) {
            std::fwrite(buffer.data(), 1, size, file.get());
            handler(ec, size);
        });
    }
    void async_write(boost::asio::const_buffer buffer, IoHandler handler) override {
        inner_->async_write(buffer, std::move(handler));
    }
    void close() noexcept override { inner_->close(); }

 private:
    const std::unique_ptr<ByteStream> inner_;
    const File file_;
};

class CopyingConnector final : public k8s_sd::Connector {
 public:
    CopyingConnector(std::shared_ptr<Connector> inner, const std::string& file)
        : inner_(std::move(inner)), file_(std::fopen(file.c_str(), "wb"), &std::fclose) {}

    std::unique_ptr<k8s_sd::ByteStream> make_stream(boost::asio::any_io_executor executor,
                                                    const k8s_sd::ConnectTarget& to) override {
        return std::make_unique<CopyingStream>(inner_->make_stream(std::move(executor), to), file_);
    }

 private:
    const std::shared_ptr<Connector> inner_;
    const File file_;
};

std::shared_ptr<k8s_sd::Connector> connector(Mode mode, const k8s_sd::Environment& environment,
                                             const std::string& file) {
    std::shared_ptr<k8s_sd::Connector> inner = k8s_sd::system_connector(environment);
    if (mode == Mode::none) return inner;
    if (mode == Mode::copy) return std::make_shared<CopyingConnector>(std::move(inner), file);
    return std::make_shared<k8s_sd::sim::RecordingConnector>(
        std::move(inner), environment.clock, file,
        k8s_sd::sim::RecordingOptions{.max_bytes = std::uint64_t{1} << 40,
                                      .anonymise = mode == Mode::anonymous});
}

struct Result {
    double cpu = 0;
    double file_bytes = 0;
};

Result sync(const bench::Server& server, Mode mode, bool gzip) {
    const std::string file = "/tmp/bench_recording.gz";
    boost::asio::io_context context;
    k8s_sd::Environment environment;
    environment.clock = k8s_sd::system_clock();
    environment.connector = connector(mode, environment, file);
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
    const Result plain = best(server, Mode::none, false);
    for (const bool gzip : {false, true}) {
        const Result without = gzip ? best(server, Mode::none, true) : plain;
        for (const Mode mode : {Mode::none, Mode::copy, Mode::recording, Mode::anonymous}) {
            const Result result = mode == Mode::none ? without : best(server, mode, gzip);
            constexpr const char* names[] = {"not recorded", "copied", "recorded", "anonymous"};
            std::printf("%-12s%-14s%6.3f s CPU, %5.2f times, %5.2f of the first, file %5.1f MB\n",
                        gzip ? "with gzip:" : "as it is:", names[static_cast<int>(mode)],
                        result.cpu, result.cpu / without.cpu, result.cpu / plain.cpu,
                        result.file_bytes / 1e6);
        }
    }
    bench::stop(server);
    return 0;
}
