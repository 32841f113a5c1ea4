#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace support {

/// A small HTTP server: one request a connection. It lives until stop(). For one thread.
class HttpServer : public std::enable_shared_from_this<HttpServer> {
 public:
    struct Request {
        std::string_view path;
        std::string_view authorization;
        std::string_view user_agent;
    };
    struct Reply {
        unsigned status = 200;
        std::string body;
    };
    using Handler = std::function<Reply(const Request&)>;

    /// Listens, and answers nobody before start(). \throws std::system_error
    HttpServer(const boost::asio::any_io_executor&, const boost::asio::ip::tcp::endpoint&, Handler);

    void start() { accept(); }
    void stop();  ///< not in the handler
    boost::asio::ip::tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }

 private:
    class Connection;
    void accept();
    void accept_later();

    boost::asio::ip::tcp::acceptor acceptor_;
    boost::asio::steady_timer pause_;
    Handler handler_;
};

/// "127.0.0.1:8080" or "[::1]:0". \throws UsageError
boost::asio::ip::tcp::endpoint listen_address(const std::string& text);

}  // namespace support
