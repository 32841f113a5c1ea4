#include "integration/watch/url_watcher_faults.hpp"
#include "support/plain_lists.hpp"

#include <catch2/generators/catch_generators.hpp>
#include <boost/asio/buffer.hpp>
#include <memory>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// Answers every connection with the same bytes, for any request.
class RawServer {
 public:
    RawServer(asio::io_context& context, std::string bytes, bool endless = false)
        : bytes_(std::move(bytes)),
          endless_(endless),
          connector(std::make_shared<sim::MemoryConnector>(
              context.get_executor(),
              [this](std::unique_ptr<ByteStream> stream) { return accept(std::move(stream)); })) {}

    std::size_t connections() const { return streams_.size(); }
    std::size_t sent() const { return sent_; }

 private:
    bool accept(std::unique_ptr<ByteStream> stream) {
        streams_.push_back(std::move(stream));
        ByteStream& here = *streams_.back();
        here.async_read_some(asio::buffer(input_),
                             [this, &here](error_code, std::size_t) { write(here); });
        return true;
    }
    void write(ByteStream& stream) {
        stream.async_write(asio::buffer(bytes_), [this, &stream](error_code ec, std::size_t size) {
            sent_ += size;
            if (ec || !endless_) return stream.close();
            write(stream);
        });
    }

    std::string bytes_;
    bool endless_;
    char input_[4096];
    std::size_t sent_ = 0;
    std::vector<std::unique_ptr<ByteStream>> streams_;

 public:
    std::shared_ptr<sim::MemoryConnector> connector;
};

/// A watcher whose server is a RawServer.
struct RawFaults : Simulation {
    explicit RawFaults(std::string bytes, bool endless = false)
        : raw(context, std::move(bytes), endless) {
        Environment env = environment();
        env.connector = raw.connector;
        client = std::make_shared<ApiClient>(context.get_executor(),
                                             ApiServerConfig{.url = "http://raw.invalid"}, env);
        watcher.emplace(client, WatchQuery{}, plain_lists(), observer);
        watcher->start();
        settle();
    }
    struct Observer final : WatchObserver {
        void on_change(const ObjectChange&) override { ++changes; }
        void on_synced() override { ++synced; }
        void on_batch_end() override {}
        void on_status() override {}
        int changes = 0, synced = 0;
    };
    RawServer raw;
    Observer observer;
    std::shared_ptr<ApiClient> client;
    std::optional<URLWatcher> watcher;
};

}  // namespace

TEST_CASE("URLWatcher: answers that are not HTTP are errors, and bounded") {
    struct Case {
        std::string bytes;
        bool endless;
    };
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    const auto c = GENERATE_COPY(
        values<Case>({{"SSH-2.0-OpenSSH_9.2\r\n", false},
                      {"\x15\x03\x01", false},
                      {std::string("\0\0\0\0\0\0", 6), false},
                      {"HTTP/9.9 abc\r\n\r\n", false},
                      {head + "X: " + std::string(70'000, 'x') + "\r\n\r\n", false},
                      {head + "Content-Length: 5\r\nContent-Length: 7\r\n\r\n{}", false},
                      {head + "Content-Length: -1\r\n\r\n{}", false},
                      {head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n", false},
                      {std::string(4096, 'h'), true},
                      {"\r\n", true},
                      {head + "X: y", true},
                      {"HTTP/1.1 100 Continue\r\n\r\n", false},
                      {"", false}}));
    CAPTURE(c.bytes.substr(0, 80), c.endless);
    RawFaults f(c.bytes, c.endless);
    CHECK(f.watcher->status().error);
    CHECK(f.watcher->status().message.size() > 20);
    CHECK(f.raw.sent() < 1'000'000);
    f.advance(60s);
    CHECK(f.raw.connections() >= 3);
    CHECK(f.raw.connections() <= 12);
    CHECK(f.observer.synced == 0);
    CHECK(f.take_log().size() == 1);
}

TEST_CASE("URLWatcher: a header beyond 64 KiB has its own error") {
    RawFaults f("HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x') + "\r\n\r\n");
    CHECK(f.watcher->status().error == errc::header_too_large);
}

TEST_CASE("URLWatcher: bodies without end do not fill the memory") {
    SECTION("of the wrong type") {
        RawFaults f("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + std::string(9000, 'x'),
                    true);
        CHECK(f.watcher->status().error == errc::unexpected_content_type);
        CHECK(f.raw.sent() < 1'000'000);
    }
    SECTION("of a refusal") {
        RawFaults f("HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\n\r\n" +
                        std::string(9000, 'x'),
                    true);
        CHECK(f.watcher->status().error == errc::forbidden);
        CHECK(f.watcher->status().message.size() < 2000);
        CHECK(f.raw.sent() < 1'000'000);
    }
    SECTION("in the header of a chunk") {
        RawFaults f("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n5;" +
                    std::string(100'000, 'x') + std::string(1'000'000, 'y'));
        CHECK(f.watcher->status().error == errc::header_too_large);
    }
    SECTION("of white space behind the list") {
        RawFaults f("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
                    std::to_string(list_of("").size() + 3) + "\r\n\r\n" + list_of("") + " \r\n");
        CHECK(f.observer.synced == 1);
    }
}
