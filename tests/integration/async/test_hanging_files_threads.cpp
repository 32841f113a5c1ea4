#include "k8s_sd/detail/async/blocking_threads.hpp"
#include "k8s_sd/detail/async/file_reader.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/discoverer.hpp"
#include "support/config_fixtures.hpp"
#include "support/plain_lists.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;
using test::TemporaryDirectory;

/// File reads in threads, held back by a gate.
class GatedCalls final : public FileCalls {
 public:
    bool run(std::function<void()> call) override {
        // As in the library, never destroyed.
        static auto& threads = *new BlockingThreads(4, 100);
        return threads.run([open = open_, count = begun_, call = std::move(call)] {
            ++*count;
            open.wait();
            call();
            --*count;
        });
    }
    void open() { gate_.set_value(); }
    void await_begun() const {
        while (*begun_ == 0) std::this_thread::sleep_for(1ms);
    }
    void await_ended() const {
        while (*begun_ > 0) std::this_thread::sleep_for(1ms);
    }

 private:
    std::promise<void> gate_;
    std::shared_future<void> open_ = gate_.get_future().share();
    std::shared_ptr<std::atomic<int>> begun_ = std::make_shared<std::atomic<int>>(0);
};

TEST_CASE("Hanging files: a thread that hangs holds up neither its context nor a cancellation") {
    const TemporaryDirectory directory;
    const auto calls = std::make_shared<GatedCalls>();
    Environment environment;
    environment.file_calls = calls;
    DiscoveryConfig config{.role = Role::pod, .watch = k8s_sd::test::plain_lists()};
    config.api_server.url = "http://127.0.0.1:1";
    config.api_server.auth.bearer_token_file = directory.write("token", "one");
    bool cancels = false;
    SECTION("cancelled") { cancels = true; }
    SECTION("the context ends"){} {
        asio::io_context io;
        install(io, environment);
        Discoverer discoverer(io.get_executor(), config, [](const TargetGroupDiff&) {});
        bool ended = false;
        discoverer.async_run([&](error_code) { ended = true; });
        io.run_for(20ms);
        calls->await_begun();
        CHECK_FALSE(ended);
        if (cancels) {
            discoverer.cancel();
            io.restart();
            io.run();  // does not wait for the thread
            CHECK(ended);
        }
    }
    calls->open();
    calls->await_ended();
}

TEST_CASE("Hanging files: content that comes from threads while contexts go") {
    const TemporaryDirectory directory;
    const std::string path = directory.write("token", "one");
    for (int round = 0; round < 60; ++round) {
        const auto calls = std::make_shared<GatedCalls>();
        asio::io_context io;
        const auto strand = asio::make_strand(io);
        int received = 0;
        std::vector<std::unique_ptr<FileReader>> readers;
        for (int i = 0; i < 4; ++i) {
            readers.push_back(std::make_unique<FileReader>(strand, system_clock(), calls));
            readers.back()->async_read(path, [&](const FileContent& content) {
                if (view(content.bytes) == "one") ++received;
            });
        }
        std::thread gate([&] { calls->open(); });
        if (round % 3 == 0) asio::post(strand, [&] { readers.clear(); });
        if (round % 3 != 2) {
            std::thread runner([&] { io.run(); });
            io.run();
            runner.join();
            if (round % 3 == 1) CHECK(received == 4);
        }
        gate.join();
    }
}

TEST_CASE("Hanging files: the threads of the library read what many strands ask for") {
    const TemporaryDirectory directory;
    std::vector<std::string> paths;
    for (int i = 0; i < 50; ++i) {
        paths.push_back(directory.write(std::to_string(i), std::to_string(i)));
    }
    asio::io_context io;
    std::atomic<int> right{0};
    std::vector<std::unique_ptr<FileReader>> readers;
    for (std::size_t i = 0; i < 200; ++i) {
        readers.push_back(std::make_unique<FileReader>(asio::make_strand(io), system_clock(),
                                                       system_file_calls()));
        readers.back()->async_read(paths[i % 50], [&, i](const FileContent& content) {
            if (view(content.bytes) == std::to_string(i % 50)) ++right;
        });
    }
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { io.run(); });
    for (std::thread& thread : threads) thread.join();
    CHECK(right == 200);
}

}  // namespace
}  // namespace k8s_sd::detail
