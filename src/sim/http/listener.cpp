#include "sim/http/listener.hpp"

#include <utility>

namespace k8s_sd::inline v0::sim {
using asio::ip::tcp;

Listener::Listener(asio::any_io_executor executor, Accept accept)
    : executor_(std::move(executor)), accept_(std::move(accept)), acceptor_(executor_) {}

void Listener::listen(unsigned short port) {
    const tcp::endpoint endpoint(asio::ip::address_v4::loopback(), port);
    acceptor_.open(endpoint.protocol());
    acceptor_.set_option(tcp::acceptor::reuse_address(true));
    acceptor_.bind(endpoint);
    acceptor_.listen();
    port_ = acceptor_.local_endpoint().port();
}

void Listener::start() {
    acceptor_.async_accept(executor_, [weak = weak_from_this()](error_code ec, tcp::socket socket) {
        const auto self = weak.lock();
        if (!self || !self->acceptor_.is_open()) return;
        if (!ec) self->accept_(std::move(socket));
        self->start();
    });
}

void Listener::stop() {
    error_code ignored;
    acceptor_.close(ignored);
}

void Listener::restart() {
    if (acceptor_.is_open()) return;
    listen(port_);
    start();
}

}  // namespace k8s_sd::inline v0::sim
