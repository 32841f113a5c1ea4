#include "support/http_server.hpp"

#include "support/command_line.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <utility>

namespace support {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

/// One request, one answer.
class HttpServer::Connection : public std::enable_shared_from_this<Connection> {
 public:
    Connection(asio::ip::tcp::socket socket, std::shared_ptr<HttpServer> server)
        : stream_(std::move(socket)), server_(std::move(server)) {}

    void start() {
        stream_.expires_after(std::chrono::seconds(5));
        http::async_read(stream_, buffer_, request_,
                         [self = shared_from_this()](error_code ec, std::size_t) {
                             if (!ec && self->server_->handler_) self->answer();
                         });
    }

 private:
    void answer() {
        const auto target = request_.target();
        const std::string_view path = std::string_view(target).substr(0, target.find('?'));
        Reply reply = server_->handler_(
            {path, request_[http::field::authorization], request_[http::field::user_agent]});
        response_.result(reply.status);
        response_.set(http::field::content_type, "text/plain; version=0.0.4");
        response_.keep_alive(false);
        response_.body() = std::move(reply.body);
        response_.prepare_payload();
        http::async_write(stream_, response_, [self = shared_from_this()](error_code, std::size_t) {
            error_code ignored;
            self->stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
        });
    }

    boost::beast::tcp_stream stream_;
    std::shared_ptr<HttpServer> server_;
    boost::beast::flat_buffer buffer_;
    http::request<http::empty_body> request_;
    http::response<http::string_body> response_;
};

HttpServer::HttpServer(const asio::any_io_executor& executor,
                       const asio::ip::tcp::endpoint& endpoint, Handler handler)
    : acceptor_(executor, endpoint), pause_(executor), handler_(std::move(handler)) {}

void HttpServer::stop() {
    error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
    // It may own what owns this server, and must not be asked about what is gone.
    handler_ = nullptr;
}

void HttpServer::accept() {
    acceptor_.async_accept(
        [self = shared_from_this()](error_code ec, asio::ip::tcp::socket socket) {
            if (!self->acceptor_.is_open()) return;
            if (ec) return self->accept_later();
            std::make_shared<Connection>(std::move(socket), self)->start();
            self->accept();
        });
}

/// There may be too many open files now.
void HttpServer::accept_later() {
    pause_.expires_after(std::chrono::milliseconds(100));
    pause_.async_wait([self = shared_from_this()](error_code ec) {
        if (!ec && self->acceptor_.is_open()) self->accept();
    });
}

asio::ip::tcp::endpoint listen_address(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    std::string host = text.substr(0, colon == text.npos ? 0 : colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    error_code ec;
    const auto address = asio::ip::make_address(host, ec);
    unsigned short port = 0;
    const char* end = text.data() + text.size();
    const auto [last, error] =
        std::from_chars(text.data() + (colon == text.npos ? text.size() : colon + 1), end, port);
    if (ec || error != std::errc{} || last != end) {
        throw UsageError("must be ADDRESS:PORT, e.g. 127.0.0.1:8080 or [::]:8080");
    }
    return {address, port};
}

}  // namespace support
