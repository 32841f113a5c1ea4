#include "metrics_server.hpp"

#include <boost/asio/ip/address_v4.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <utility>

namespace scraper {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

/// One request, one answer.
class MetricsServer::Connection : public std::enable_shared_from_this<Connection> {
 public:
    Connection(asio::ip::tcp::socket socket, std::shared_ptr<MetricsServer> server)
        : stream_(std::move(socket)), server_(std::move(server)) {}

    void start() {
        stream_.expires_after(std::chrono::seconds(5));
        http::async_read(stream_, buffer_, request_,
                         [self = shared_from_this()](error_code ec, std::size_t) {
                             if (!ec) self->answer();
                         });
    }

 private:
    void answer() {
        const auto authorization = request_[http::field::authorization];
        const bool good = !server_->tokens_ || server_->tokens_->accepts(authorization);
        response_.result(good ? http::status::ok : http::status::unauthorized);
        response_.set(http::field::content_type, "text/plain; version=0.0.4");
        response_.keep_alive(false);
        if (good) response_.body() = server_->metrics();
        response_.prepare_payload();
        http::async_write(stream_, response_, [self = shared_from_this()](error_code, std::size_t) {
            error_code ignored;
            self->stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
        });
    }

    boost::beast::tcp_stream stream_;
    std::shared_ptr<MetricsServer> server_;
    boost::beast::flat_buffer buffer_;
    http::request<http::empty_body> request_;
    http::response<http::string_body> response_;
};

MetricsServer::MetricsServer(const asio::any_io_executor& executor, std::string name,
                             std::shared_ptr<const AcceptedTokens> tokens)
    : acceptor_(executor, {asio::ip::address_v4::loopback(), 0}),
      name_(std::move(name)),
      tokens_(std::move(tokens)) {}

void MetricsServer::stop() {
    error_code ignored;
    acceptor_.close(ignored);
}

void MetricsServer::accept() {
    acceptor_.async_accept(
        [self = shared_from_this()](error_code ec, asio::ip::tcp::socket socket) {
            if (ec) return;
            std::make_shared<Connection>(std::move(socket), self)->start();
            self->accept();
        });
}

std::string MetricsServer::metrics() {
    ++scrapes_;
    return "# HELP scrapes_total How often this was scraped.\n"
           "# TYPE scrapes_total counter\n"
           "scrapes_total " +
           std::to_string(scrapes_) +
           "\n# HELP program_info The program.\n"
           "# TYPE program_info gauge\n"
           "program_info{name=\"" +
           name_ + "\"} 1\n";
}

}  // namespace scraper
