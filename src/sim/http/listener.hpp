#pragma once

#include "k8s_sd/environment.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>

namespace k8s_sd::inline v0::sim {

/// Accepts TCP connections on 127.0.0.1. listen() and port() may be called on any thread before
/// the first start(); the other members on the executor.
class Listener : public std::enable_shared_from_this<Listener> {
 public:
    using Accept = std::function<void(asio::ip::tcp::socket)>;

    Listener(asio::any_io_executor, Accept);
    /// \throws boost::system::system_error
    void listen(unsigned short port);
    unsigned short port() const { return port_; }
    void start();
    void stop();
    /// Listens again on the same port after stop().
    void restart();

 private:
    asio::any_io_executor executor_;
    Accept accept_;
    asio::ip::tcp::acceptor acceptor_;
    unsigned short port_ = 0;
};

}  // namespace k8s_sd::inline v0::sim
