#pragma once

#include "http/http_server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

/// A server and its clients in one process.
namespace http_loopback {

namespace asio = boost::asio;
using asio::ip::tcp;
using http::HttpLimits;
using http::HttpServer;
using http::text_reply;

inline const tcp::endpoint any_port(asio::ip::address_v4::loopback(), 0);

inline void echo(const HttpServer::Request& request, const HttpServer::Respond& respond) {
    respond(text_reply(200, std::string(request.method) + " " + std::string(request.path) + "?" +
                                std::string(request.query)));
}

/// A server in a separate thread.
class Running {
 public:
    explicit Running(HttpServer::Handler handler = echo, const HttpLimits& limits = {},
                     HttpServer::Tls tls = {})
        : server_(std::make_shared<HttpServer>(io_.get_executor(), any_port, std::move(handler),
                                               limits, std::move(tls))),
          endpoint_(server_->endpoint()),
          thread_([this] {
              server_->start();
              io_.run();
          }) {}
    ~Running() { stop(); }

    void stop() {
        asio::post(io_, [this] { server_->stop(); });
        if (thread_.joinable()) thread_.join();
    }
    tcp::endpoint endpoint() const { return endpoint_; }
    asio::any_io_executor executor() { return io_.get_executor(); }

 private:
    asio::io_context io_;
    std::shared_ptr<HttpServer> server_;
    tcp::endpoint endpoint_;
    std::jthread thread_;
};

class Client {
 public:
    explicit Client(const Running& server) : socket_(io_) { socket_.connect(server.endpoint()); }

    /// Closes the connection without a response.
    void leave() { socket_.close(); }
    tcp::socket& socket() { return socket_; }
    void send(const std::string& text) { asio::write(socket_, asio::buffer(text)); }
    /// The head of the next answer.
    std::string head() {
        const std::size_t size = asio::read_until(socket_, asio::dynamic_buffer(read_), "\r\n\r\n");
        return take(size);
    }
    std::string body(std::size_t size) {
        if (read_.size() < size) {
            asio::read(socket_, asio::dynamic_buffer(read_),
                       asio::transfer_exactly(size - read_.size()));
        }
        return take(size);
    }
    /// All bytes until the server closes the connection.
    std::string rest() {
        boost::system::error_code ec;
        asio::read(socket_, asio::dynamic_buffer(read_), ec);
        return std::exchange(read_, {});
    }

 private:
    std::string take(std::size_t size) {
        std::string text = read_.substr(0, size);
        read_.erase(0, size);
        return text;
    }

    asio::io_context io_;
    tcp::socket socket_;
    std::string read_;
};

inline std::string get(const std::string& target) {
    return "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n";
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace http_loopback
