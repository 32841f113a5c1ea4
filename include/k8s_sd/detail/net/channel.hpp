#pragma once

#include "k8s_sd/detail/net/tls_session.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <optional>

namespace k8s_sd::inline v0::detail {

class ConnectOp;

/// The layers of a connection: a socket, TLS over it, and TLS within that TLS where a proxy is
/// reached by https. A stream and its pending operations share it; the operations keep it alive.
class Channel : public std::enable_shared_from_this<Channel> {
 public:
    using Socket = asio::ip::tcp::socket;

    /// Neither read nor written before enable().
    explicit Channel(Socket);

    /// Takes a connected socket.
    void open(Socket connected);
    /// Another layer of TLS, over what is there; see handshake(). At most two.
    /// \throws boost::system::system_error
    TlsSession& add_tls(SSL_CTX*);
    /// Of the innermost layer.
    void handshake(TlsSession::Side, std::function<void(error_code)>);
    /// What is read and written from now on is the user's.
    void enable() noexcept { enabled_ = true; }

    /// For the user; see ByteStream.
    void read(asio::mutable_buffer, ByteStream::IoHandler);
    void write(asio::const_buffer, ByteStream::IoHandler);
    void close() noexcept;

    /// The same below the user: what is said to a proxy.
    void read_raw(asio::mutable_buffer, ByteStream::IoHandler);
    void write_raw(asio::const_buffer, ByteStream::IoHandler);

    bool closed() const noexcept { return closed_; }
    /// What a handler is told. A success may already be queued when the stream is closed, hence
    /// this is asked right before the handler is called.
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
