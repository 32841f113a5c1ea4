#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/fields.hpp>
#include <openssl/types.h>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace http {

/// Limits of a client's resources.
struct HttpLimits {
    std::size_t head_bytes = std::size_t{16} << 10;  ///< limit of a request
    std::size_t body_bytes = std::size_t{64} << 10;  ///< limit of a request
    /// Buffer for undecoded bytes of a request besides the head: the bytes between and after the
    /// chunks of a body.
    std::size_t spare_bytes = std::size_t{4} << 10;
    std::chrono::nanoseconds request = std::chrono::seconds(10);  ///< timeout from its first byte
    /// Time for a client to take a response, or a piece of a stream, plus time in proportion to its
    /// length; at most `age` in total.
    std::chrono::nanoseconds answer = std::chrono::seconds(60);
    std::size_t bytes_per_second = std::size_t{64} << 10;           ///< minimum rate of a client
    std::chrono::nanoseconds handshake = std::chrono::seconds(10);  ///< of TLS
    std::size_t handshakes = 1000;  ///< maximum at a time; beyond it the oldest one ends
    /// A client without a response for this time is checked for a disconnect.
    std::chrono::nanoseconds unanswered = std::chrono::seconds(1);
    /// Timeout for the client to close its side after the last response.
    std::chrono::nanoseconds farewell = std::chrono::seconds(2);
    /// Timeout of the first request.
    std::chrono::nanoseconds silence = std::chrono::seconds(10);
    std::chrono::nanoseconds idle = std::chrono::minutes(5);  ///< between two requests
    /// About this time after its start, a connection ends with the next response, so clients of
    /// several servers behind one address are spread over all of them again. A stream ends then.
    std::chrono::nanoseconds age = std::chrono::minutes(10);
    /// Beyond it a connection without a request in progress ends; if there is none, new ones get
    /// 503.
    std::size_t connections = 10'000;
    /// Time after stop() for responses in progress.
    std::chrono::nanoseconds ending = std::chrono::seconds(5);
};

/// A small HTTP/1.1 server. Lives until stop(). For one thread or strand, that of its executor.
class HttpServer : public std::enable_shared_from_this<HttpServer> {
 public:
    using Text = std::shared_ptr<const std::string>;
    /// True once the client is known to have gone. Any thread.
    using Gone = std::shared_ptr<const std::atomic<bool>>;

    /// The client of a request.
    struct Client {
        std::string address;           ///< without the port
        std::uint64_t connection = 0;  ///< unique number of the connection
        bool verified = false;         ///< whether it has presented a valid certificate
        Gone gone{};                   ///< null: disconnects are not detected
    };

    /// Valid during the call of the handler.
    struct Request {
        std::string_view method;  ///< GET for HEAD; the body of the response is omitted
        std::string_view path;    ///< as sent, percent-encoded
        std::string_view query;   ///< as sent; empty without '?'
        std::string_view body;
        const Client& client;
        const boost::beast::http::fields& headers;
        bool head_only = false;  ///< the body of the response is omitted

        /// The value of a header; empty if there is none.
        std::string_view header(boost::beast::http::field name) const {
            const auto value = headers[name];
            return {value.data(), value.size()};
        }
        std::string_view header(std::string_view name) const {
            const auto value = headers[name];
            return {value.data(), value.size()};
        }
    };

    /// A body of unknown length: its pieces are made as the client takes them.
    class Stream {
     public:
        /// \param piece  null: end of the body
        using OnPiece = std::function<void(Text piece)>;

        virtual ~Stream() = default;
        /// Requests the next piece, after the client has taken the previous one. Called on the
        /// server's executor, and not again before `OnPiece` has been called, once, now or later,
        /// in any thread. The stream of a disconnected client is destroyed; later calls do nothing.
        virtual void next(OnPiece) = 0;
    };

    struct Reply {
        unsigned status = 200;
        Text body{};  ///< may be shared by any number of replies; null: empty
        std::vector<std::pair<boost::beast::http::field, std::string>> headers{};
        /// Headers without a value in `field`.
        std::vector<std::pair<std::string, std::string>> other_headers{};
        /// Replaces the body; the last response of a connection.
        std::shared_ptr<Stream> stream{};
    };

    /// Must be called once, now or later, in any thread. The response is 500 if the handler drops
    /// it, and 500 or 503 if the handler throws.
    using Respond = std::function<void(Reply)>;
    using Handler = std::function<void(const Request&, const Respond&)>;

    /// The TLS context for the next connection.
    using Tls = std::function<SSL_CTX*()>;

    /// Listens, but does not respond before start().
    /// \throws std::runtime_error with the address and the reason if it cannot listen
    /// \param tls  empty: plain HTTP
    HttpServer(const boost::asio::any_io_executor&, const boost::asio::ip::tcp::endpoint&, Handler,
               const HttpLimits& = {}, Tls tls = {});

    void start() { accept(); }
    /// Must not be called in the handler. Pending responses are sent to clients that take them
    /// soon, then connections are closed; streams end at once.
    void stop();
    boost::asio::ip::tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }
    bool is_tls() const { return tls_ != nullptr; }
    std::size_t connections() const { return connections_.size(); }
    /// Number of clients refused, or disconnected to make room.
    std::uint64_t refused_connections() const { return refused_connections_; }

 private:
    class Connection;
    /// Connections in the order of their entry.
    using Waiting = std::list<Connection*>;
    void accept();
    void accept_later();
    void admit(boost::asio::ip::tcp::socket);
    bool make_room();
    Waiting& older_of_new();
    Waiting& first_to_close();
    void evict(Waiting&);
    std::chrono::steady_clock::time_point end_of_life();

    boost::asio::ip::tcp::acceptor acceptor_;
    boost::asio::steady_timer pause_;
    Handler handler_;
    const HttpLimits limits_;
    const Tls tls_;
    std::list<std::weak_ptr<Connection>> connections_;
    // Connections without a request in progress. They may be closed to make room.
    Waiting shaking_hands_;  ///< in the TLS handshake
    Waiting silent_;         ///< past the handshake, without a complete request so far
    Waiting refused_;        ///< with the refusal of a request as the latest response
    Waiting idle_;           ///< with any other response
    std::uint64_t admitted_ = 0;
    std::uint64_t refused_connections_ = 0;
    std::minstd_rand random_{std::random_device()()};
};

/// A reply of plain text.
HttpServer::Reply text_reply(unsigned status, std::string text);

/// Metrics in Prometheus' text format.
HttpServer::Reply metrics_reply(std::string text);

/// "http://127.0.0.1:8080", "https://…"
std::string url_of(const HttpServer&);

}  // namespace http
