#include "http/http_server.hpp"

#include "http/http_fields.hpp"
#include "http/http_request.hpp"
#include "http/http_stream.hpp"
#include "k8s_sd/error.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/read_size.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/write.hpp>
#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace http {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

namespace {

/// The text without what makes a YAML mapping of it: OpenTelemetry's collectors read a response of
/// any status as their configuration if it is one.
std::string without_mappings(std::string text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool ends_key = i + 1 == text.size() || text[i + 1] == ' ' || text[i + 1] == '\n';
        if (text[i] == ':' && ends_key) text[i] = ',';
    }
    return text;
}

}  // namespace

/// Processes requests one at a time. The deadline applies to the present operation.
class HttpServer::Connection : public std::enable_shared_from_this<Connection> {
 public:
    using Place = std::list<std::weak_ptr<Connection>>::iterator;

    Connection(asio::ip::tcp::socket socket, std::shared_ptr<HttpServer> server)
        : stream_(std::move(socket), server->tls_ ? server->tls_() : nullptr),
          deadline_(stream_.get_executor()),
          server_(std::move(server)),
          end_of_life_(server_->end_of_life()) {
        client_.gone = gone_;
        error_code ignored;
        client_.address = stream_.socket().remote_endpoint(ignored).address().to_string();
        client_.connection = ++server_->admitted_;
    }
    ~Connection() { leave(); }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// \param place  position in the list of connections, removed at the end
    void start(Place place) {
        place_ = place;
        stream_.is_tls() ? shake_hands() : await_request();
    }
    /// After the response, if one is in progress.
    void stop() {
        last_ = true;
        if (!answering_ || source_ || ending_) return close();
        if (serializer_) allow(server_->limits_.ending, &Connection::give_up);  // being sent
    }
    std::uint64_t number() const { return client_.connection; }
    void evict() { close(); }

 private:
    /// Returns the response from the handler, possibly from another thread.
    class Answer {
     public:
        explicit Answer(std::shared_ptr<Connection> connection)
            : executor_(asio::prefer(connection->stream_.get_executor(),
                                     asio::execution::outstanding_work.tracked)),
              connection_(std::move(connection)) {}
        ~Answer() {
            post([](Connection& connection) {
                connection.fail(500, "an error ended the work on it");
            });
        }
        Answer(const Answer&) = delete;
        Answer& operator=(const Answer&) = delete;

        /// Does nothing after a response.
        void fail(unsigned status, const std::exception& error) {
            post([status, why = k8s_sd::in_words(error)](Connection& connection) {
                connection.fail(status, why);
            });
        }
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
                                   action = std::move(action)]() mutable {
                try {
                    action(*connection);
                } catch (const std::exception&) {  // possibly no memory for another text
                    connection->close();
                }
            });
        }

        const asio::any_io_executor executor_;  // has outstanding work until the response
        std::shared_ptr<Connection> connection_;
    };

    using Response = beast::http::response<beast::http::span_body<const char>>;

    void shake_hands() {
        enter(server_->shaking_hands_);
        allow(server_->limits_.handshake);
        stream_.async_handshake([self = shared_from_this()](error_code ec, std::size_t) {
            if (self->closed_) return;
            if (ec) return self->end();
            self->client_.verified = self->stream_.client_is_verified();
            self->await_request();
        });
    }

    /// Awaits the first request.
    void await_request() {
        enter(server_->silent_);
        next(std::min(server_->limits_.silence, server_->limits_.idle));
    }

    void await_next_request() {
        if (waiting_ != &server_->refused_) enter(server_->idle_);
        next(server_->limits_.idle);
    }

    void next(std::chrono::nanoseconds time) {
        answering_ = false;
        reader_.reset();
        if (buffer_.size() != 0) return read();
        allow(time);
        if (!listening_) listen();
    }

    /// Waits for the first bytes of a request, or for the end of the client. An idle connection has
    /// a small buffer.
    void listen() {
        constexpr std::size_t first_bytes = 512;
        buffer_ = empty_buffer();
        listening_ = true;
        stream_.async_read_some(buffer_.prepare(first_bytes),
                                [self = shared_from_this()](error_code ec, std::size_t bytes) {
                                    self->listening_ = false;
                                    self->on_heard(ec, bytes);
                                });
    }

    /// Limits the kept bytes of a request, without its body.
    boost::beast::flat_buffer empty_buffer() const {
        return boost::beast::flat_buffer(server_->limits_.head_bytes +
                                         server_->limits_.spare_bytes);
    }

    void on_heard(error_code ec, std::size_t bytes) {
        if (ending_) return;
        if (ec) return close();
        // The client of a stream sends nothing more.
        if (source_) return listen();
        buffer_.commit(bytes);
        if (!answering_) read();
    }

    void read() {
        reader_.emplace(server_->limits_.head_bytes, server_->limits_.body_bytes);
        allow(server_->limits_.request);
        take();
    }

    void take() {
        switch (reader_->take(buffer_)) {
            case HttpRequestReader::Progress::more: return read_more();
            case HttpRequestReader::Progress::wants_continue: return send_continue();
            case HttpRequestReader::Progress::complete: return handle();
            case HttpRequestReader::Progress::refused: return refuse(reader_->refusal());
        }
    }

    void read_more() {
        constexpr std::size_t max_at_once = std::size_t{64} << 10;
        const std::size_t room = boost::beast::read_size(buffer_, max_at_once);
        if (room == 0) return refuse({413, "extensions of chunks, or trailers, are too long\n"});
        stream_.async_read_some(buffer_.prepare(room),
                                [self = shared_from_this()](error_code ec, std::size_t bytes) {
                                    if (ec || self->closed_) return self->close();
                                    self->buffer_.commit(bytes);
                                    self->take();
                                });
    }

    void send_continue() {
        constexpr std::string_view answer = "HTTP/1.1 100 Continue\r\n\r\n";
        asio::async_write(stream_, asio::buffer(answer),
                          [self = shared_from_this()](error_code ec, std::size_t) {
                              ec || self->closed_ ? self->close() : self->read_more();
                          });
    }

    /// Ignores all further bytes as requests.
    void refuse(const HttpRefusal& refusal) {
        last_ = true;
        answering_ = true;
        write(text_reply(refusal.status, refusal.text));
    }

    void handle() {
        if (!server_->handler_) return close();
        answering_ = true;
        enter(nowhere_);
        // Most responses are sent before this time.
        allow(server_->limits_.unanswered, &Connection::check_client);
        const HttpRequestReader::Message& request = reader_->message();
        const std::string_view target(request.target().data(), request.target().size());
        const std::size_t end_of_path = std::min(target.find('?'), target.size());
        const std::string_view method(request.method_string().data(),
                                      request.method_string().size());
        const Request asked{method == "HEAD" ? "GET" : method,
                            target.substr(0, end_of_path),
                            target.substr(std::min(end_of_path + 1, target.size())),
                            request.body(),
                            client_,
                            request,
                            method == "HEAD"};
        const auto answer = std::make_shared<Answer>(shared_from_this());
        // An exception of one request must not end the program.
        try {
            server_->handler_(asked, [answer](Reply reply) { answer->give(std::move(reply)); });
        } catch (const std::bad_alloc& e) {
            answer->fail(503, e);
        } catch (const std::exception& e) {
            answer->fail(500, e);
        }
    }

    /// Responds with an error in place of a failed response.
    void fail(unsigned status, const std::string& why) {
        if (closed_ || !server_->handler_) return close();
        write(
            text_reply(status, "the request cannot be answered, " + without_mappings(why) + "\n"));
    }

    /// Frees the resources of a disconnected client. A client with its next request already sent is
    /// still connected.
    void check_client() {
        if (buffer_.size() == 0) listen();
    }

    void write(Reply reply) {
        if (closed_) return;
        // Otherwise a client without access could hold the connection by not taking the response.
        if (reply.status == 401 || reply.status == 403) enter(server_->refused_);
        const HttpRequestReader::Message& request = reader_->message();
        const bool head = request.method() == beast::http::verb::head;
        const bool streams = reply.stream != nullptr;
        body_ = std::move(reply.body);
        source_ = head ? nullptr : std::move(reply.stream);
        response_.emplace();
        response_->result(reply.status);
        response_->version(11);
        response_->set(beast::http::field::date, http_date_now());
        // The body may quote untrusted text: browsers must not treat it as a page.
        response_->set("X-Content-Type-Options", "nosniff");
        for (const auto& [name, value] : reply.headers) response_->set(name, value);
        for (const auto& [name, value] : reply.other_headers) response_->set(name, value);
        const std::size_t size = body_ ? body_->size() : 0;
        const bool has_body = reply.status != 304;
        // HTTP/1.0 has no chunks: the end of the connection is the end of the body.
        chunked_ = streams && request.version() >= 11;
        if (streams) {
            response_->chunked(chunked_);
        } else if (has_body) {
            response_->content_length(size);
            if (size != 0) response_->body() = {body_->data(), size};
        }
        keep_ = !last_ && !streams && request.keep_alive() &&
                std::chrono::steady_clock::now() < end_of_life_;
        response_->keep_alive(keep_);
        serializer_.emplace(*response_);
        head_only_ = head || !has_body || streams;
        serializer_->split(head_only_);
        allow(time_to_take(size), &Connection::give_up);
        write_some();
    }

    void write_some() {
        beast::http::async_write_some(stream_, *serializer_,
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
        if (ec || closed_) return close();
        if (source_) {
            last_ = true;
            if (!listening_) listen();
            return next_piece();
        }
        keep_ && !last_ ? await_next_request() : end();
    }

    void next_piece() {
        body_.reset();
        const auto left = end_of_life_ - std::chrono::steady_clock::now();
        if (left <= left.zero()) return end_stream();
        allow(left, &Connection::end_stream);
        try {
            ask_for_piece();
        } catch (const std::exception&) {  // the client retries
            close();
        }
    }

    void ask_for_piece() {
        source_->next(
            [executor = stream_.get_executor(), weak = weak_from_this()](HttpServer::Text piece) {
                asio::post(executor, [weak, piece = std::move(piece)]() mutable {
                    const auto self = weak.lock();
                    if (self && self->source_) self->write_piece(std::move(piece));
                });
            });
    }

    void write_piece(HttpServer::Text piece) {
        if (!piece) return end_stream();
        if (piece->empty()) return next_piece();
        body_ = std::move(piece);
        allow(time_to_take(body_->size()), &Connection::give_up);
        const auto done = [self = shared_from_this()](error_code ec, std::size_t) {
            if (!self->source_) return;
            ec ? self->close() : self->next_piece();
        };
        if (chunked_) {
            asio::async_write(stream_, beast::http::make_chunk(asio::buffer(*body_)), done);
        } else {
            asio::async_write(stream_, asio::buffer(*body_), done);
        }
    }

    void end_stream() {
        source_.reset();
        if (!chunked_) return end();
        allow(server_->limits_.answer, &Connection::give_up);
        asio::async_write(stream_, beast::http::make_chunk_last(),
                          [self = shared_from_this()](error_code ec, std::size_t) {
                              ec ? self->close() : self->end();
                          });
    }

    /// A client that takes single bytes must not hold them longer than a connection's lifetime.
    std::chrono::nanoseconds time_to_take(std::size_t bytes) const {
        const HttpLimits& limits = server_->limits_;
        const auto time = limits.answer + std::chrono::seconds(bytes / limits.bytes_per_second);
        return std::min<std::chrono::nanoseconds>(time, std::max(limits.age, limits.answer));
    }

    /// Sets the deadline of the present operation; shorter while the server stops.
    void allow(std::chrono::nanoseconds time, void (Connection::*then)() = &Connection::close) {
        if (!server_->handler_) time = std::min(time, server_->limits_.ending);
        deadline_.expires_after(
            std::chrono::duration_cast<std::chrono::steady_clock::duration>(time));
        deadline_.async_wait([weak = weak_from_this(), then](error_code ec) {
            const auto self = weak.lock();
            if (ec || !self || self->closed_) return;
            // Another operation may have begun while this handler was queued.
            if (self->deadline_.expiry() > std::chrono::steady_clock::now()) return;
            (*self.*then)();
        });
    }

    /// Ends the connection after the last response, so the client gets all of it.
    void end() {
        ending_ = true;
        stream_.finish();
        if (closed_ || !server_->handler_) return close();
        allow(server_->limits_.farewell);
        stream_.async_drain(
            [self = shared_from_this()](error_code, std::size_t) { self->close(); });
    }

    /// Discards bytes not taken by the client, including those in the kernel's buffer.
    void give_up() {
        stream_.discard_unsent();
        close();
    }

    void close() {
        closed_ = true;
        *gone_ = true;
        source_.reset();
        stream_.close();
        deadline_.cancel();
        leave();
    }

    /// Allocates nothing.
    void enter(Waiting& list) {
        list.splice(list.end(), *waiting_, position_);
        waiting_ = &list;
    }

    void leave() {
        enter(nowhere_);
        if (place_) server_->connections_.erase(*std::exchange(place_, std::nullopt));
    }

    HttpStream stream_;
    asio::steady_timer deadline_;
    const std::shared_ptr<HttpServer> server_;
    const std::chrono::steady_clock::time_point end_of_life_;
    std::optional<Place> place_;
    Waiting nowhere_{this};  // the list of a connection with a request in progress
    Waiting* waiting_ = &nowhere_;
    const Waiting::iterator position_ = nowhere_.begin();
    const std::shared_ptr<std::atomic<bool>> gone_ = std::make_shared<std::atomic<bool>>(false);
    boost::beast::flat_buffer buffer_;
    std::optional<HttpRequestReader> reader_;
    Client client_;
    Text body_;
    std::shared_ptr<Stream> source_;  // stream of the response in progress
    std::optional<Response> response_;
    std::optional<beast::http::serializer<false, beast::http::span_body<const char>>> serializer_;
    bool listening_ = false;
    bool answering_ = false;
    bool head_only_ = false;
    bool chunked_ = false;
    bool keep_ = true;
    bool last_ = false;    // no further request
    bool ending_ = false;  // no further response
    bool closed_ = false;
};

namespace {

/// The user's remedy for a refused address; empty if the command line offers none.
std::string remedy_of(const error_code& ec) {
    if (ec == asio::error::access_denied) {
        return "; ports below 1024 are for root: choose another --listen";
    }
    if (ec == asio::error::address_in_use) return "; choose another --listen";
    if (ec == boost::system::errc::address_not_available) {
        return "; this machine does not have it: choose another --listen";
    }
    return {};
}

asio::ip::tcp::acceptor listening(const asio::any_io_executor& executor,
                                  const asio::ip::tcp::endpoint& endpoint) {
    try {
        return {executor, endpoint};
    } catch (const boost::system::system_error& e) {
        std::ostringstream text;
        text << "cannot listen at " << endpoint << ": " << k8s_sd::in_words(e.code())
             << remedy_of(e.code());
        throw std::runtime_error(text.str());
    }
}

}  // namespace

HttpServer::HttpServer(const asio::any_io_executor& executor,
                       const asio::ip::tcp::endpoint& endpoint, Handler handler,
                       const HttpLimits& limits, Tls tls)
    : acceptor_(listening(executor, endpoint)),
      pause_(executor),
      handler_(std::move(handler)),
      limits_(limits),
      tls_(std::move(tls)) {}

void HttpServer::stop() {
    error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
    // The handler may own the owner of this server, and must not be called after its destruction.
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
            try {
                self->admit(std::move(socket));
            } catch (const std::exception&) {  // out of memory: the connection is closed
                ++self->refused_connections_;
            }
            self->accept();
        });
}

void HttpServer::admit(asio::ip::tcp::socket socket) {
    if (!make_room()) {
        ++refused_connections_;
        // TLS allows no response before a handshake, the expensive part.
        if (tls_) return;
        // Does not wait: bytes beyond the socket's buffer are lost.
        const std::string answer =
            "HTTP/1.1 503 Service Unavailable\r\nDate: " + http_date_now() +
            "\r\nConnection: close\r\nRetry-After: 5\r\n"
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

/// Makes room for a new client, which could be a probe. Clients with a request in progress stay.
bool HttpServer::make_room() {
    if (tls_ && shaking_hands_.size() >= limits_.handshakes) evict(shaking_hands_);
    if (connections_.size() < limits_.connections) return true;
    Waiting& list = first_to_close();
    if (list.empty()) return false;
    evict(list);
    return true;
}

/// The list with the connection to close. Of new and of idle connections the larger number gives
/// one up, so that neither can displace the other; refused clients have no claim.
HttpServer::Waiting& HttpServer::first_to_close() {
    if (!refused_.empty()) return refused_;
    return idle_.size() > shaking_hands_.size() + silent_.size() ? idle_ : older_of_new();
}

HttpServer::Waiting& HttpServer::older_of_new() {
    if (shaking_hands_.empty()) return silent_;
    const bool shakes =
        silent_.empty() || shaking_hands_.front()->number() < silent_.front()->number();
    return shakes ? shaking_hands_ : silent_;
}

void HttpServer::evict(Waiting& list) {
    ++refused_connections_;
    list.front()->evict();
}

/// Waits after an error for too many open files.
void HttpServer::accept_later() {
    pause_.expires_after(std::chrono::milliseconds(100));
    pause_.async_wait([self = shared_from_this()](error_code ec) {
        if (!ec && self->acceptor_.is_open()) self->accept();
    });
}

/// With jitter, so connections accepted at the same time do not end at the same time.
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
            {{beast::http::field::content_type, type}}};
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
    text << (server.is_tls() ? "https://" : "http://") << server.endpoint();
    return text.str();
}

}  // namespace http
