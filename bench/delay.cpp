#include "delay.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <cstdlib>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace bench {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Socket = std::shared_ptr<tcp::socket>;
using Clock = std::chrono::steady_clock;

/// One direction of a connection. Reads without limit, so the delay does not bound the rate.
class DelayedWay : public std::enable_shared_from_this<DelayedWay> {
 public:
    DelayedWay(Socket from, Socket to, std::chrono::milliseconds delay)
        : from_(std::move(from)), to_(std::move(to)), delay_(delay), timer_(to_->get_executor()) {}

    void read() {
        std::vector<char> room(256 * 1024);
        const auto buffer = asio::buffer(room);
        from_->async_read_some(buffer, [self = shared_from_this(), bytes = std::move(room)](
                                           const auto& ec, std::size_t size) mutable {
            bytes.resize(ec ? 0 : size);  // empty: the end
            self->parts_.emplace_back(Clock::now() + self->delay_, std::move(bytes));
            if (self->parts_.size() == 1) self->wait();
            if (!ec) self->read();
        });
    }

 private:
    void wait() {
        timer_.expires_at(parts_.front().first);
        timer_.async_wait([self = shared_from_this()](const auto&) { self->write(); });
    }
    void write() {
        if (parts_.front().second.empty()) return to_->close();
        asio::async_write(*to_, asio::buffer(parts_.front().second),
                          [self = shared_from_this()](const auto& ec, std::size_t) {
                              if (ec) return self->from_->close();
                              self->parts_.pop_front();
                              if (!self->parts_.empty()) self->wait();
                          });
    }

    const Socket from_, to_;
    const std::chrono::milliseconds delay_;
    asio::steady_timer timer_;
    std::deque<std::pair<Clock::time_point, std::vector<char>>> parts_;
};

void accept(tcp::acceptor& acceptor, unsigned short to, std::chrono::milliseconds delay) {
    acceptor.async_accept([&acceptor, to, delay](const auto& ec, tcp::socket socket) {
        if (ec) std::abort();  // too few descriptors
        const auto client = std::make_shared<tcp::socket>(std::move(socket));
        const auto server = std::make_shared<tcp::socket>(acceptor.get_executor());
        server->connect({asio::ip::address_v4::loopback(), to});
        client->set_option(tcp::no_delay(true));
        server->set_option(tcp::no_delay(true));
        std::make_shared<DelayedWay>(client, server, delay)->read();
        std::make_shared<DelayedWay>(server, client, delay)->read();
        accept(acceptor, to, delay);
    });
}

}  // namespace

Delay delay(unsigned short to, std::chrono::milliseconds each_way) {
    unsigned short port = 0;
    const Child child = start_child(port, [&](int, const auto& report) {
        asio::io_context context;
        tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
        accept(acceptor, to, each_way);
        report(acceptor.local_endpoint().port());
        context.run();
    });
    return {child, port};
}

}  // namespace bench
