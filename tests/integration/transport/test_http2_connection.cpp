#include "k8s_sd/detail/transport/http2/http2_pool.hpp"
#include "k8s_sd/detail/transport/http_connection.hpp"
#include "support/allocations.hpp"
#include "support/http2_peer.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;
namespace h2 = test::http2;
using Catch::Matchers::ContainsSubstring;

/// One request of a client, on a connection of its own as far as it knows.
struct MultiplexedRequest final : ResponseSink {
    void on_head(const ResponseHead& received) override { head = received; }
    error_code on_body(std::string_view bytes) override {
        body += bytes;
        ++parts;
        if (act) act();
        return refuse ? make_error_code(errc::malformed_response) : error_code();
    }
    void on_connect_wait(bool waits) override { notified += waits ? "waits;" : "connects;"; }
    void on_pause(TimePoint end) override {
        notified += "pauses;";
        repeat_at(end);
    }
    std::unique_ptr<HttpConnection> connection;
    std::function<void(TimePoint)> repeat_at;
    std::unique_ptr<Timer> timer;  ///< for a repetition; null: none so far
    std::optional<ResponseHead> head;
    std::string body;
    int parts = 0;  ///< of the body
    std::string notified;
    std::optional<error_code> ec;
    std::string why;
    std::function<void()> act;  ///< called with each part of the body
    bool refuse = false;
    bool end_throws = false;
};

/// A client whose requests share connections to peers.
struct MultiplexedClient {
    explicit MultiplexedClient(std::size_t max_watches = 0) {
        if (!has_http2()) SKIP("built without nghttp2");
        pool = std::make_shared<Http2Pool>(io.get_executor(), clock, max_watches);
        auto secured = std::make_shared<ConnectTarget>();
        secured->tls.emplace();
        target = secured;
    }
    MultiplexedRequest& begin(StreamUse use = StreamUse::watch) {
        MultiplexedRequest& request = requests.emplace_back();
        request.connection =
            std::make_unique<HttpConnection>(io.get_executor(), connector, clock, pool);
        request.repeat_at = [this, use, &request](TimePoint at) {
            if (!request.timer) request.timer = clock->make_timer(io.get_executor());
            request.timer->expires_at(at, [this, use, &request] { ask(request, use); });
        };
        ask(request, use);
        return request;
    }
    void ask(MultiplexedRequest& request, StreamUse use) {
        HttpRequest sent;
        sent.text = method + " / HTTP/1.1\r\nHost: s\r\nAuthorization: Bearer secret\r\n\r\n";
        sent.connect_timeout = connect_timeout;
        sent.connect_permits = permits;
        sent.sent = sent_requests;
        sent.urgency = urgency;
        sent.idle_timeout = idle_timeout;
        sent.idle_error = errc::idle_timeout;
        sent.http2 = use;
        sent.http2_pause = pause;
        request.connection->async_send(target, std::move(sent), request,
                                       [&request](error_code ec, std::string why) {
                                           request.ec = ec;
                                           request.why = std::move(why);
                                           if (request.end_throws) throw std::bad_alloc();
                                       });
    }
    MultiplexedRequest& get(StreamUse use = StreamUse::watch) {
        MultiplexedRequest& request = begin(use);
        settle();
        return request;
    }
    void settle() { test::settle(io); }
    void send(std::size_t peer, std::string_view bytes) {
        connector->peers.at(peer)->send(bytes);
        settle();
    }
    void advance(Duration time) {
        clock->advance(time);
        settle();
    }
    h2::Peer& peer(std::size_t i) { return *connector->peers.at(i); }
    std::size_t connections() const { return connector->peers.size(); }
    /// The requests by HTTP/2.
    std::size_t sent() const {
        std::size_t count = 0;
        for (const auto& peer : connector->peers) count += peer->streams().size();
        return count;
    }
    std::size_t open_connections() const {
        return static_cast<std::size_t>(
            std::count_if(connector->peers.begin(), connector->peers.end(),
                          [](const auto& one) { return !one->closed; }));
    }

    asio::io_context io;
    std::shared_ptr<test::ManualClock> clock = std::make_shared<test::ManualClock>();
    std::shared_ptr<h2::PeerConnector> connector = std::make_shared<h2::PeerConnector>(io);
    std::shared_ptr<Http2Pool> pool;
    std::shared_ptr<Http2Pause> pause = std::make_shared<Http2Pause>();
    HttpConnection::Target target;
    Duration idle_timeout = 10min;
    Duration connect_timeout = 5s;
    std::string method = "GET";
    std::shared_ptr<PermitQueue> permits;
    std::shared_ptr<Metrics::Counter> sent_requests;
    PermitQueue::Urgency urgency = PermitQueue::Urgency::normal;
    std::deque<MultiplexedRequest> requests;
};

TEST_CASE("HTTP/2: requests share a connection, and each has its response") {
    MultiplexedClient c;
    MultiplexedRequest& one = c.begin();
    MultiplexedRequest& two = c.begin();
    c.settle();
    MultiplexedRequest& three = c.get();
    CHECK(c.connections() == 1);
    CHECK(c.peer(0).offered);
    CHECK(c.peer(0).streams() == std::vector<std::int32_t>{1, 3, 5});
    c.send(0, h2::settings_frame() + h2::head_frame(5) + h2::head_frame(1, "404") +
                  h2::data_frame(5, "three") + h2::data_frame(1, "one", h2::end_stream));
    CHECK(one.head->status == 404);
    CHECK(one.body == "one");
    CHECK(one.ec == error_code());
    CHECK(three.body == "three");
    CHECK_FALSE(three.ec);
    CHECK_FALSE(two.head);
    c.send(0, h2::head_frame(3, "200", h2::end_stream));
    CHECK(two.ec == error_code());
}

TEST_CASE("HTTP/2: simultaneous requests are one write") {
    MultiplexedClient c;
    c.get();
    c.send(0, h2::settings_frame());
    const int before = c.peer(0).writes;
    for (int i = 0; i < 50; ++i) c.begin();
    c.settle();
    CHECK(c.peer(0).streams().size() == 51);
    CHECK(c.peer(0).writes == before + 1);
}

TEST_CASE("HTTP/2: a server that chooses HTTP/1.1 gets it, on the same connection") {
    MultiplexedClient c;
    c.connector->next = [](h2::Peer& peer) { peer.accepts = false; };
    for (int i = 0; i < 3; ++i) c.begin();
    c.settle();
    REQUIRE(c.connections() == 3);
    CHECK(c.peer(0).offered);
    // The choice is remembered for a while.
    CHECK_FALSE(c.peer(1).offered);
    CHECK_FALSE(c.peer(2).offered);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(c.peer(i).text.starts_with("GET / HTTP/1.1\r\n"));
        c.send(i, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        CHECK(c.requests[i].body == "ok");
        CHECK(c.requests[i].ec == error_code());
    }
    c.advance(11min);
    c.get();
    CHECK(c.peer(3).offered);
}

TEST_CASE("HTTP/2: a request without TLS does not offer it") {
    MultiplexedClient c;
    c.target = std::make_shared<ConnectTarget>();
    c.get();
    CHECK_FALSE(c.peer(0).offered);
}

TEST_CASE("HTTP/2: one failed attempt is reported to all requests that waited for it") {
    MultiplexedClient c;
    c.connector->next = [](h2::Peer& peer) { peer.refusal = asio::error::connection_refused; };
    for (int i = 0; i < 3; ++i) c.begin();
    c.settle();
    CHECK(c.connections() == 1);
    for (const auto& request : c.requests) CHECK(request.ec == asio::error::connection_refused);
}

TEST_CASE("HTTP/2: if the request that connects is abandoned, another one connects") {
    MultiplexedClient c;
    c.connector->next = [](h2::Peer& peer) { peer.connects = false; };
    for (int i = 0; i < 3; ++i) c.begin();
    c.settle();
    REQUIRE(c.connections() == 1);
    c.connector->next = nullptr;
    c.requests[0].connection->close();
    c.requests[1].connection->close();
    c.settle();
    CHECK(c.connections() == 2);
    CHECK(c.peer(1).streams().size() == 1);
    CHECK_FALSE(c.requests[2].ec);
}

TEST_CASE("HTTP/2: at the stream limit another connection is opened; no request waits") {
    MultiplexedClient c;
    c.get();
    c.send(0, h2::settings_frame({{h2::max_concurrent_streams, 20}}));
    for (int i = 1; i < 50; ++i) c.get();
    // A tenth of the streams is kept for brief requests.
    REQUIRE(c.connections() == 3);
    CHECK(c.peer(0).streams().size() == 18);
    CHECK(c.peer(1).streams().size() == 18);
    CHECK(c.peer(2).streams().size() == 14);
    c.get(StreamUse::brief);
    c.get(StreamUse::brief);
    CHECK(c.peer(0).streams().size() == 20);
    SECTION("the limit shrinks: open streams go on, new ones go elsewhere") {
        c.send(0, h2::settings_frame({{h2::max_concurrent_streams, 1}}) + h2::head_frame(1));
        CHECK(c.requests[0].head);
        c.get(StreamUse::brief);
        CHECK(c.peer(0).streams().size() == 20);
        CHECK(c.peer(1).streams().size() == 19);
    }
    SECTION("an ended stream makes room") {
        c.send(0, h2::head_frame(1, "200", h2::end_stream));
        c.get();
        CHECK(c.peer(0).streams().size() == 21);
    }
}

TEST_CASE("HTTP/2: the limit of the server is expected of its next connections") {
    MultiplexedClient c;
    c.get();
    c.send(0, h2::settings_frame({{h2::max_concurrent_streams, 5}}));
    for (int i = 0; i < 11; ++i) c.begin();
    c.settle();
    REQUIRE(c.connections() == 3);
    CHECK(c.peer(0).streams().size() == 5);
    CHECK(c.peer(1).streams().size() == 5);
    CHECK(c.peer(2).streams().size() == 2);
    // A larger one counts once it is reported.
    c.send(2, h2::settings_frame({{h2::max_concurrent_streams, 50}}));
    for (int i = 0; i < 20; ++i) c.begin();
    c.settle();
    CHECK(c.connections() == 3);
}

TEST_CASE("HTTP/2: a limit learned too late moves the requests beyond it, without an error") {
    MultiplexedClient c;
    for (int i = 0; i < 10; ++i) c.begin();
    c.settle();
    std::string refusals = h2::settings_frame({{h2::max_concurrent_streams, 4}});
    for (int id = 9; id < 20; id += 2) refusals += h2::rst_frame(id, h2::refused_stream);
    c.send(0, refusals);
    REQUIRE(c.connections() == 3);
    CHECK(c.peer(1).streams().size() == 4);
    CHECK(c.peer(2).streams().size() == 2);
    for (const auto& request : c.requests) CHECK_FALSE(request.ec);
    CHECK(c.open_connections() == 3);
}

TEST_CASE("HTTP/2: a server that refuses everything is an error in the end") {
    MultiplexedClient c;
    c.get();
    for (std::size_t i = 0; i < 20 && !c.requests[0].ec; ++i) {
        REQUIRE(i < c.connections());
        c.send(i, h2::settings_frame() + h2::rst_frame(1, h2::refused_stream));
    }
    CHECK(c.requests[0].ec == asio::error::connection_reset);
    CHECK(c.connections() == 4);
}

TEST_CASE("HTTP/2: max_watches bounds the watches of a connection") {
    MultiplexedClient c(3);
    for (int i = 0; i < 7; ++i) c.begin();
    c.settle();
    CHECK(c.connections() == 3);
    c.get(StreamUse::brief);
    CHECK(c.connections() == 3);
}

TEST_CASE("HTTP/2: a refusal limits the streams for a while, or until the next SETTINGS") {
    MultiplexedClient c;
    for (int i = 0; i < 3; ++i) c.begin();
    c.settle();
    c.send(0, h2::settings_frame() + h2::head_frame(1) + h2::rst_frame(5, h2::refused_stream));
    REQUIRE(c.connections() == 2);
    c.get();
    CHECK(c.peer(0).streams().size() == 3);
    SECTION("after a while") {
        c.advance(29s);
        c.send(0, h2::data_frame(1, "event"));
        c.get();
        CHECK(c.peer(0).streams().size() == 3);
        c.advance(1s);
    }
    SECTION("after SETTINGS") { c.send(0, h2::settings_frame()); }
    c.get();
    CHECK(c.peer(0).streams().size() == 4);
}

TEST_CASE("HTTP/2: streams that end after a refusal do not lower its limit") {
    MultiplexedClient c;
    for (int i = 0; i < 3; ++i) c.get(StreamUse::brief);
    c.settle();
    c.send(0, h2::settings_frame() + h2::rst_frame(5, h2::refused_stream) +
                  h2::head_frame(1, "200", h2::end_stream) +
                  h2::head_frame(3, "200", h2::end_stream));
    c.get(StreamUse::brief);
    c.settle();
    CHECK(c.peer(0).streams().size() >= 4);
}

TEST_CASE("HTTP/2: an urgent request does not wait for the permit of another one") {
    MultiplexedClient c;
    const auto gauge = std::make_shared<Metrics::Gauge>(0);
    c.permits = std::make_shared<PermitQueue>(PermitQueue::Limit{.permits = 2, .reserved = 1},
                                              PermitQueue::Gauges{gauge, nullptr});
    const PermitQueue::Permit other = c.permits->try_permit();
    MultiplexedRequest& watch = c.get();
    MultiplexedRequest& second = c.get();
    CHECK(watch.notified == "waits;");
    CHECK(c.connections() == 0);
    c.urgency = PermitQueue::Urgency::urgent;
    SECTION("its connection serves the others, too") {
        c.get(StreamUse::brief);
        CHECK(c.connections() == 1);
        CHECK(c.peer(0).streams().size() == 3);
        CHECK(watch.notified == "waits;connects;");
        CHECK(second.notified == "waits;connects;");
        CHECK(*gauge == 1);
    }
    SECTION("without room they go on waiting") {
        c.connector->next = [](h2::Peer& peer) { peer.accepts = false; };
        c.get(StreamUse::brief);
        CHECK(c.connections() == 1);
        CHECK(watch.notified == "waits;");
        CHECK_FALSE(watch.ec);
    }
}

TEST_CASE("HTTP/2: a request that waits for the connection of another one has its own timeout") {
    MultiplexedClient c;
    c.connector->next = [](h2::Peer& peer) { peer.connects = false; };
    c.connect_timeout = 0s;  // none
    MultiplexedRequest& first = c.get();
    c.connect_timeout = 5s;
    MultiplexedRequest& second = c.get();
    c.advance(4s);
    CHECK_FALSE(second.ec);
    c.advance(1s);
    CHECK(second.ec == errc::connect_timeout);
    CHECK_THAT(second.why, ContainsSubstring("connection of another request"));
    CHECK_FALSE(first.ec);
    CHECK(c.connections() == 1);
}

TEST_CASE("HTTP/2: a withdrawn wait returns its room") {
    MultiplexedClient c(2);
    c.connector->next = [](h2::Peer& peer) { peer.connects = false; };
    c.get();
    c.get().connection->close();
    c.settle();
    c.get();
    CHECK(c.connections() == 1);
    c.get();
    CHECK(c.connections() == 2);
}

TEST_CASE("HTTP/2: a GET on a connection that turns out dead is repeated once") {
    MultiplexedClient c;
    c.get(StreamUse::brief);
    c.send(0, h2::settings_frame() + h2::head_frame(1, "200", h2::end_stream));
    SECTION("a GET") {
        MultiplexedRequest& request = c.get(StreamUse::brief);
        SECTION("before an answer") {
            c.peer(0).end(asio::error::connection_reset);
            c.settle();
            REQUIRE(c.connections() == 2);
            CHECK_FALSE(request.ec);
            c.peer(1).end();
            c.settle();
            CHECK(request.ec == asio::error::eof);
            CHECK(c.connections() == 2);
        }
        SECTION("in an answer") {
            c.send(0, h2::head_frame(3));
            c.peer(0).end();
            c.settle();
            CHECK(request.ec == errc::truncated_response);
            CHECK(c.connections() == 1);
        }
        SECTION("silent for too long") {
            c.advance(30s);
            c.advance(15s);
            CHECK(c.connections() == 2);
            CHECK_FALSE(request.ec);
        }
    }
    SECTION("no other method") {
        c.method = "POST";
        MultiplexedRequest& request = c.get(StreamUse::brief);
        c.peer(0).end();
        c.settle();
        CHECK(request.ec == asio::error::eof);
        CHECK(c.connections() == 1);
    }
}

TEST_CASE(
    "HTTP/2: a failed write ends the connection, with the reason of the server if it says so") {
    MultiplexedClient c;
    MultiplexedRequest& watch = c.get();
    c.send(0, h2::settings_frame() + h2::head_frame(1));
    c.peer(0).write_error = asio::error::broken_pipe;
    MultiplexedRequest& other = c.get();
    SECTION("without a word") {
        CHECK_FALSE(other.ec);
        c.get();
        CHECK(c.connections() == 2);
        c.advance(1s);
        CHECK(watch.ec == errc::truncated_response);
        CHECK(c.connections() == 2);
        CHECK(c.peer(1).streams().size() == 2);
    }
    SECTION("with its last frame") {
        c.send(0, h2::goaway_frame(0x7FFFFFFF, h2::enhance_your_calm));
        CHECK_THAT(other.why, ContainsSubstring("ENHANCE_YOUR_CALM"));
    }
    CHECK(c.peer(0).closed);
}

TEST_CASE("HTTP/2: a transport that throws ends its connection") {
    MultiplexedClient c;
    SECTION("at once") {
        c.connector->next = [](h2::Peer& peer) { peer.throws = true; };
        MultiplexedRequest& request = c.get();
        CHECK(request.ec == errc::connector_failed);
        CHECK_THAT(request.why, ContainsSubstring("out of order"));
    }
    SECTION("later") {
        MultiplexedRequest& watch = c.get();
        c.send(0, h2::settings_frame());
        c.peer(0).throws = true;
        c.get();
        CHECK(watch.ec == errc::connector_failed);
    }
    CHECK(c.peer(0).closed);
    c.connector->next = nullptr;
    c.get();
    CHECK(c.connections() == 2);
}

TEST_CASE("HTTP/2: a server that requires HTTP/1.1 gets it") {
    MultiplexedClient c;
    MultiplexedRequest& request = c.get();
    std::size_t streams = 1;
    SECTION("for a stream") {
        c.send(0, h2::settings_frame() + h2::rst_frame(1, h2::http_1_1_required));
    }
    SECTION("for all") {
        c.get();
        ++streams;
        c.send(0, h2::settings_frame() + h2::goaway_frame(0, h2::http_1_1_required));
    }
    c.settle();
    REQUIRE(c.connections() == 1 + streams);
    CHECK_FALSE(c.peer(1).offered);
    CHECK(c.peer(1).text.starts_with("GET / HTTP/1.1\r\n"));
    for (std::size_t i = 1; i <= streams; ++i) {
        c.send(i, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    }
    CHECK(request.body == "ok");
    CHECK(request.ec == error_code());
    CHECK_FALSE(request.head->http2);
}

TEST_CASE("HTTP/2: an old connection takes no new request, and its streams go on") {
    MultiplexedClient c;
    MultiplexedRequest& watch = c.get();
    c.send(0, h2::settings_frame() + h2::head_frame(1));
    c.idle_timeout = 1h;
    for (int i = 0; i < 20; ++i) {
        c.advance(29s);
        c.send(0, h2::data_frame(1, "event"));
    }
    c.get();
    CHECK(c.connections() == 1);
    c.advance(20s);
    c.send(0, h2::data_frame(1, "event"));
    c.get();
    REQUIRE(c.connections() == 2);
    c.send(0, h2::data_frame(1, "last"));
    CHECK(watch.body.ends_with("last"));
    c.send(0, h2::data_frame(1, "", h2::end_stream) + h2::rst_frame(3, h2::cancel));
    CHECK(watch.ec == error_code());
    CHECK(c.peer(0).closed);
}

TEST_CASE("HTTP/2: frames of one read are one part of the body, for each stream") {
    MultiplexedClient c;
    MultiplexedRequest& one = c.get();
    MultiplexedRequest& two = c.get();
    c.send(0, h2::settings_frame() + h2::head_frame(1) + h2::head_frame(3) +
                  h2::data_frame(1, "a") + h2::data_frame(1, "b") + h2::data_frame(1, "c") +
                  h2::data_frame(3, "x") + h2::data_frame(3, "y") + h2::data_frame(1, "d"));
    CHECK(one.body == "abcd");
    CHECK(one.parts == 2);
    CHECK(two.body == "xy");
    CHECK(two.parts == 1);
    CHECK(one.head->http2);
}

TEST_CASE("HTTP/2: GOAWAY moves new requests and leaves running watches alone") {
    MultiplexedClient c;
    MultiplexedRequest& watch = c.get();
    MultiplexedRequest& late = c.get();
    c.send(0,
           h2::settings_frame() + h2::head_frame(1) + h2::goaway_frame(0x7FFFFFFF, h2::no_error));
    MultiplexedRequest& next = c.get();
    CHECK(c.connections() == 2);
    CHECK(c.peer(1).streams().size() == 1);
    c.send(0, h2::goaway_frame(1, h2::no_error) + h2::data_frame(1, "event"));
    // The server has not processed it: it moves at once.
    CHECK_FALSE(late.ec);
    CHECK(c.peer(1).streams().size() == 2);
    CHECK(watch.body == "event");
    CHECK_FALSE(c.peer(0).closed);
    c.send(0, h2::data_frame(1, "", h2::end_stream));
    CHECK(watch.ec == error_code());
    CHECK(c.peer(0).closed);
    CHECK_FALSE(next.ec);
}

TEST_CASE("HTTP/2: requests moved by GOAWAY share one connection, whatever stays on the old one") {
    MultiplexedClient c;
    for (int i = 0; i < 30; ++i) c.begin();
    c.settle();
    REQUIRE(c.peer(0).streams().size() == 30);
    c.send(0, h2::settings_frame() + h2::head_frame(1) + h2::goaway_frame(1, h2::no_error));
    CHECK(c.connections() == 2);
    CHECK(c.peer(1).streams().size() == 29);
    for (const auto& request : c.requests) CHECK_FALSE(request.ec);
}

TEST_CASE("HTTP/2: GOAWAY with an error ends all streams and names it") {
    MultiplexedClient c;
    MultiplexedRequest& watch = c.get();
    MultiplexedRequest& other = c.get();
    c.send(0,
           h2::settings_frame() + h2::head_frame(1) + h2::goaway_frame(3, h2::enhance_your_calm));
    CHECK(watch.ec == errc::truncated_response);
    CHECK(other.ec == asio::error::connection_reset);
    CHECK_THAT(other.why, ContainsSubstring("ENHANCE_YOUR_CALM"));
    CHECK(c.peer(0).closed);
}

TEST_CASE("HTTP/2: after ENHANCE_YOUR_CALM no request follows for 30 s, then one after the other") {
    MultiplexedClient c;
    MultiplexedRequest& watch = c.get();
    SECTION("for the connection") {
        c.send(0, h2::settings_frame() + h2::goaway_frame(1, h2::enhance_your_calm));
        CHECK(watch.ec == asio::error::connection_reset);
    }
    SECTION("for a connection without requests") {
        c.send(0, h2::settings_frame() + h2::head_frame(1, "200", h2::end_stream));
        CHECK(watch.ec == error_code());
        c.send(0, h2::goaway_frame(1, h2::enhance_your_calm));
    }
    SECTION("for a stream") {
        c.send(0, h2::settings_frame() + h2::rst_frame(1, h2::enhance_your_calm));
        CHECK(watch.ec == asio::error::connection_reset);
    }
    MultiplexedRequest& first = c.get();
    MultiplexedRequest& second = c.get();
    MultiplexedRequest& closed = c.get();
    closed.timer->cancel();
    c.advance(29'999ms);
    CHECK(c.sent() == 1);
    CHECK(first.notified == "pauses;");
    c.advance(1ms);
    CHECK(c.sent() == 2);
    CHECK(second.notified == "pauses;");
    c.get();
    CHECK(c.sent() == 2);  // it waits for its turn
    c.advance(10ms);
    CHECK(c.sent() == 3);
    CHECK_FALSE(second.ec);
    c.advance(20ms);
    CHECK(c.sent() == 4);
    c.advance(10ms);
    c.get();
    CHECK(c.sent() == 5);
}

TEST_CASE("HTTP/2: a further ENHANCE_YOUR_CALM extends the pause") {
    MultiplexedClient c;
    c.get();
    c.get();
    c.send(0, h2::settings_frame() + h2::rst_frame(1, h2::enhance_your_calm));
    MultiplexedRequest& request = c.get();
    c.advance(29'900ms);
    c.send(0, h2::goaway_frame(3, h2::enhance_your_calm));
    c.advance(100ms);
    c.advance(29'899ms);
    CHECK(c.sent() == 2);
    CHECK(request.notified == "pauses;pauses;");
    c.advance(1ms);
    CHECK(c.sent() == 3);
}

TEST_CASE("HTTP/2: ENHANCE_YOUR_CALM counts before all that was received with it") {
    MultiplexedClient c;
    MultiplexedRequest& watch = c.get();
    c.get();
    c.send(0, h2::settings_frame() + h2::head_frame(1));
    MultiplexedRequest* next = nullptr;
    watch.act = [&] {
        if (!next) next = &c.begin();
    };
    const bool whole_connection = GENERATE(true, false);
    c.send(0, h2::data_frame(1, "event") + (whole_connection
                                                ? h2::goaway_frame(3, h2::enhance_your_calm)
                                                : h2::rst_frame(3, h2::enhance_your_calm)));
    REQUIRE(next);
    CHECK(next->notified == "pauses;");
    CHECK(c.sent() == 2);
    c.advance(30s);
    CHECK(c.sent() == 3);
}

TEST_CASE("HTTP/2: a pause is that of the server, whatever its client") {
    MultiplexedClient c;
    c.get();
    c.send(0, h2::settings_frame() + h2::goaway_frame(1, h2::enhance_your_calm));
    SECTION("with another certificate") { c.target = std::make_shared<ConnectTarget>(*c.target); }
    SECTION("another one") {
        c.pool = std::make_shared<Http2Pool>(c.io.get_executor(), c.clock, 0);
    }
    c.get();
    CHECK(c.sent() == 1);
    c.advance(29'999ms);
    CHECK(c.sent() == 1);
    c.advance(1ms);
    CHECK(c.sent() == 2);
}

TEST_CASE("HTTP/2: after a pause requests follow one after the other, however slow the handshake") {
    MultiplexedClient c;
    c.get();
    c.send(0, h2::settings_frame() + h2::goaway_frame(1, h2::enhance_your_calm));
    for (int i = 0; i < 30; ++i) c.begin();
    c.settle();
    c.connector->next = [](h2::Peer& peer) { peer.connects = false; };
    c.advance(30s);
    for (int i = 0; i < 30; ++i) c.advance(10ms);
    REQUIRE(c.connections() == 2);
    CHECK(c.sent() == 1);
    c.peer(1).connect();
    c.settle();
    for (std::size_t i = 0; i <= 28; ++i) {
        CHECK(c.sent() == 3 + i);
        c.advance(10ms);
    }
    CHECK(c.sent() == 31);
    CHECK(c.connections() == 2);
}

TEST_CASE("HTTP/2: the next request of a watch that has waited for a pause is sent at once") {
    MultiplexedClient c;
    c.get();
    c.send(0, h2::settings_frame() + h2::goaway_frame(1, h2::enhance_your_calm));
    MultiplexedRequest& watch = c.get(StreamUse::brief);
    for (int i = 0; i < 50; ++i) c.begin();
    c.settle();
    c.advance(30s);
    CHECK(c.sent() == 2);
    c.send(1, h2::settings_frame() + h2::head_frame(1, "200", h2::end_stream));
    CHECK(watch.ec == error_code());
    c.ask(watch, StreamUse::watch);
    c.settle();
    CHECK(c.sent() == 3);
}

TEST_CASE("HTTP/2: a connection established during a pause is not used before its end") {
    MultiplexedClient c;
    c.get();
    c.connector->next = [](h2::Peer& peer) { peer.connects = false; };
    c.send(0, h2::settings_frame({{h2::max_concurrent_streams, 1}}));
    MultiplexedRequest& connecting = c.get();
    REQUIRE(c.connections() == 2);
    c.connector->next = nullptr;
    c.send(0, h2::rst_frame(1, h2::enhance_your_calm));
    c.peer(1).connect();
    c.settle();
    CHECK(c.sent() == 1);
    CHECK(connecting.notified == "pauses;");
    c.advance(29s);
    CHECK(c.sent() == 1);
    c.advance(1s);
    CHECK(c.sent() == 2);
    CHECK_FALSE(connecting.ec);
}

TEST_CASE("HTTP/2: an urgent request uses HTTP/1.1 during a pause") {
    MultiplexedClient c;
    c.get();
    c.send(0, h2::settings_frame() + h2::goaway_frame(1, h2::enhance_your_calm));
    c.urgency = PermitQueue::Urgency::urgent;
    MultiplexedRequest& urgent = c.get(StreamUse::brief);
    REQUIRE(c.connections() == 2);
    CHECK_FALSE(c.peer(1).offered);
    c.send(1, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    CHECK(urgent.body == "ok");
    CHECK(urgent.ec == error_code());
    CHECK(urgent.notified.empty());
    c.advance(30s);
    c.get(StreamUse::brief);
    CHECK(c.sent() == 2);
}

TEST_CASE("HTTP/2: many requests follow a pause within 10 s") {
    MultiplexedClient c;
    c.get();
    c.send(0, h2::settings_frame() + h2::goaway_frame(1, h2::enhance_your_calm));
    for (int i = 0; i < 2500; ++i) c.begin(StreamUse::brief);
    c.connector->next = [](h2::Peer& peer) {
        peer.send(h2::settings_frame({{h2::max_concurrent_streams, 10'000}}));
    };
    c.advance(30s);
    CHECK(c.sent() <= 1 + 3);
    for (int i = 0; i < 500; ++i) c.advance(20ms);
    CHECK(c.sent() == 1 + 2500);
}

TEST_CASE("HTTP/2: a stream without END_STREAM is a cut; the others go on") {
    MultiplexedClient c;
    MultiplexedRequest& cut = c.get();
    MultiplexedRequest& other = c.get();
    c.send(0, h2::settings_frame() + h2::head_frame(1) + h2::data_frame(1, "{}") +
                  h2::rst_frame(1, h2::no_error));
    CHECK(cut.ec == errc::truncated_response);
    CHECK_THAT(cut.why, ContainsSubstring("NO_ERROR"));
    CHECK_FALSE(other.ec);
    c.peer(0).end();
    c.settle();
    CHECK(other.ec == asio::error::eof);
}

TEST_CASE("HTTP/2: silence of 30 s leads to a PING, and 15 s later to the end") {
    MultiplexedClient c;
    MultiplexedRequest& watch = c.get();
    MultiplexedRequest& other = c.get();
    c.send(0, h2::settings_frame() + h2::head_frame(1));
    c.advance(29s);
    CHECK(c.peer(0).count(h2::ping) == 0);
    c.advance(1s);
    CHECK(c.peer(0).count(h2::ping) == 1);
    SECTION("unanswered: all requests end with one error") {
        c.advance(14s);
        CHECK_FALSE(watch.ec);
        c.advance(1s);
        CHECK(watch.ec == errc::ping_timeout);
        CHECK(other.ec == errc::ping_timeout);
        CHECK(c.peer(0).closed);
        c.get();
        CHECK(c.connections() == 2);
    }
    SECTION("answered by any frame") {
        c.advance(14s);
        c.send(0, h2::data_frame(1, " "));
        c.advance(29s);
        CHECK(c.peer(0).count(h2::ping) == 1);
        CHECK_FALSE(watch.ec);
        c.advance(1s);
        CHECK(c.peer(0).count(h2::ping) == 2);
    }
    SECTION("a busy executor is no silence of the server") {
        c.clock->advance(5min);
        c.peer(0).send(h2::frame(h2::ping, h2::ack, 0, "12345678"));
        c.settle();
        c.advance(1s);
        CHECK_FALSE(watch.ec);
    }
}

TEST_CASE("HTTP/2: each request has its own idle timeout") {
    MultiplexedClient c;
    c.idle_timeout = 20s;
    MultiplexedRequest& quiet = c.get();
    MultiplexedRequest& alive = c.get();
    c.send(0, h2::settings_frame() + h2::head_frame(1) + h2::head_frame(3));
    c.advance(15s);
    c.send(0, h2::data_frame(1, "\n") + h2::data_frame(3, "event"));
    c.advance(5s);
    CHECK(quiet.ec == errc::idle_timeout);
    CHECK_FALSE(alive.ec);
    CHECK(c.peer(0).count(h2::rst_stream) == 1);
}

TEST_CASE("HTTP/2: a connection on which a request has had no answer takes no further one") {
    MultiplexedClient c;
    MultiplexedRequest& watch = c.get();
    c.idle_timeout = 20s;
    MultiplexedRequest& unanswered = c.get();
    c.send(0, h2::settings_frame() + h2::head_frame(1));
    c.advance(20s);
    CHECK(unanswered.ec == errc::idle_timeout);
    c.get();
    CHECK(c.connections() == 2);
    c.send(0, h2::data_frame(1, "event"));
    CHECK(watch.body == "event");
    CHECK_FALSE(c.peer(0).closed);
    watch.connection->close();
    c.settle();
    CHECK(c.peer(0).closed);
}

TEST_CASE("HTTP/2: a handler that throws keeps no other request from its end") {
    MultiplexedClient c;
    for (int i = 0; i < 5; ++i) c.get();
    c.send(0, h2::settings_frame());
    c.requests[0].end_throws = true;
    c.requests[3].end_throws = true;
    c.peer(0).end(asio::error::connection_reset);
    CHECK_THROWS_AS(c.settle(), std::bad_alloc);
    c.settle();
    for (const MultiplexedRequest& request : c.requests) CHECK(request.ec);
}

TEST_CASE("HTTP/2: a reader that throws receives nothing more, and all requests end") {
    MultiplexedClient c;
    MultiplexedRequest& one = c.get();
    MultiplexedRequest& two = c.get();
    c.send(0, h2::settings_frame() + h2::head_frame(1) + h2::head_frame(3));
    one.act = [] { throw std::bad_alloc(); };
    c.peer(0).send(h2::data_frame(1, "a") + h2::data_frame(3, "x") + h2::data_frame(1, "b"));
    CHECK_THROWS_AS(c.settle(), std::bad_alloc);
    c.settle();
    c.get();
    CHECK(c.connections() == 2);
    CHECK(one.body == "a");
    CHECK(one.ec);
    CHECK(two.ec);
}

TEST_CASE("HTTP/2: a handler that throws at its timeout keeps no other request from its own") {
    MultiplexedClient c;
    c.idle_timeout = 20s;
    MultiplexedRequest& first = c.get();
    MultiplexedRequest& second = c.get();
    c.idle_timeout = 10min;
    MultiplexedRequest& later = c.get();
    c.send(0, h2::settings_frame());
    first.end_throws = true;
    CHECK_THROWS_AS(c.advance(20s), std::bad_alloc);
    c.settle();
    CHECK(first.ec == errc::idle_timeout);
    CHECK(second.ec == errc::idle_timeout);
    c.advance(10s);
    CHECK(c.peer(0).count(h2::ping) == 1);
    c.advance(15s);
    CHECK(later.ec == errc::ping_timeout);
}

TEST_CASE("HTTP/2: a request counts when it is sent, each time") {
    MultiplexedClient c;
    c.sent_requests = std::make_shared<Metrics::Counter>(0);
    c.get();
    c.get();
    c.send(0, h2::settings_frame() + h2::head_frame(1, "200", h2::end_stream));
    CHECK(*c.sent_requests == 2);
    c.peer(0).end(asio::error::connection_reset);
    c.settle();
    CHECK(*c.sent_requests == c.sent());
    c.clock->advance(1s);
    c.pause->demand(c.clock->now());
    const std::size_t before = c.sent();
    c.get();
    CHECK(*c.sent_requests == before);
    for (int i = 0; i < 60; ++i) c.advance(1s);
    CHECK(c.sent() > before);
    CHECK(*c.sent_requests == c.sent());
}

TEST_CASE("HTTP/2: a closed request resets its stream only") {
    MultiplexedClient c;
    MultiplexedRequest& one = c.get();
    MultiplexedRequest& two = c.get();
    c.send(0, h2::settings_frame() + h2::head_frame(1) + h2::head_frame(3));
    SECTION("by its owner") { one.connection->close(); }
    SECTION("by its sink, with an error") {
        one.refuse = true;
        c.send(0, h2::data_frame(1, "x"));
        CHECK(one.ec == errc::malformed_response);
    }
    SECTION("by its sink, which destroys it and others") {
        one.act = [&] {
            const auto destroyed = std::move(one.connection);
            c.begin();
        };
        c.send(0, h2::data_frame(1, "x"));
    }
    c.settle();
    CHECK(c.peer(0).count(h2::rst_stream) == 1);
    c.send(0, h2::data_frame(1, "late") + h2::data_frame(3, "two", h2::end_stream));
    CHECK(two.ec == error_code());
    CHECK(two.body == "two");
}

TEST_CASE("HTTP/2: without memory, the stream of a closed request is reset with later output") {
    MultiplexedClient c;
    MultiplexedRequest& one = c.get();
    MultiplexedRequest& two = c.get();
    c.send(0, h2::settings_frame() + h2::head_frame(1) + h2::head_frame(3));
    test::allocations_fail = true;
    one.connection->close();
    test::allocations_fail = false;
    c.send(0, h2::data_frame(3, "two"));
    CHECK(c.peer(0).count(h2::rst_stream) == 1);
    CHECK(two.body == "two");
    two.connection->close();
    c.settle();
    CHECK(c.peer(0).count(h2::rst_stream) == 2);
}

TEST_CASE("HTTP/2: many closed requests reset their streams over time, and count until then") {
    MultiplexedClient c;
    c.get();
    c.send(0, h2::settings_frame({{h2::max_concurrent_streams, 300}}));
    for (int i = 1; i < 250; ++i) c.begin();
    c.settle();
    REQUIRE(c.peer(0).streams().size() == 250);
    for (MultiplexedRequest& request : c.requests) request.connection->close();
    c.begin().connection->close();  // not yet sent, so its stream needs no reset
    c.settle();
    CHECK(c.peer(0).count(h2::rst_stream) == 100);
    CHECK(c.peer(0).streams().size() == 250);
    // 150 streams are open at the server.
    for (int i = 0; i < 151; ++i) c.begin(StreamUse::brief);
    c.settle();
    CHECK(c.peer(0).streams().size() == 250 + 150);
    CHECK(c.connections() == 2);
    c.advance(1s);
    CHECK(c.peer(0).count(h2::rst_stream) == 200);
    c.advance(1s);
    CHECK(c.peer(0).count(h2::rst_stream) == 250);
    CHECK(c.open_connections() == 2);
}

TEST_CASE("HTTP/2: a server that ends closed requests itself makes room at once") {
    MultiplexedClient c;
    c.get();
    c.send(0, h2::settings_frame({{h2::max_concurrent_streams, 250}}));
    for (int i = 1; i < 250; ++i) c.begin(StreamUse::brief);
    c.settle();
    for (MultiplexedRequest& request : c.requests) request.connection->close();
    c.settle();
    CHECK(c.peer(0).count(h2::rst_stream) == 100);
    const std::vector<std::int32_t> streams = c.peer(0).streams();
    REQUIRE(streams.size() == 250);
    for (std::size_t i = 100; i < streams.size(); ++i) {
        c.send(0, h2::head_frame(streams[i], "200", h2::end_stream));
    }
    for (int i = 0; i < 250; ++i) c.begin(StreamUse::brief);
    c.settle();
    CHECK(c.connections() == 1);
    CHECK(c.peer(0).streams().size() == 500);
    c.advance(3s);
    CHECK(c.peer(0).count(h2::rst_stream) == 100);
}

TEST_CASE("HTTP/2: requests of callbacks in the end of a connection are safe") {
    MultiplexedClient c;
    std::vector<MultiplexedRequest*> all;
    for (int i = 0; i < 5; ++i) all.push_back(&c.get());
    c.send(0, h2::settings_frame());
    all[2]->connection->close();
    c.peer(0).end(asio::error::connection_reset);
    c.settle();
    for (std::size_t i = 0; i < 5; ++i) {
        if (i != 2) CHECK(all[i]->ec == asio::error::connection_reset);
    }
    c.get();
    CHECK(c.connections() == 2);
}

TEST_CASE("HTTP/2: a connection without a request is closed after a while") {
    MultiplexedClient c;
    c.get(StreamUse::brief);
    c.send(0, h2::settings_frame() + h2::head_frame(1, "200", h2::end_stream));
    c.advance(20s);
    CHECK_FALSE(c.peer(0).closed);
    c.get(StreamUse::brief);
    CHECK(c.connections() == 1);
    c.send(0, h2::head_frame(3, "200", h2::end_stream));
    c.advance(10s);
    c.advance(20s);
    CHECK(c.peer(0).closed);
    CHECK(c.peer(0).count(h2::ping) == 0);
}

TEST_CASE("HTTP/2: the end of the pool ends its connections") {
    MultiplexedClient c;
    c.get();
    c.requests.clear();
    c.pool.reset();
    c.settle();
    CHECK(c.peer(0).closed);
}

TEST_CASE("HTTP/2: what breaks the rules is named") {
    MultiplexedClient c;
    MultiplexedRequest& request = c.get();
    c.send(0, "HTTP/1.1 400 Bad Request\r\n\r\n");
    c.settle();
    REQUIRE(request.ec);
    CHECK_THAT(request.why, ContainsSubstring("breaks the rules of HTTP/2"));
    CHECK(c.peer(0).closed);
}

}  // namespace
}  // namespace k8s_sd::detail
