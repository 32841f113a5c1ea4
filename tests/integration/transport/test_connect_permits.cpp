#include "k8s_sd/detail/transport/http_connection.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"
#include "support/slow_connector.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;

/// One request over a connection of its own that fails once it is established.
struct QueuedRequest final : ResponseSink {
    void on_head(const ResponseHead&) override {}
    error_code on_body(std::string_view) override { return {}; }
    void on_connect_wait(bool waits) override {
        notified += waits ? "waits;" : "connects;";
        if (on_wait) on_wait(waits);
    }

    std::string notified;
    std::function<void(bool waits)> on_wait;
    std::unique_ptr<HttpConnection> connection;
    std::optional<error_code> ec;
    std::string text;
};

/// One permit to connect, and attempts that take as long as the test wants.
struct ConnectFixture {
    /// \param takes  nullopt: the attempt hangs
    explicit ConnectFixture(std::optional<Duration> takes = std::nullopt)
        : connector(
              std::make_shared<test::SlowConnector>(nullptr, clock, [takes](const ConnectTarget&) {
                  return test::SlowConnector::Attempt{takes, asio::error::connection_refused};
              })) {}

    void send(QueuedRequest& queued, Duration connect_timeout = 5s,
              PermitQueue::Urgency urgency = PermitQueue::Urgency::normal) {
        if (!queued.connection) {
            queued.connection =
                std::make_unique<HttpConnection>(context.get_executor(), connector, clock);
        }
        HttpRequest request;
        request.text = "GET / HTTP/1.1\r\n\r\n";
        request.connect_timeout = connect_timeout;
        request.connect_permits = permits;
        request.urgency = urgency;
        queued.connection->async_send(target, std::move(request), queued,
                                      [&queued](error_code ec, std::string text) {
                                          queued.ec = ec;
                                          queued.text = std::move(text);
                                      });
        settle();
    }
    void settle() { test::settle(context); }
    void advance(Duration time) { clock->advance(context, time); }
    int connecting() const { return connector->counts()->running; }

    asio::io_context context;
    std::shared_ptr<test::ManualClock> clock = std::make_shared<test::ManualClock>();
    std::shared_ptr<Metrics::Gauge> granted = std::make_shared<Metrics::Gauge>(0);
    std::shared_ptr<Metrics::Gauge> waiting = std::make_shared<Metrics::Gauge>(0);
    std::shared_ptr<PermitQueue> permits = std::make_shared<PermitQueue>(
        PermitQueue::Limit{.permits = 1}, PermitQueue::Gauges{granted, waiting});
    std::shared_ptr<test::SlowConnector> connector;
    HttpConnection::Target target = std::make_shared<ConnectTarget>();
};

}  // namespace

TEST_CASE("Connect permits: the timeout begins with the attempt") {
    ConnectFixture f;
    PermitQueue::Permit other = f.permits->try_permit();
    QueuedRequest queued;
    f.send(queued);
    CHECK(queued.notified == "waits;");
    f.advance(10min);
    CHECK_FALSE(queued.ec);
    CHECK(f.connecting() == 0);
    other.reset();
    f.settle();
    CHECK(queued.notified == "waits;connects;");
    CHECK(f.connecting() == 1);
    f.advance(4s);
    CHECK_FALSE(queued.ec);
    f.advance(1s);
    CHECK(queued.ec == errc::connect_timeout);
    CHECK(queued.text.find("(5 s); it waits for the slow connector") != std::string::npos);
    CHECK(*f.granted == 0);
}

TEST_CASE("Connect permits: an attempt without a timeout takes none, because it might keep it") {
    ConnectFixture f;
    QueuedRequest hanging, queued;
    f.send(hanging, 0s);
    CHECK(*f.granted == 0);
    f.send(queued);
    f.advance(10min);
    CHECK_FALSE(hanging.ec);
    CHECK(queued.ec == errc::connect_timeout);
    CHECK(queued.notified.empty());
}

TEST_CASE("Connect permits: without competition a request does not wait") {
    ConnectFixture f(1s);
    QueuedRequest queued;
    f.send(queued);
    CHECK(*f.granted == 1);
    f.advance(1s);
    CHECK(queued.ec == asio::error::connection_refused);
    CHECK(queued.notified.empty());
    CHECK(*f.granted == 0);
}

TEST_CASE("Connect permits: an attempt gives its permit to the next, however it ends") {
    std::optional<Duration> takes;
    std::function<void(QueuedRequest&)> end = [](QueuedRequest&) {};
    SECTION("failed") { takes = 1s; }
    SECTION("timed out") {}
    SECTION("closed") {
        end = [](QueuedRequest& request) { request.connection->close(); };
    }
    SECTION("destroyed") {
        end = [](QueuedRequest& request) { request.connection.reset(); };
    }
    ConnectFixture f(takes);
    QueuedRequest first, second;
    f.send(first);
    f.send(second);
    CHECK(f.connecting() == 1);
    CHECK(*f.waiting == 1);
    end(first);
    f.advance(takes.value_or(5s));
    CHECK(second.notified == "waits;connects;");
    CHECK(*f.waiting == 0);
    f.advance(1min);
    CHECK(second.ec);
    CHECK(*f.granted == 0);
}

TEST_CASE("Connect permits: a request that ends while it waits leaves the queue") {
    ConnectFixture f;
    PermitQueue::Permit other = f.permits->try_permit();
    QueuedRequest first, second;
    f.send(first);
    f.send(second);
    CHECK(*f.waiting == 2);
    SECTION("closed") { first.connection->close(); }
    SECTION("destroyed") { first.connection.reset(); }
    SECTION("after the grant, before its delivery") {
        other.reset();
        first.connection->close();
    }
    other.reset();
    f.settle();
    CHECK(first.notified == "waits;");
    CHECK(second.notified == "waits;connects;");
    CHECK(f.connecting() == 1);
}

TEST_CASE("Connect permits: a closed connection may wait again, at the end of the queue") {
    ConnectFixture f(1s);
    QueuedRequest running, first, second;
    f.send(running);
    f.send(first);
    f.send(second);
    first.connection->close();
    f.send(first);
    CHECK(*f.waiting == 2);
    f.advance(2s);
    CHECK(second.ec);
    CHECK_FALSE(first.ec);
    CHECK(first.notified == "waits;waits;connects;");
    f.advance(1s);
    CHECK(first.ec);
    CHECK(*f.granted == 0);
}

TEST_CASE("Connect permits: the sink may close the connection or send again at once") {
    for (const bool at : {true, false}) {
        CAPTURE(at);
        ConnectFixture f(1s);
        QueuedRequest running, first, second;
        first.on_wait = [&](bool waits) {
            if (waits == at) first.connection->close();
        };
        f.send(running);
        f.send(first);
        f.send(second);
        f.advance(2s);
        CHECK_FALSE(first.ec);
        CHECK(second.ec);
        CHECK(*f.granted == 0);
        CHECK(*f.waiting == 0);
    }
}

TEST_CASE("Connect permits: an urgent request overtakes the others") {
    ConnectFixture f(1s);
    QueuedRequest running, normal, urgent;
    f.send(running);
    f.send(normal);
    f.send(urgent, 5s, PermitQueue::Urgency::urgent);
    f.advance(1s);
    CHECK(urgent.notified == "waits;connects;");
    CHECK(normal.notified == "waits;");
}

TEST_CASE("Connect permits: a connector that throws keeps no permit") {
    ConnectFixture f;
    struct Throwing final : Connector {
        std::unique_ptr<ByteStream> make_stream(asio::any_io_executor,
                                                const ConnectTarget&) override {
            throw std::runtime_error("no streams today");
        }
    };
    QueuedRequest first, second;
    first.connection = std::make_unique<HttpConnection>(f.context.get_executor(),
                                                        std::make_shared<Throwing>(), f.clock);
    f.send(first);
    f.send(second);
    CHECK(first.ec == errc::connector_failed);
    CHECK(f.connecting() == 1);
}

TEST_CASE("Connect permits: the context may end before the queue") {
    auto f = std::make_optional<ConnectFixture>();
    const auto permits = f->permits;
    const auto waiting = f->waiting;
    PermitQueue::Permit other = permits->try_permit();
    auto queued = std::make_optional<QueuedRequest>();
    f->send(*queued);
    CHECK(*waiting == 1);
    other.reset();  // granted, but the context never delivers it
    queued.reset();
    f.reset();
    CHECK(*waiting == 0);
    CHECK(permits->try_permit());
}

}  // namespace k8s_sd::detail
