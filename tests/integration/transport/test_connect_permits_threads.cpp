#include "k8s_sd/detail/transport/http_connection.hpp"
#include "support/slow_connector.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;

constexpr int attempts_of_each = 100;

/// A client that connects again and again, sometimes with a new connection, and sometimes gives up
/// while it waits.
class RestlessClient final : public ResponseSink {
 public:
    RestlessClient(asio::any_io_executor strand, std::shared_ptr<Connector> connector,
                   std::shared_ptr<PermitQueue> permits, int number)
        : strand_(std::move(strand)),
          connector_(std::move(connector)),
          permits_(std::move(permits)),
          rounds_(number) {
        renew();
    }
    void start() {
        asio::post(strand_, [this] { send(); });
    }
    int finished = 0;

 private:
    void renew() {
        connection_ = std::make_unique<HttpConnection>(strand_, connector_, system_clock());
    }
    void send() {
        if (finished == attempts_of_each) return connection_.reset();
        if (++rounds_ % 7 == 0) renew();
        HttpRequest request;
        request.text = "GET / HTTP/1.1\r\n\r\n";
        request.connect_timeout = 30s;
        request.connect_permits = permits_;
        request.urgency =
            rounds_ % 5 == 0 ? PermitQueue::Urgency::urgent : PermitQueue::Urgency::normal;
        connection_->async_send(target_, std::move(request), *this,
                                [this](error_code ec, const std::string&) {
                                    if (ec == asio::error::connection_refused) ++finished;
                                    send();
                                });
    }
    void on_head(const ResponseHead&) override {}
    error_code on_body(std::string_view) override { return {}; }
    void on_connect_wait(bool waits) override {
        if (++rounds_ % 3 != 0) return;
        connection_->close();
        asio::post(strand_, [this] { send(); });
        if (waits) ++rounds_;
    }

    const asio::any_io_executor strand_;
    const std::shared_ptr<Connector> connector_;
    const std::shared_ptr<PermitQueue> permits_;
    const HttpConnection::Target target_ = std::make_shared<ConnectTarget>();
    std::unique_ptr<HttpConnection> connection_;
    int rounds_;
};

}  // namespace

TEST_CASE("Connect permits: attempts on many threads stay within the limit, and none is lost") {
    asio::io_context context;
    const auto granted = std::make_shared<Metrics::Gauge>(0);
    const auto waiting = std::make_shared<Metrics::Gauge>(0);
    const auto permits = std::make_shared<PermitQueue>(
        PermitQueue::Limit{.permits = 4, .reserved = 1}, PermitQueue::Gauges{granted, waiting});
    const auto connector =
        std::make_shared<test::SlowConnector>(nullptr, system_clock(), [](const ConnectTarget&) {
            return test::SlowConnector::Attempt{50us, asio::error::connection_refused};
        });
    std::vector<std::unique_ptr<RestlessClient>> clients;
    for (int i = 0; i < 24; ++i) {
        clients.push_back(std::make_unique<RestlessClient>(
            asio::make_strand(context.get_executor()), connector, permits, i));
        clients.back()->start();
    }
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { context.run(); });
    threads.clear();
    for (const auto& client : clients) CHECK(client->finished == attempts_of_each);
    CHECK(connector->counts()->most <= 4);
    CHECK(connector->counts()->most >= 3);
    CHECK(connector->counts()->running == 0);
    CHECK(*granted == 0);
    CHECK(*waiting == 0);
}

}  // namespace k8s_sd::detail
