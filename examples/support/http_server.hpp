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

namespace support {

/// What a client may cost.
struct HttpLimits {
    std::size_t head_bytes = std::size_t{16} << 10;  ///< of a request
    std::size_t body_bytes = std::size_t{64} << 10;  ///< of a request
    /// Of a request that has been read and not understood yet, besides the head: what stands
    /// between the chunks of a body and behind them.
    std::size_t spare_bytes = std::size_t{4} << 10;
    std::chrono::nanoseconds request = std::chrono::seconds(10);  ///< from its first byte on
    /// To take an answer, or a piece of a stream, and as much again for what it is long; not more
    /// than `age` in all.
    std::chrono::nanoseconds answer = std::chrono::seconds(60);
    std::size_t bytes_per_second = std::size_t{64} << 10;  ///< that the slowest client takes
    std::chrono::nanoseconds handshake = std::chrono::seconds(10);  ///< of TLS
    std::size_t handshakes = 1000;  ///< at a time; beyond it the oldest one ends
    /// After so long without an answer it is looked whether the client is still there.
    std::chrono::nanoseconds unanswered = std::chrono::seconds(1);
    /// For a client to close its side after the last answer.
    std::chrono::nanoseconds farewell = std::chrono::seconds(2);
    /// To begin with the first request.
    std::chrono::nanoseconds silence = std::chrono::seconds(10);
    std::chrono::nanoseconds idle = std::chrono::minutes(5);  ///< between two requests
    /// After so long, more or less, a connection ends with the next answer: clients of several
    /// servers behind one address spread over all of them again. A stream ends then.
    std::chrono::nanoseconds age = std::chrono::minutes(10);
    /// Beyond it the oldest one that has never asked ends; if there is none, new ones get 503.
    std::size_t connections = 10'000;
    /// After stop(), to take what is on its way.
    std::chrono::nanoseconds ending = std::chrono::seconds(5);
};

/// A small HTTP/1.1 server. It lives until stop(). For one thread or strand, that of its executor.
class HttpServer : public std::enable_shared_from_this<HttpServer> {
 public:
    using Text = std::shared_ptr<const std::string>;
    /// True as soon as it is known that nobody waits for an answer any more. Any thread.
    using Gone = std::shared_ptr<const std::atomic<bool>>;

    /// Who asks.
    struct Client {
        std::string address;           ///< without the port
        std::uint64_t connection = 0;  ///< its number: another one for each
        bool verified = false;         ///< it has shown a certificate, and it was verified
        Gone gone{};                   ///< null: that is never known
    };

    /// Valid while the handler runs.
    struct Request {
        std::string_view method;  ///< of HEAD: GET; the answer's body is left out
        std::string_view path;    ///< as it was sent, percent-encoded
        std::string_view query;   ///< the same; empty without '?'
        std::string_view body;
        const Client& client;
        const boost::beast::http::fields& headers;
        bool head_only = false;  ///< the body of the answer is left out

        /// Empty if there is none.
        std::string_view header(boost::beast::http::field name) const {
            const auto value = headers[name];
            return {value.data(), value.size()};
        }
        std::string_view header(std::string_view name) const {
            const auto value = headers[name];
            return {value.data(), value.size()};
        }
    };

    /// A body whose end is not known: its pieces are made as the client takes them.
    class Stream {
     public:
        /// \param piece  null: the body has ended
        using OnPiece = std::function<void(Text piece)>;

        virtual ~Stream() = default;
        /// The client has taken what there was. Called on the server's executor, and not again
        /// before it has called back, which it does once, now or later, in any thread. A stream
        /// whose client is gone is destroyed; to call back then does nothing.
        virtual void next(OnPiece) = 0;
    };

    struct Reply {
        unsigned status = 200;
        Text body{};  ///< may be shared by any number of replies; null: empty
        std::vector<std::pair<boost::beast::http::field, std::string>> headers{};
        /// Those for which `field` has no name.
        std::vector<std::pair<std::string, std::string>> other_headers{};
        /// In place of the body; the last answer of a connection.
        std::shared_ptr<Stream> stream{};
    };

    /// To be called once, now or later, in any thread. The answer is 500 if the handler forgets it,
    /// and 500 or 503 if it throws.
    using Respond = std::function<void(Reply)>;
    using Handler = std::function<void(const Request&, const Respond&)>;

    /// What to speak TLS with on the next connection.
    using Tls = std::function<SSL_CTX*()>;

    /// Listens, and answers nobody before start().
    /// \throws std::runtime_error that says where it cannot listen, and why
    /// \param tls  empty: plain HTTP
    HttpServer(const boost::asio::any_io_executor&, const boost::asio::ip::tcp::endpoint&, Handler,
               const HttpLimits& = {}, Tls tls = {});

    void start() { accept(); }
    /// Not in the handler. Who is being answered gets the answer, if it takes it soon, then
    /// connections are closed; streams end at once.
    void stop();
    boost::asio::ip::tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }
    bool is_tls() const { return tls_ != nullptr; }
    std::size_t connections() const { return connections_.size(); }
    /// How many clients there was no room for, or that had to make room.
    std::uint64_t turned_away() const { return turned_away_; }

 private:
    class Connection;
    /// In the order in which they came.
    using Newcomers = std::list<Connection*>;
    void accept();
    void accept_later();
    void admit(boost::asio::ip::tcp::socket);
    bool make_room();
    void turn_away(Connection&);
    std::chrono::steady_clock::time_point end_of_life();

    boost::asio::ip::tcp::acceptor acceptor_;
    boost::asio::steady_timer pause_;
    Handler handler_;
    const HttpLimits limits_;
    const Tls tls_;
    std::list<std::weak_ptr<Connection>> connections_;
    Newcomers shaking_hands_;  ///< of the connections
    Newcomers silent_;         ///< that have done so, if they must, and have never asked
    std::uint64_t admitted_ = 0;
    std::uint64_t turned_away_ = 0;
    std::minstd_rand random_{std::random_device()()};
};

/// A reply of plain text.
HttpServer::Reply text_reply(unsigned status, std::string text);

/// Metrics in Prometheus' text format.
HttpServer::Reply metrics_reply(std::string text);

/// "http://127.0.0.1:8080", "https://…"
std::string url_of(const HttpServer&);

/// "127.0.0.1:8080", "[::1]:0" or "localhost:8080": the first address of a name, of IPv4 if it has
/// one. \throws UsageError
boost::asio::ip::tcp::endpoint listen_address(const std::string& text);

}  // namespace support
