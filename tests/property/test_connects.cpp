#include "k8s_sd/detail/transport/http_connection.hpp"
#include "property/for_each_seed.hpp"
#include "property/random_cluster.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"
#include "support/slow_connector.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

using k8s_sd::detail::HttpConnection;
using k8s_sd::detail::HttpRequest;
using k8s_sd::detail::PermitQueue;
using k8s_sd::detail::ResponseHead;
using k8s_sd::detail::ResponseSink;

/// Many clients of one server, each on its own strand, that connect, fail, hang, give up and
/// vanish at random.
class ConnectingCrowd {
 public:
    explicit ConnectingCrowd(std::uint64_t seed) : random_(seed) {
        limit_ = {1 + random_.below(6), 0};
        limit_.reserved = random_.below(static_cast<unsigned>(limit_.permits));
        permits_ = std::make_shared<PermitQueue>(limit_, PermitQueue::Gauges{granted_, waiting_});
        for (unsigned i = 2 + random_.below(40); i > 0; --i) {
            clients_.push_back(std::make_unique<Client>(*this));
        }
    }

    void run() {
        for (int step = 0; step < 400; ++step) {
            Client& client = *clients_[random_.below(static_cast<unsigned>(clients_.size()))];
            switch (random_.below(8)) {
                case 0: client.close(); break;
                case 1: client.renew(); break;
                default: client.send(random_.one_in(4));
            }
            for (unsigned i = random_.below(5); i > 0; --i) context_.poll_one();
            context_.restart();
            if (random_.one_in(3)) clock_->advance(context_, 1ms * random_.below(3000));
            check();
        }
        // No client starves: an attempt lasts as long as its timeout at most.
        const std::size_t turns = clients_.size() / (limit_.permits - limit_.reserved) + 2;
        for (std::size_t i = 0; i < turns; ++i) clock_->advance(context_, connect_timeout);
        for (const auto& client : clients_) CHECK_FALSE(client->busy);
        CHECK(*granted_ == 0);
        CHECK(*waiting_ == 0);
        CHECK(connector_->counts()->running == 0);
    }

 private:
    static constexpr Duration connect_timeout = 2s;

    class Client final : public ResponseSink {
     public:
        explicit Client(ConnectingCrowd& crowd)
            : crowd_(crowd), strand_(asio::make_strand(crowd.context_)) {
            renew();
        }
        ~Client() { connection_.reset(); }
        Client(const Client&) = delete;
        Client& operator=(const Client&) = delete;
        void renew() {
            leave();
            connection_ =
                std::make_unique<HttpConnection>(strand_, crowd_.connector_, crowd_.clock_);
        }
        void close() {
            leave();
            connection_->close();
        }
        void send(bool urgent) {
            if (busy) return;
            busy = true;
            urgent_ = urgent;
            HttpRequest request;
            request.text = "GET / HTTP/1.1\r\n\r\n";
            request.connect_timeout = connect_timeout;
            request.connect_permits = crowd_.permits_;
            request.urgency = urgent ? PermitQueue::Urgency::urgent : PermitQueue::Urgency::normal;
            connection_->async_send(
                crowd_.target_, std::move(request), *this,
                [this](error_code ec, const std::string&) {
                    CHECK((ec == errc::connect_timeout || ec == asio::error::connection_refused));
                    busy = false;
                });
        }

        bool busy = false;

     private:
        void leave() {
            busy = false;
            std::erase(line(), this);
        }
        std::deque<Client*>& line() { return urgent_ ? crowd_.urgent_ : crowd_.normal_; }
        void on_connect_wait(bool waits) override {
            CHECK(busy);
            if (waits) return line().push_back(this);
            // First come, first served; granted requests run in the order of the strands.
            const auto ahead = std::find(line().begin(), line().end(), this) - line().begin();
            CHECK(static_cast<std::size_t>(ahead) < crowd_.limit_.permits);
            std::erase(line(), this);
        }
        void on_head(const ResponseHead&) override {}
        error_code on_body(std::string_view) override { return {}; }

        ConnectingCrowd& crowd_;
        const asio::any_io_executor strand_;
        std::unique_ptr<HttpConnection> connection_;
        bool urgent_ = false;
    };

    void check() {
        const auto granted = static_cast<std::size_t>(*granted_);
        CHECK(granted <= limit_.permits);
        CHECK(static_cast<std::size_t>(connector_->counts()->running) <= granted);
        // No permit is idle while a request waits for one.
        test::settle(context_);
        const auto in_use = static_cast<std::size_t>(*granted_);
        if (!urgent_.empty()) CHECK(in_use == limit_.permits);
        if (!normal_.empty()) CHECK(in_use >= limit_.permits - limit_.reserved);
        CHECK(static_cast<std::size_t>(*waiting_) == urgent_.size() + normal_.size());
    }

    Random random_;
    PermitQueue::Limit limit_;
    asio::io_context context_;
    std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
    std::shared_ptr<Metrics::Gauge> granted_ = std::make_shared<Metrics::Gauge>(0);
    std::shared_ptr<Metrics::Gauge> waiting_ = std::make_shared<Metrics::Gauge>(0);
    std::shared_ptr<PermitQueue> permits_;
    std::shared_ptr<SlowConnector> connector_ = std::make_shared<
        SlowConnector>(nullptr, clock_, [this](const ConnectTarget&) {
        SlowConnector::Attempt attempt{1ms * random_.below(3000), asio::error::connection_refused};
        if (random_.one_in(4)) attempt.takes.reset();
        return attempt;
    });
    HttpConnection::Target target_ = std::make_shared<ConnectTarget>();
    std::deque<Client*> urgent_;  ///< those that wait
    std::deque<Client*> normal_;
    std::vector<std::unique_ptr<Client>> clients_;
};

}  // namespace

TEST_CASE("Connects: their bound holds, no permit is idle or lost, and no request starves") {
    for_each_seed("CONNECTS", 100, [&](std::uint64_t seed) { ConnectingCrowd(seed).run(); });
}
