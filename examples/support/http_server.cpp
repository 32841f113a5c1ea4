#include "support/http_server.hpp"

#include "support/command_line.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

namespace support {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

/// Request after request, one at a time.
class HttpServer::Connection : public std::enable_shared_from_this<Connection> {
 public:
    using Place = std::list<std::weak_ptr<Connection>>::iterator;

    Connection(asio::ip::tcp::socket socket, std::shared_ptr<HttpServer> server)
        : stream_(std::move(socket)),
          server_(std::move(server)),
          end_of_life_(server_->end_of_life()) {
        error_code ignored;
        client_.address = stream_.socket().remote_endpoint(ignored).address().to_string();
        client_.connection = ++server_->admitted_;
    }
    ~Connection() { server_->connections_.erase(place_); }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// \param place  in the list of connections, which is left at the end
    void start(Place place) {
        place_ = place;
        next();
    }
    /// After the answer, if one is under way.
    void stop() {
        last_ = true;
        if (!answering_ || source_) end_stream();
    }

 private:
    /// The way back from the handler, which may be in another thread.
    class Answer {
     public:
        explicit Answer(std::shared_ptr<Connection> connection)
            : executor_(asio::prefer(connection->stream_.get_executor(),
                                     asio::execution::outstanding_work.tracked)),
              connection_(std::move(connection)) {}
        ~Answer() {
            post([](Connection& connection) { connection.stream_.close(); });
        }
        Answer(const Answer&) = delete;
        Answer& operator=(const Answer&) = delete;

        void give(Reply reply) {
            post([reply = std::move(reply)](Connection& connection) mutable {
                connection.write(std::move(reply));
            });
        }

     private:
        template <class Action>
        void post(Action action) {
            if (!connection_) return;
            asio::post(executor_, [connection = std::exchange(connection_, nullptr),
                                   action = std::move(action)]() mutable { action(*connection); });
        }

        const asio::any_io_executor executor_;  // has work to do until the answer is given
        std::shared_ptr<Connection> connection_;
    };

    using Response = http::response<http::span_body<const char>>;

    /// An idle connection has a small buffer and a patience of its own.
    void next() {
        parser_.reset();
        if (buffer_.size() != 0) return read();
        buffer_ = {};
        constexpr std::size_t first_bytes = 512;
        stream_.expires_after(server_->limits_.idle);
        stream_.async_read_some(buffer_.prepare(first_bytes),
                                [self = shared_from_this()](error_code ec, std::size_t bytes) {
                                    if (ec) return;
                                    self->buffer_.commit(bytes);
                                    self->read();
                                });
    }

    void read() {
        parser_.emplace();
        parser_->header_limit(static_cast<std::uint32_t>(server_->limits_.head_bytes));
        parser_->body_limit(server_->limits_.body_bytes);
        stream_.expires_after(server_->limits_.request);
        http::async_read(stream_, buffer_, *parser_,
                         [self = shared_from_this()](error_code ec, std::size_t) {
                             ec ? self->refuse(ec) : self->handle();
                         });
    }

    /// Says what is wrong with a request that cannot be read, and ends the connection.
    void refuse(error_code ec) {
        const bool http_error =
            ec.category() == make_error_code(http::error::bad_method).category();
        if (!http_error || ec == http::error::end_of_stream || ec == http::error::partial_message) {
            return;
        }
        last_ = true;
        answering_ = true;
        if (ec == http::error::header_limit) {
            return write(text_reply(431, "the request line and headers are too long\n"));
        }
        if (ec == http::error::body_limit) {
            return write(text_reply(413, "the body of the request is too long\n"));
        }
        write(text_reply(400, "this is no HTTP request: " + ec.message() + "\n"));
    }

    void handle() {
        if (!server_->handler_) return;
        answering_ = true;
        stream_.expires_never();
        const http::request<http::string_body>& request = parser_->get();
        const std::string_view target(request.target().data(), request.target().size());
        const std::size_t end_of_path = std::min(target.find('?'), target.size());
        const std::string_view method(request.method_string().data(),
                                      request.method_string().size());
        const Request asked{method == "HEAD" ? "GET" : method,
                            target.substr(0, end_of_path),
                            target.substr(std::min(end_of_path + 1, target.size())),
                            request.body(),
                            client_,
                            request};
        if (!target.starts_with('/')) {
            return write(text_reply(400, "the target of a request must begin with /\n"));
        }
        const auto answer = std::make_shared<Answer>(shared_from_this());
        server_->handler_(asked, [answer](Reply reply) { answer->give(std::move(reply)); });
    }

    void write(Reply reply) {
        const bool head = parser_->get().method() == http::verb::head;
        body_ = std::move(reply.body);
        source_ = head ? nullptr : std::move(reply.stream);
        response_.emplace();
        response_->result(reply.status);
        response_->version(11);
        // Texts of strangers may be in it: no browser shall take it for a page.
        response_->set("X-Content-Type-Options", "nosniff");
        for (const auto& [name, value] : reply.headers) response_->set(name, value);
        for (const auto& [name, value] : reply.other_headers) response_->set(name, value);
        const std::size_t size = body_ ? body_->size() : 0;
        const bool has_body = reply.status != 304;
        // Old clients know no chunks: the end of the connection is the end of the body.
        chunked_ = source_ && parser_->get().version() >= 11;
        if (source_) {
            response_->chunked(chunked_);
        } else if (has_body) {
            response_->content_length(size);
            if (size != 0) response_->body() = {body_->data(), size};
        }
        keep_ = !last_ && !source_ && parser_->is_done() && parser_->get().keep_alive() &&
                std::chrono::steady_clock::now() < end_of_life_;
        response_->keep_alive(keep_);
        serializer_.emplace(*response_);
        head_only_ = head || !has_body || source_;
        serializer_->split(head_only_);
        write_some();
    }

    /// As long as the client takes something, it has time.
    void write_some() {
        stream_.expires_after(server_->limits_.answer);
        http::async_write_some(stream_, *serializer_,
                               [self = shared_from_this()](error_code ec, std::size_t) {
                                   if (!ec && !self->is_written()) return self->write_some();
                                   self->on_written(ec);
                               });
    }

    bool is_written() {
        return head_only_ ? serializer_->is_header_done() : serializer_->is_done();
    }

    void on_written(error_code ec) {
        serializer_.reset();
        response_.reset();
        body_.reset();
        if (ec) return end_stream();
        if (source_) {
            last_ = true;
            watch_client();
            return next_piece();
        }
        answering_ = false;
        if (keep_ && !last_) return next();
        error_code ignored;
        stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    }

    /// Who reads a stream says nothing more: its next word is that it is gone.
    void watch_client() {
        stream_.expires_never();
        buffer_ = {};
        constexpr std::size_t small = 512;
        stream_.async_read_some(buffer_.prepare(small),
                                [self = shared_from_this()](error_code ec, std::size_t) {
                                    if (!self->source_) return;
                                    ec ? self->end_stream() : self->watch_client();
                                });
    }

    void next_piece() {
        source_->next(
            [executor = stream_.get_executor(), weak = weak_from_this()](HttpServer::Text piece) {
                asio::post(executor, [weak, piece = std::move(piece)]() mutable {
                    const auto self = weak.lock();
                    if (self && self->source_) self->write_piece(std::move(piece));
                });
            });
    }

    void write_piece(HttpServer::Text piece) {
        if (piece && piece->empty()) return next_piece();
        const bool end = !piece;
        body_ = std::move(piece);
        stream_.expires_after(server_->limits_.answer);
        const auto done = [self = shared_from_this(), end](error_code ec, std::size_t) {
            if (!self->source_) return;
            ec || end ? self->end_stream() : self->next_piece();
        };
        if (end && !chunked_) {
            end_stream();
        } else if (end) {
            asio::async_write(stream_, http::make_chunk_last(), done);
        } else if (chunked_) {
            asio::async_write(stream_, http::make_chunk(asio::buffer(*body_)), done);
        } else {
            asio::async_write(stream_, asio::buffer(*body_), done);
        }
    }

    void end_stream() {
        source_.reset();
        stream_.close();
    }

    boost::beast::tcp_stream stream_;
    const std::shared_ptr<HttpServer> server_;
    const std::chrono::steady_clock::time_point end_of_life_;
    Place place_{};
    boost::beast::flat_buffer buffer_;
    std::optional<http::request_parser<http::string_body>> parser_;
    Client client_;
    Text body_;
    std::shared_ptr<Stream> source_;  // of the answer that is being written
    std::optional<Response> response_;
    std::optional<http::serializer<false, http::span_body<const char>>> serializer_;
    bool answering_ = false;
    bool head_only_ = false;
    bool chunked_ = false;
    bool keep_ = true;
    bool last_ = false;  // no request follows
};

HttpServer::HttpServer(const asio::any_io_executor& executor,
                       const asio::ip::tcp::endpoint& endpoint, Handler handler,
                       const HttpLimits& limits)
    : acceptor_(executor, endpoint),
      pause_(executor),
      handler_(std::move(handler)),
      limits_(limits) {}

void HttpServer::stop() {
    error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
    // It may own what owns this server, and must not be asked about what is gone.
    handler_ = nullptr;
    std::vector<std::shared_ptr<Connection>> connections;
    for (const auto& connection : connections_) connections.push_back(connection.lock());
    for (const auto& connection : connections) {
        if (connection) connection->stop();
    }
}

void HttpServer::accept() {
    acceptor_.async_accept(
        [self = shared_from_this()](error_code ec, asio::ip::tcp::socket socket) {
            if (!self->acceptor_.is_open()) return;
            if (ec) return self->accept_later();
            self->admit(std::move(socket));
            self->accept();
        });
}

void HttpServer::admit(asio::ip::tcp::socket socket) {
    if (connections_.size() >= limits_.connections) {
        // Nothing is waited for: what does not fit into the socket at once is lost.
        constexpr std::string_view answer =
            "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\n"
            "Content-Type: text/plain\r\nContent-Length: 28\r\n\r\ntoo many clients connected\r\n";
        error_code ignored;
        socket.non_blocking(true, ignored);
        socket.write_some(asio::buffer(answer), ignored);
        return;
    }
    const auto connection = std::make_shared<Connection>(std::move(socket), shared_from_this());
    connections_.push_back(connection);
    connection->start(std::prev(connections_.end()));
}

/// There may be too many open files now.
void HttpServer::accept_later() {
    pause_.expires_after(std::chrono::milliseconds(100));
    pause_.async_wait([self = shared_from_this()](error_code ec) {
        if (!ec && self->acceptor_.is_open()) self->accept();
    });
}

/// So that connections that were made at one time do not end at one time.
std::chrono::steady_clock::time_point HttpServer::end_of_life() {
    std::uniform_real_distribution<double> jitter(0.9, 1.1);
    const auto age = std::chrono::duration<double>(limits_.age) * jitter(random_);
    return std::chrono::steady_clock::now() +
           std::chrono::duration_cast<std::chrono::steady_clock::duration>(age);
}

namespace {

HttpServer::Reply reply_of(unsigned status, std::string text, const char* type) {
    return {status,
            std::make_shared<const std::string>(std::move(text)),
            {{http::field::content_type, type}}};
}

}  // namespace

HttpServer::Reply text_reply(unsigned status, std::string text) {
    return reply_of(status, std::move(text), "text/plain; charset=utf-8");
}

HttpServer::Reply metrics_reply(std::string text) {
    return reply_of(200, std::move(text), "text/plain; version=0.0.4; charset=utf-8");
}

std::string url_of(const HttpServer& server) {
    std::ostringstream text;
    text << "http://" << server.endpoint();
    return text.str();
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
