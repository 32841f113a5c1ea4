#pragma once

#include "k8s_sd/detail/transport/tls/tls_session.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <optional>

namespace k8s_sd::inline v0::detail {

class ConnectOp;

/// The layers of a connection: a socket, TLS over it, and a second TLS inside for a server behind
/// an https proxy. A stream and its pending operations share the channel and keep it alive.
class Channel : public std::enable_shared_from_this<Channel> {
 public:
    using Socket = asio::ip::tcp::socket;

    /// Disabled for reads and writes until enable().
    explicit Channel(Socket);

    /// Takes over a connected socket.
    void open(Socket connected);
    /// Adds a TLS layer, at most two; see handshake().
    /// \throws boost::system::system_error
    TlsSession& add_tls(SSL_CTX*);
    /// Performs the handshake of the innermost layer.
    void handshake(TlsSession::Side, std::function<void(error_code)>);
    /// Enables reads and writes by the user.
    void enable() noexcept { enabled_ = true; }

    /// For the user, see ByteStream.
    void read(asio::mutable_buffer, ByteStream::IoHandler);
    void write(asio::const_buffer, ByteStream::IoHandler);
    void close() noexcept;

    /// The same for the dialog with a proxy, before enable().
    void read_raw(asio::mutable_buffer, ByteStream::IoHandler);
    void write_raw(asio::const_buffer, ByteStream::IoHandler);

    bool closed() const noexcept { return closed_; }
    /// Whether the peer of the innermost layer has chosen HTTP/2.
    bool uses_http2() const noexcept;
    /// The result to report to a handler. A success may already be queued when the stream is
    /// closed, so this is evaluated right before the call.
    error_code outcome(error_code) const;

    Socket socket;
    std::weak_ptr<ConnectOp> connecting;  ///< weak: the handler in it may own the stream

 private:
    bool refuse(ByteStream::IoHandler&);
    TlsSession& innermost() noexcept { return inner_ ? *inner_ : *tls_; }
    void write_on(asio::const_buffer rest, std::size_t written, ByteStream::IoHandler);
    template <class Step, class Handler>
    void drive(Step, Handler);
    template <class Step, class Handler>
    void drive_on(TlsSession::Result::Wait, Step, Handler);

    std::optional<TlsSession> tls_;
    std::optional<TlsSession> inner_;
    bool enabled_ = false;
    bool closed_ = false;
};

}  // namespace k8s_sd::inline v0::detail
