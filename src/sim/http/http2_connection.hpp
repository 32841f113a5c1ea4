#pragma once

#include "k8s_sd/environment.hpp"
#include "k8s_sd/sim/api_server.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

extern "C" {
struct nghttp2_session;
}

namespace k8s_sd::inline v0::sim {

/// One connection of a client that may choose HTTP/2. Each of its streams becomes a ByteStream with
/// a request and a response of HTTP/1.1 on it, for a Connection. So all faults of responses apply
/// to HTTP/2 as well: a response that ends too early becomes a reset stream.
///
/// All members are called on the server's strand.
class Http2Connection : public std::enable_shared_from_this<Http2Connection> {
 public:
    /// The interface of its server, which outlives the connection.
    class Server {
     public:
        virtual ~Server() = default;
        /// The client has chosen HTTP/1.1; the stream is connected.
        virtual void on_http1(std::unique_ptr<ByteStream>) = 0;
        virtual void on_http2_stream(std::unique_ptr<ByteStream>) = 0;
        /// The client has chosen HTTP/2.
        virtual void on_http2(Http2Connection&) = 0;
        virtual void closed(Http2Connection&) = 0;
        virtual Http2Behavior http2_behavior() const = 0;
    };

    Http2Connection(Server&, asio::any_io_executor strand, std::unique_ptr<ByteStream>);
    ~Http2Connection();
    void start();
    void close();
    /// Whether the client has chosen HTTP/2.
    bool is_http2() const { return session_ != nullptr; }

    /// Reports the limit of streams to the client again.
    void report_limit();
    void go_away(ApiServer::GoAway);
    /// Sends bytes as they are, between two frames.
    void send_raw(std::string_view frames);

 private:
    friend struct Http2ServerCallbacks;
    struct Deleter {
        void operator()(nghttp2_session*) const noexcept;
    };
    class Stream;
    class StreamEnd;

    void begin();
    void read();
    void on_read(error_code, std::size_t);
    void flush();
    void flush_later();
    void on_written(error_code);
    Stream* find(std::int32_t id) const;
    void on_request(std::int32_t id);
    void respond(Stream&);
    void on_data(Stream&);
    void end(Stream&);

    Server& server_;
    const asio::any_io_executor strand_;
    std::unique_ptr<ByteStream> transport_;
    std::unique_ptr<nghttp2_session, Deleter> session_;
    std::map<std::int32_t, std::shared_ptr<Stream>> streams_;
    std::shared_ptr<std::string> input_;
    std::string raw_;        ///< to be sent before other frames
    bool flushing_ = false;  ///< a flush is posted
    bool writing_ = false;
    bool feeding_ = false;  ///< nghttp2 processes input
    bool closed_ = false;
};

}  // namespace k8s_sd::inline v0::sim
