#pragma once

#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/sim/builders.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <string>

/// A simulated API server, and an HTTP server that serves the metrics of all its pods.
class Cluster {
 public:
    explicit Cluster(boost::asio::io_context& io)
        : server_(io.get_executor()), pods_(io, {boost::asio::ip::address_v4::loopback(), 0}) {
        server_.listen();  // a free port of 127.0.0.1
        boost::asio::co_spawn(io, serve_metrics(), boost::asio::detached);
    }

    std::string url() const { return server_.url(); }

    void start_pod(const std::string& name, const std::string& scrape) {
        server_.apply(k8s_sd::sim::pod("shop", name)
                          .label("app", "web")
                          .annotation("prometheus.io/scrape", scrape)
                          .ip("127.0.0.1")
                          .container("web", "web:1", pods_.local_endpoint().port()));
    }
    void stop_pod(const std::string& name) { server_.remove("pods", "shop", name); }

 private:
    boost::asio::awaitable<void> serve_metrics() {
        namespace http = boost::beast::http;
        for (int scrapes = 1;; ++scrapes) {
            boost::beast::tcp_stream stream(
                co_await pods_.async_accept(boost::asio::use_awaitable));
            boost::beast::flat_buffer buffer;
            http::request<http::empty_body> request;
            co_await http::async_read(stream, buffer, request, boost::asio::use_awaitable);
            http::response<http::string_body> response(http::status::ok, request.version());
            response.body() = "scrapes_total " + std::to_string(scrapes) + "\n";
            response.prepare_payload();
            co_await http::async_write(stream, response, boost::asio::use_awaitable);
        }
    }

    k8s_sd::sim::ApiServer server_;
    boost::asio::ip::tcp::acceptor pods_;
};
