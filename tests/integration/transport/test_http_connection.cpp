#include "k8s_sd/detail/transport/http_connection.hpp"
#include "support/allocations.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;
using asio::error::operation_aborted;

/// Shared state of a test's streams: the server's bytes, one stream after the other.
struct Wire {
    asio::io_context io;
    std::vector<std::string> answers;  ///< to the requests of the next streams
    /// The number of polls until a closed stream aborts its read; a late abort writes into its
    /// buffer.
    int turns_to_abort = 0;
};

void later(asio::io_context& io, int turns, std::function<void()> call) {
    asio::post(io, [&io, turns, call = std::move(call)] {
        turns == 0 ? call() : later(io, turns - 1, call);
    });
}

/// Answers a request with the next text of the wire; a test can push more bytes.
class ScriptedStream final : public ByteStream {
 public:
    explicit ScriptedStream(Wire& wire) : wire_(wire) {}
    ~ScriptedStream() override { close(); }
    void async_connect(ConnectHandler handler) override {
        asio::post(wire_.io, [handler] { handler({}, {}); });
    }
    void async_write(asio::const_buffer data, IoHandler handler) override {
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
    void end() {
        asio::post(wire_.io,
                   [handler = std::exchange(reader_, nullptr)] { handler(asio::error::eof, 0); });
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
        ++made;
        auto stream = std::make_unique<ScriptedStream>(wire_);
        last = stream.get();
        return stream;
    }
    ScriptedStream* last = nullptr;
    int made = 0;

 private:
    Wire& wire_;
};

/// One response, as delivered to its sink.
struct Answer final : ResponseSink {
    void on_head(const ResponseHead& h) override { heads.push_back(h); }
    error_code on_body(std::string_view bytes) override {
        body += bytes;
        max_piece = std::max(max_piece, bytes.size());
        if (throws) throw std::bad_alloc();
        return {};
    }
    std::vector<ResponseHead> heads;
    std::string body;
    std::size_t max_piece = 0;
    std::optional<error_code> ec;
    std::string text;
    bool throws = false;  ///< from on_body()
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
        connection.async_send(target, request(), answer,
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
    HttpConnection::Target target = std::make_shared<ConnectTarget>();
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

TEST_CASE("HttpConnection: the request with its credentials is overwritten once it is answered") {
    constexpr std::string_view token = "a-token-of-some-length";
    Fixture f;
    f.answers = {"HTTP/1.1 200 OK\r\n"};
    Answer answer;
    test::memory_search = {.wanted = {token, token}};
    test::memory_search.on = true;
    HttpRequest request = f.request();
    request.text = "GET / HTTP/1.1\r\nAuthorization: Bearer a-token-of-some-length\r\n\r\n";
    f.connection.async_send(f.target, std::move(request), answer,
                            [&](error_code ec, const std::string&) { answer.ec = ec; });
    const long before = test::memory_search.in_live();
    f.settle();
    test::memory_search.on = false;
    CHECK(before > 0);
    CHECK(test::memory_search.in_live() == 0);
    CHECK_FALSE(test::memory_search.in_freed);
    CHECK_FALSE(answer.ec);
}

TEST_CASE("HttpConnection: an open connection serves its own target only") {
    Fixture f;
    f.answers = {with_length("one"), with_length("two"), with_length("three")};
    Answer one, two, three;
    f.get(one);
    f.settle();
    f.get(two);
    f.settle();
    CHECK(two.body == "two");
    CHECK(f.connector->made == 1);
    // The new target may have another client certificate.
    f.target = std::make_shared<ConnectTarget>();
    f.get(three);
    f.settle();
    CHECK(three.body == "three");
    CHECK(f.connector->made == 2);
}

TEST_CASE("HttpConnection: interim responses are skipped") {
    Fixture f;
    const std::string interim =
        "HTTP/1.1 100 Continue\r\n\r\n"
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 7\r\n\r\n";
    const std::string all = interim + with_length("body");
    Answer answer;
    SECTION("in one piece") {
        f.answers = {all};
        f.get(answer);
        f.settle();
    }
    SECTION("byte by byte") {
        f.get(answer);
        f.settle();
        for (const char c : all) f.push({&c, 1});
    }
    REQUIRE(answer.heads.size() == 1);
    CHECK(answer.heads[0].status == 200);
    CHECK(answer.body == "body");
    CHECK(answer.ec == error_code());
}

TEST_CASE("HttpConnection: a compressed body is passed on in small pieces, because they grow") {
    constexpr std::size_t size = std::size_t{1} << 20U;
    Fixture f;
    const std::string plain = with_length(std::string(size, 'x'));
    std::string packed = plain;
    packed.insert(packed.find("Content-Length"), "Content-Encoding: gzip\r\n");
    f.answers = {plain, packed};
    Answer large, small;
    f.get(large);
    f.settle();
    f.get(small);
    f.settle();
    CHECK(large.body.size() == size);
    CHECK(large.max_piece > std::size_t{128} * 1024);
    CHECK(small.body.size() == size);
    CHECK(small.max_piece <= std::size_t{32} * 1024);
}

TEST_CASE("HttpConnection: padded sizes of chunks are read, and the connection serves again") {
    const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                "5  \r\nhello\r\n06 ;x\r\n world\r\n0  \r\n\r\n";
    Fixture f;
    Answer answer, next;
    SECTION("in one piece") {
        f.answers = {chunked, with_length("two")};
        f.get(answer);
        f.settle();
    }
    SECTION("byte by byte") {
        f.get(answer);
        f.settle();
        for (const char c : chunked) f.push({&c, 1});
        f.answers = {with_length("two")};
    }
    CHECK(answer.ec == error_code());
    CHECK(answer.body == "hello world");
    f.get(next);
    f.settle();
    CHECK(next.body == "two");
    CHECK(f.connector->made == 1);
}

TEST_CASE("HttpConnection: a head of bare LF, or without a blank behind the status, is read once") {
    const std::string head =
        GENERATE("HTTP/1.1 200 OK\nContent-Length: 3\nX: y\n\n",
                 "HTTP/1.1 200\nContent-Length: 3\n\n", "HTTP/1.1 200\r\nContent-Length: 3\r\n\r\n",
                 "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n");
    const std::string body =
        head.find("chunked") == std::string::npos ? "one" : "3\r\none\r\n0\r\n\r\n";
    Fixture f;
    Answer answer, next;
    SECTION("in one piece") {
        f.answers = {head + body};
        f.get(answer);
        f.settle();
    }
    SECTION("byte by byte") {
        f.get(answer);
        f.settle();
        for (const char c : head + body) f.push({&c, 1});
    }
    CHECK(answer.ec == error_code());
    CHECK(answer.body == "one");
    REQUIRE(answer.heads.size() == 1);
    CHECK(answer.heads[0].status == 200);
    // A different HTTP reader may see several responses in it: no further response is awaited.
    f.answers = {with_length("two")};
    f.get(next);
    f.settle();
    CHECK(next.body == "two");
    CHECK(f.connector->made == 2);
}

TEST_CASE("HttpConnection: what two readers could take for different responses is refused") {
    const std::string ok = "HTTP/1.1 200 OK\r\n";
    const std::string chunked = ok + "Transfer-Encoding: chunked\r\n\r\n";
    const std::string given = GENERATE_COPY(
        // a line smuggled into a value
        ok + "X: a\nContent-Length: 3\r\n\r\none", ok + "X: a\n\nHTTP/1.1 200 OK\r\n\r\n",
        ok + "X: a\n\r\none", "HTTP/1.1 200 OK\nX: a\r\n\r\n",
        ok + "X: a\rContent-Length: 3\r\n\r\none",
        // two lengths
        ok + "Content-Length: 3\r\nContent-Length: 4\r\n\r\none",
        ok + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n0\r\n\r\n",
        ok + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n3\r\none\r\n0\r\n\r\n",
        // ends of chunks
        chunked + "3\none\r\n0\r\n\r\n", chunked + "3\r\none\n0\r\n\r\n",
        chunked + "3\r\nonee\r\n0\r\n\r\n", chunked + " 3\r\none\r\n0\r\n\r\n",
        chunked + "ffffffffffffffff\r\none", chunked + "\r\n");
    Fixture f;
    Answer answer, next;
    SECTION("in one piece") {
        f.answers = {given};
        f.get(answer);
        f.settle();
    }
    SECTION("byte by byte") {
        f.get(answer);
        f.settle();
        for (const char c : given) {
            if (!answer.ec) f.push({&c, 1});
        }
    }
    INFO(given);
    REQUIRE(answer.ec);
    CHECK(*answer.ec);
    CHECK(answer.text.starts_with("the response is not valid HTTP: "));
    f.answers = {with_length("two")};
    f.get(next);
    f.settle();
    CHECK(next.body == "two");
    CHECK(f.connector->made == 2);
}

TEST_CASE("HttpConnection: an end in the middle of chunks is an end in the middle") {
    Fixture f;
    Answer answer;
    f.answers = {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n0\r\n"};
    f.get(answer);
    f.settle();
    CHECK(answer.body == "one");
    CHECK_FALSE(answer.ec);
    f.connector->last->end();
    f.settle();
    CHECK(answer.ec == errc::truncated_response);
}

TEST_CASE("HttpConnection: a head without end is refused at its limit, whatever it is made of") {
    const std::string line = GENERATE("X: y\r\n", "X: y\n", "x");
    Fixture f;
    Answer answer;
    f.get(answer);
    f.settle();
    for (int i = 0; i < 100'000 && !answer.ec; i += 100) {
        std::string many;
        for (int k = 0; k < 100; ++k) many += line;
        f.push(many);
    }
    CHECK(answer.ec == errc::header_too_large);
}

TEST_CASE("HttpConnection: interim responses without end are an error") {
    const auto ends = [](int interim) {
        Fixture f;
        Answer answer;
        std::string all;
        for (int i = 0; i < interim; ++i) all += "HTTP/1.1 102 Processing\r\n\r\n";
        f.answers = {all + with_length("")};
        f.get(answer);
        f.settle();
        REQUIRE(answer.ec);
        return answer.text;
    };
    CHECK(ends(16).empty());
    CHECK(ends(17).starts_with("the response is not valid HTTP: "));
}

TEST_CASE("HttpConnection: what wants TLS is asked whether it does, until a head has come") {
    const std::string alert("\x15\x03\x01\x00\x02\x02\x46", 7);
    const std::string given =
        GENERATE_COPY(alert, std::string("HTTP/1.1 200 OK\r\n"), std::string("SSH-2.0-x\r\n\r\n"));
    Fixture f;
    Answer answer;
    f.answers = {given};
    f.get(answer);
    f.settle();
    if (!answer.ec) f.connector->last->end();
    f.settle();
    CHECK(answer.text.ends_with("; should the URL start with https://?"));
}

TEST_CASE("HttpConnection: a server that speaks HTTP/2 only is said to") {
    const std::string settings("\0\0\6\4\0\0\0\0\0\0\3\0\0\0\x64", 15);
    const std::string goaway("\0\0\x8\7\0\0\0\0\0\0\0\0\0\0\0\0\1", 17);
    Fixture f;
    Answer answer;
    f.answers = {GENERATE_COPY(settings, goaway)};
    f.get(answer);
    f.settle();
    CHECK(answer.text == "the server speaks HTTP/2 only; enable HTTP/1.1 there");
}

TEST_CASE("HttpConnection: an end behind an interim response is an end in the middle") {
    Fixture f;
    Answer answer;
    f.answers = {"HTTP/1.1 100 Continue\r\n\r\n"};
    f.get(answer);
    f.settle();
    f.connector->last->end();
    f.settle();
    CHECK(answer.ec == errc::truncated_response);
    CHECK(answer.heads.empty());
}

TEST_CASE("HttpConnection: 101 is no interim response") {
    Fixture f;
    Answer answer;
    f.answers = {"HTTP/1.1 101 Switching Protocols\r\n\r\n"};
    f.get(answer);
    f.settle();
    REQUIRE(answer.heads.size() == 1);
    CHECK(answer.heads[0].status == 101);
    CHECK(answer.ec == error_code());
}

TEST_CASE("HttpConnection: a head that does not get ready is silence") {
    Fixture f;
    Answer answer;
    f.get(answer);
    f.settle();
    std::string dripping = "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nX-Endless: ";
    for (const char c : dripping.substr(0, 9)) {
        f.push({&c, 1});
        CHECK_FALSE(answer.ec);
        f.advance(1s);
    }
    f.push(dripping.substr(9));
    f.advance(1s);
    CHECK(answer.ec == errc::idle_timeout);
}

TEST_CASE("HttpConnection: white space in a body is silence, anything else is life") {
    Fixture f;
    Answer answer;
    f.answers = {"HTTP/1.1 200 OK\r\n\r\n"};
    f.get(answer);
    f.settle();
    for (int i = 0; i < 5; ++i) {
        f.advance(9s);
        f.push(" x\n");
    }
    CHECK_FALSE(answer.ec);
    for (int i = 0; i < 9; ++i) {
        f.advance(1s);
        f.push("\r\n \t");
    }
    CHECK_FALSE(answer.ec);
    f.advance(1s);
    CHECK(answer.ec == errc::idle_timeout);
}

TEST_CASE("HttpConnection: the head says how the body is encoded") {
    const auto encoding = [](const std::string& line) {
        Fixture f;
        Answer answer;
        f.answers = {"HTTP/1.1 200 OK\r\n" + line + "Content-Length: 0\r\n\r\n"};
        f.get(answer);
        f.settle();
        REQUIRE(answer.heads.size() == 1);
        return answer.heads[0].content_encoding.text();
    };
    CHECK(encoding("").empty());
    CHECK(encoding("Content-Encoding: Identity\r\n").empty());
    CHECK(encoding("Content-Encoding:  GZip \r\n") == "gzip");
}

TEST_CASE("HttpConnection: what was there before a late timer counts") {
    Fixture f;
    Answer answer;
    f.answers = {"HTTP/1.1 200 OK\r\n\r\n"};
    f.get(answer);
    f.settle();
    SECTION("the host kept the executor busy; then bytes are read") {
        f.advance(60s);  // the timer expires first
        CHECK_FALSE(answer.ec);
        f.push("x");
        f.advance(1s);
        CHECK_FALSE(answer.ec);
        f.advance(9s);
    }
    SECTION("nothing is there") {
        f.advance(60s);
        CHECK_FALSE(answer.ec);
        f.advance(1s);
    }
    SECTION("the host keeps it busy again and again") {
        for (int i = 0; i < 3; ++i) {
            f.advance(60s);
            CHECK_FALSE(answer.ec);
        }
        f.advance(999ms);
        CHECK_FALSE(answer.ec);
        f.advance(1ms);
    }
    CHECK(answer.ec == errc::idle_timeout);
}

/// Throws, or returns no stream, on request.
class ThrowingConnector final : public Connector {
 public:
    enum class At { make, make_none, connect, write, read, nowhere };

    explicit ThrowingConnector(Wire& wire) : wire_(wire) {}
    std::unique_ptr<ByteStream> make_stream(asio::any_io_executor, const ConnectTarget&) override {
        throw_at(At::make);
        if (at == At::make_none) return nullptr;
        return std::make_unique<Stream>(*this);
    }
    At at = At::nowhere;

 private:
    struct Stream final : ByteStream {
        explicit Stream(ThrowingConnector& c) : connector(c), inner(c.wire_) {}
        void async_connect(ConnectHandler handler) override {
            connector.throw_at(At::connect);
            inner.async_connect(std::move(handler));
        }
        void async_write(asio::const_buffer buffer, IoHandler handler) override {
            connector.throw_at(At::write);
            inner.async_write(buffer, std::move(handler));
        }
        void async_read_some(asio::mutable_buffer buffer, IoHandler handler) override {
            connector.throw_at(At::read);
            inner.async_read_some(buffer, std::move(handler));
        }
        void close() noexcept override { inner.close(); }
        ThrowingConnector& connector;
        ScriptedStream inner;
    };
    void throw_at(At place) const {
        if (place == at) throw std::runtime_error("out of sockets");
    }

    Wire& wire_;
};

TEST_CASE("HttpConnection: a reader that throws receives nothing more, and the next one all") {
    Fixture f;
    f.answers = {with_length("first") + with_length("more"), with_length("second")};
    Answer failed, works;
    failed.throws = true;
    f.get(failed);
    CHECK_THROWS_AS(f.settle(), std::bad_alloc);
    f.settle();
    CHECK(failed.body == "first");
    CHECK(failed.ec == errc::connector_failed);
    f.get(works);
    f.settle();
    CHECK(works.ec == error_code());
    CHECK(works.body == "second");
    CHECK(f.connector->made == 2);
}

TEST_CASE("HttpConnection: an exception of the connector is a failure like others") {
    using At = ThrowingConnector::At;
    const At at = GENERATE(At::make, At::make_none, At::connect, At::write, At::read);
    Fixture f;
    const auto connector = std::make_shared<ThrowingConnector>(f);
    HttpConnection connection(f.io.get_executor(), connector, f.clock);
    const auto get = [&](Answer& answer) {
        connection.async_send(std::make_shared<ConnectTarget>(), f.request(), answer,
                              [&answer](error_code ec, std::string text) {
                                  answer.ec = ec;
                                  answer.text = std::move(text);
                              });
        CHECK_FALSE(answer.ec);  // never from within the call
        f.settle();
    };
    Answer failed, works;
    connector->at = at;
    f.answers = {with_length("first"), with_length("second")};
    get(failed);
    CHECK(failed.ec == errc::connector_failed);
    CHECK(failed.text == (at == At::make_none ? "the connector made no stream" : "out of sockets"));
    connector->at = At::nowhere;
    get(works);
    CHECK(works.ec == error_code());
}

}  // namespace
}  // namespace k8s_sd::detail
