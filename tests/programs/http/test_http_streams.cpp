#include "http_loopback.hpp"

#include <catch2/catch_test_macros.hpp>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace {

using namespace http_loopback;
using Text = HttpServer::Text;

Text piece_of(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

/// The test's view of a stream owned by the server: the pending request for a piece, and its
/// lifetime.
class Tap {
 public:
    using OnPiece = HttpServer::Stream::OnPiece;

    /// Waits until the server requests the next piece.
    OnPiece asked() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return static_cast<bool>(asked_); });
        return std::exchange(asked_, nullptr);
    }
    void await_end() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return ended_; });
    }
    int asked_times() {
        const std::lock_guard lock(mutex_);
        return times_;
    }

    HttpServer::Handler handler(unsigned status = 200) {
        return [this, status](const auto&, const auto& respond) {
            respond({.status = status, .stream = std::make_shared<Tapped>(*this)});
        };
    }

 private:
    class Tapped : public HttpServer::Stream {
     public:
        explicit Tapped(Tap& tap) : tap_(tap) {}
        ~Tapped() override {
            const std::lock_guard lock(tap_.mutex_);
            tap_.ended_ = true;
            tap_.changed_.notify_all();
        }
        void next(OnPiece on_piece) override {
            const std::lock_guard lock(tap_.mutex_);
            ++tap_.times_;
            tap_.asked_ = std::move(on_piece);
            tap_.changed_.notify_all();
        }

     private:
        Tap& tap_;
    };

    std::mutex mutex_;
    std::condition_variable changed_;
    OnPiece asked_;
    int times_ = 0;
    bool ended_ = false;
};

/// Supplies as much as the reader takes.
class Flood : public HttpServer::Stream {
 public:
    struct Seen {
        std::atomic<int> pieces = 0;
        std::promise<void> ended{};
    };
    explicit Flood(Seen& seen) : seen_(seen) {}
    ~Flood() override { seen_.ended.set_value(); }
    void next(OnPiece on_piece) override {
        ++seen_.pieces;
        on_piece(piece_);
    }

    static HttpServer::Handler handler(Seen& seen) {
        return [&seen](const auto&, const auto& respond) {
            respond({.stream = std::make_shared<Flood>(seen)});
        };
    }

 private:
    Seen& seen_;
    const Text piece_ = piece_of(std::string(100'000, 'x'));
};

}  // namespace

TEST_CASE("HttpServer: pieces of a stream are chunks, and arrive before the next one is there") {
    Tap tap;
    Running server(tap.handler());
    Client client(server);
    client.send(get("/"));
    tap.asked()(piece_of("one"));
    const std::string head = client.head();
    CHECK(contains(head, "Transfer-Encoding: chunked\r\n"));
    CHECK(contains(head, "Connection: close\r\n"));
    CHECK(client.body(8) == "3\r\none\r\n");
    tap.asked()(piece_of("second"));
    CHECK(client.body(11) == "6\r\nsecond\r\n");
    tap.asked()(nullptr);
    CHECK(client.rest() == "0\r\n\r\n");
    tap.await_end();
}

TEST_CASE("HttpServer: a piece may come from another thread, or be empty, which ends nothing") {
    Tap tap;
    Running server(tap.handler());
    Client client(server);
    client.send(get("/"));
    tap.asked()(piece_of(""));
    std::jthread([on_piece = tap.asked()] { on_piece(piece_of("late")); }).join();
    client.head();
    CHECK(client.body(9) == "4\r\nlate\r\n");
    tap.asked()(nullptr);
    CHECK(client.rest() == "0\r\n\r\n");
}

TEST_CASE("HttpServer: a client of HTTP/1.0 gets a stream without chunks, to the end of the "
          "connection") {
    Tap tap;
    Running server(tap.handler());
    Client client(server);
    client.send("GET / HTTP/1.0\r\n\r\n");
    tap.asked()(piece_of("one"));
    const std::string head = client.head();
    CHECK_FALSE(contains(head, "chunked"));
    CHECK_FALSE(contains(head, "Content-Length"));
    tap.asked()(piece_of("two"));
    tap.asked()(nullptr);
    CHECK(client.rest() == "onetwo");
}

TEST_CASE("HttpServer: HEAD asks a stream for nothing, and its head is that of GET") {
    Tap tap;
    Running server(tap.handler());
    Client client(server);
    client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
    const std::string all = client.rest();
    CHECK(contains(all, "Transfer-Encoding: chunked\r\n"));
    CHECK_FALSE(contains(all, "Content-Length"));
    CHECK(all.ends_with("\r\n\r\n"));
    tap.await_end();
    CHECK(tap.asked_times() == 0);
}

TEST_CASE("HttpServer: a stream ends when its client is gone, also while it waits for something") {
    Tap tap;
    Running server(tap.handler());
    HttpServer::Stream::OnPiece late;
    {
        Client client(server);
        client.send(get("/"));
        late = tap.asked();
        client.leave();
        tap.await_end();
    }
    late(piece_of("without a reader"));
    late = nullptr;
    server.stop();
}

TEST_CASE("HttpServer: what the reader of a stream says is not kept") {
    Tap tap;
    Running server(tap.handler());
    Client client(server);
    client.send(get("/"));
    auto on_piece = tap.asked();
    client.head();
    client.send(std::string(1'000'000, 'x'));
    on_piece(piece_of("one"));
    CHECK(client.body(8) == "3\r\none\r\n");
    tap.asked()(nullptr);
    CHECK(client.rest() == "0\r\n\r\n");
}

TEST_CASE("HttpServer: who reads nothing of a stream is given up, and nothing piles up") {
    Flood::Seen seen;
    Running server(Flood::handler(seen),
                   {.answer = std::chrono::milliseconds(100), .bytes_per_second = 1'000'000});
    Client client(server);
    client.send(get("/"));
    seen.ended.get_future().wait();
    // The socket buffers limit the number of pieces.
    CHECK(seen.pieces < 1000);
}

TEST_CASE("HttpServer: who reads byte by byte is given up, too") {
    Flood::Seen seen;
    Running server(Flood::handler(seen),
                   {.answer = std::chrono::milliseconds(100), .bytes_per_second = 1'000'000});
    Client client(server);
    client.socket().set_option(asio::socket_base::receive_buffer_size(4096));
    client.send(get("/"));
    auto ended = seen.ended.get_future();
    while (ended.wait_for(std::chrono::milliseconds(5)) == std::future_status::timeout) {
        client.body(1);
    }
}

TEST_CASE("HttpServer: a long answer is for clients that take it in its time") {
    const auto body = std::make_shared<const std::string>(20'000'000, 'x');
    Running server(
        [&](const auto&, const auto& respond) {
            respond({200, body});
        },
        {.answer = std::chrono::milliseconds(50), .bytes_per_second = 1'000'000'000});
    Client client(server);
    client.send(get("/"));
    client.head();
    while (body.use_count() > 1) {
        client.body(1);
    }
    CHECK(client.rest().size() < body->size() / 2);
}

TEST_CASE("HttpServer: a stream ends whole when its connection has lived its time") {
    Tap tap;
    Running server(tap.handler(), {.age = std::chrono::milliseconds(50)});
    Client client(server);
    client.send(get("/"));
    auto late = tap.asked();
    client.head();
    CHECK(client.rest() == "0\r\n\r\n");
    tap.await_end();
    late(piece_of("late"));
}

TEST_CASE("HttpServer: a stream that is never without a piece ends in its time, too") {
    Flood::Seen seen;
    Running server(Flood::handler(seen), {.age = std::chrono::milliseconds(50)});
    Client client(server);
    client.send(get("/"));
    CHECK(client.rest().ends_with("\r\n0\r\n\r\n"));
}

TEST_CASE("HttpServer: stop() ends streams") {
    Tap tap;
    Running server(tap.handler());
    Client client(server);
    client.send(get("/"));
    auto late = tap.asked();
    server.stop();
    tap.await_end();
    client.head();
    CHECK(client.rest().empty());
    late(piece_of("late"));
}

TEST_CASE("HttpServer: a client that leaves before its answer makes room") {
    std::promise<HttpServer::Respond> held;
    Running server(
        [&](const HttpServer::Request& request, const auto& respond) {
            if (request.path == "/held") return held.set_value(respond);
            echo(request, respond);
        },
        {.unanswered = std::chrono::milliseconds(1), .connections = 1});
    Client gone(server);
    gone.send(get("/held"));
    auto respond = held.get_future().get();
    gone.leave();
    std::string answer;
    while (!answer.starts_with("HTTP/1.1 200")) {
        Client next(server);
        next.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        answer = next.rest();
    }
    respond(text_reply(200, "without a reader"));
}

TEST_CASE("HttpServer: requests that come while an answer is waited for are answered in turn") {
    std::promise<HttpServer::Respond> held;
    Running server(
        [&](const HttpServer::Request& request, const auto& respond) {
            if (request.path == "/held") return held.set_value(respond);
            echo(request, respond);
        },
        {.unanswered = std::chrono::nanoseconds(1)});
    Client client(server);
    client.send(get("/held"));
    auto respond = held.get_future().get();
    client.send(get("/two") + get("/three"));
    respond(text_reply(200, "one"));
    client.head();
    CHECK(client.body(3) == "one");
    client.head();
    CHECK(client.body(9) == "GET /two?");
    client.head();
    CHECK(client.body(11) == "GET /three?");
}

TEST_CASE("HttpServer: who is still sending when it is refused gets the words") {
    Running server(echo, {.body_bytes = 100});
    Client client(server);
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n" +
                std::string(3'000'000, 'x'));
    CHECK(client.rest().starts_with("HTTP/1.1 413"));
}
