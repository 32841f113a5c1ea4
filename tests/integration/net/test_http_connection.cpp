#include "k8s_sd/detail/net/http_connection.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;
using asio::error::operation_aborted;

/// What the streams of a test have in common: what the server sends, a stream after the other.
struct Wire {
    asio::io_context io;
    std::vector<std::string> answers;  ///< to the requests of the next streams
    std::size_t streams = 0;
    std::vector<std::string> requests;
    /// How many turns late a closed stream aborts its read; a late one writes into its buffer.
    int turns_to_abort = 0;
};

void later(asio::io_context& io, int turns, std::function<void()> call) {
    asio::post(io, [&io, turns, call = std::move(call)] {
        turns == 0 ? call() : later(io, turns - 1, call);
    });
}

/// Answers a request with the next text of the wire; more can be pushed into it.
class ScriptedStream final : public ByteStream {
 public:
    explicit ScriptedStream(Wire& wire) : wire_(wire) {}
    ~ScriptedStream() override { close(); }
    void async_connect(ConnectHandler handler) override {
        asio::post(wire_.io, [handler] { handler({}, {}); });
    }
    void async_write(asio::const_buffer data, IoHandler handler) override {
        wire_.requests.emplace_back(static_cast<const char*>(data.data()), data.size());
        if (!wire_.answers.empty()) {
            pending_ += wire_.answers.front();
            wire_.answers.erase(wire_.answers.begin());
        }
        asio::post(wire_.io, [handler, size = data.size()] { handler({}, size); });
    }
    void async_read_some(asio::mutable_buffer buffer, IoHandler handler) override {
        buffer_ = buffer;
        reader_ = std::move(handler);
        serve();
    }
    void close() noexcept override {
        if (!reader_) return;
        auto abort = [handler = std::exchange(reader_, nullptr)] { handler(operation_aborted, 0); };
        later(wire_.io, wire_.turns_to_abort, [&wire = wire_, buffer = buffer_, abort] {
            if (wire.turns_to_abort > 0) std::memset(buffer.data(), '#', buffer.size());
            abort();
        });
    }
    void push(std::string_view bytes) {
        pending_ += bytes;
        serve();
    }

 private:
    void serve() {
        if (!reader_ || pending_.empty()) return;
        const std::size_t n = std::min(buffer_.size(), pending_.size());
        std::memcpy(buffer_.data(), pending_.data(), n);
        pending_.erase(0, n);
        asio::post(wire_.io, [handler = std::exchange(reader_, nullptr), n] { handler({}, n); });
    }

    Wire& wire_;
    std::string pending_;
    asio::mutable_buffer buffer_;
    IoHandler reader_;
};

class ScriptedConnector final : public Connector {
 public:
    explicit ScriptedConnector(Wire& wire) : wire_(wire) {}
    std::unique_ptr<ByteStream> make_stream(asio::any_io_executor, const ConnectTarget&) override {
        ++wire_.streams;
        auto stream = std::make_unique<ScriptedStream>(wire_);
        last = stream.get();
        return stream;
    }
    ScriptedStream* last = nullptr;

 private:
    Wire& wire_;
};

/// One response as it is told.
struct Answer final : ResponseSink {
    void on_head(const ResponseHead& h) override { heads.push_back(h); }
    error_code on_body(std::string_view bytes) override {
        body += bytes;
        return {};
    }
    std::vector<ResponseHead> heads;
    std::string body;
    std::optional<error_code> ec;
    std::string text;
};

/// A connection over scripted streams.
struct Fixture : Wire {
    HttpRequest request() const {
        HttpRequest result;
        result.text = "GET / HTTP/1.1\r\n\r\n";
        result.connect_timeout = 5s;
        result.idle_timeout = 10s;
        result.idle_error = errc::idle_timeout;
        return result;
    }
    void get(Answer& answer) {
        connection.async_get(std::make_shared<ConnectTarget>(), request(), answer,
                             [&answer](error_code ec, std::string text) {
                                 answer.ec = ec;
                                 answer.text = std::move(text);
                             });
    }
    void push(std::string_view bytes) {
        connector->last->push(bytes);
        settle();
    }
    void settle() { test::settle(io); }
    void advance(Duration time) {
        clock->advance(time);
        settle();
    }

    std::shared_ptr<test::ManualClock> clock = std::make_shared<test::ManualClock>();
    std::shared_ptr<ScriptedConnector> connector = std::make_shared<ScriptedConnector>(*this);
    HttpConnection connection{io.get_executor(), connector, clock};
};

std::string with_length(const std::string& body) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST_CASE("HttpConnection: a closed stream that still writes does no harm to the next exchange") {
    Fixture f;
    f.turns_to_abort = 2;
    std::string large;
    for (int i = 0; i < 1000; ++i) large += std::to_string(i) + ' ';
    f.answers = {"HTTP/1.1 200 OK\r\n\r\nevent", with_length(large)};
    Answer watch, list;
    f.get(watch);
    f.settle();
    CHECK(watch.body == "event");
    f.clock->advance(10s);
    f.io.restart();
    while (!watch.ec && f.io.run_one() > 0) {
    }
    CHECK(watch.ec == errc::idle_timeout);
    f.get(list);
    f.settle();
    CHECK(list.ec == error_code());
    CHECK(list.body == large);
}

}  // namespace
}  // namespace k8s_sd::detail
