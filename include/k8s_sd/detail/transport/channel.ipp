#include "k8s_sd/detail/transport/channel.hpp"
#include "k8s_sd/detail/transport/connect_op.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <functional>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

struct Completion {
    std::shared_ptr<Channel> channel;
    ByteStream::IoHandler handler;
    void operator()(error_code ec, std::size_t bytes) const {
        handler(channel->outcome(ec), bytes);
    }
};

/// Detects a half-open connection within about a minute. Failures are ignored, because the system's
/// defaults detect it later. Children of the host do not inherit the connection.
void tune(asio::ip::tcp::socket& socket) {
    error_code ignored;
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    socket.set_option(asio::socket_base::keep_alive(true), ignored);
    ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
    [[maybe_unused]] const auto set = [&socket](int option, int value) {
        ::setsockopt(socket.native_handle(), IPPROTO_TCP, option, &value, sizeof value);
    };
#ifdef TCP_KEEPIDLE
    set(TCP_KEEPIDLE, 30);
    set(TCP_KEEPINTVL, 10);
    set(TCP_KEEPCNT, 3);
#endif
#ifdef TCP_USER_TIMEOUT
    set(TCP_USER_TIMEOUT, 45'000);  // milliseconds
#endif
}

}  // namespace

Channel::Channel(Socket s) : socket(std::move(s)) {
    if (socket.is_open()) tune(socket);
}

void Channel::open(Socket connected) {
    socket = std::move(connected);
    tune(socket);
}

TlsSession& Channel::add_tls(SSL_CTX* context) {
    if (tls_) return inner_.emplace(context, *tls_);
    socket.native_non_blocking(true);
    return tls_.emplace(context, socket.native_handle());
}

void Channel::handshake(TlsSession::Side side, std::function<void(error_code)> handler) {
    drive([session = &innermost(), side] { return session->handshake(side); },
          [handler = std::move(handler)](error_code ec, std::size_t) { handler(ec); });
}

/// Repeats the step until it has a result, then calls `handler` with it, never inside this call.
template <class Step, class Handler>
void Channel::drive(Step step, Handler handler) {
    const TlsSession::Result result = step();
    if (result.wait != TlsSession::Result::Wait::none) {
        return drive_on(result.wait, std::move(step), std::move(handler));
    }
    asio::post(socket.get_executor(),
               [channel = shared_from_this(), handler = std::move(handler), result] {
                   handler(channel->outcome(result.ec), result.bytes);
               });
}

template <class Step, class Handler>
void Channel::drive_on(TlsSession::Result::Wait wait, Step step, Handler handler) {
    const auto event =
        wait == TlsSession::Result::Wait::readable ? Socket::wait_read : Socket::wait_write;
    socket.async_wait(event, [channel = shared_from_this(), step = std::move(step),
                              handler = std::move(handler)](error_code ec) mutable {
        TlsSession::Result result{ec, {}, 0};
        // The descriptor of a closed socket may have been reused.
        if (!ec && !channel->closed_) result = step();
        if (result.wait != TlsSession::Result::Wait::none) {
            return channel->drive_on(result.wait, std::move(step), std::move(handler));
        }
        handler(channel->outcome(result.ec), result.bytes);
    });
}

/// Rejects early writes: before TLS they would be sent in the clear, before the proxy's response to
/// the proxy.
bool Channel::refuse(ByteStream::IoHandler& handler) {
    if (enabled_) return false;
    asio::post(socket.get_executor(), [channel = shared_from_this(), handler = std::move(handler)] {
        handler(channel->outcome(asio::error::not_connected), 0);
    });
    return true;
}

void Channel::read(asio::mutable_buffer buffer, ByteStream::IoHandler handler) {
    if (!refuse(handler)) read_raw(buffer, std::move(handler));
}

void Channel::write(asio::const_buffer buffer, ByteStream::IoHandler handler) {
    if (!refuse(handler)) write_raw(buffer, std::move(handler));
}

void Channel::read_raw(asio::mutable_buffer buffer, ByteStream::IoHandler handler) {
    if (!tls_ || closed_) {
        return socket.async_read_some(buffer, Completion{shared_from_this(), std::move(handler)});
    }
    drive([session = &innermost(), buffer] { return session->read(buffer); }, std::move(handler));
}

void Channel::write_raw(asio::const_buffer buffer, ByteStream::IoHandler handler) {
    if (!tls_ || closed_) {
        return asio::async_write(socket, buffer,
                                 Completion{shared_from_this(), std::move(handler)});
    }
    write_on(buffer, 0, std::move(handler));
}

void Channel::write_on(asio::const_buffer rest, std::size_t written,
                       ByteStream::IoHandler handler) {
    drive([session = &innermost(), rest] { return session->write(rest); },
          [this, rest, written, handler = std::move(handler)](error_code ec, std::size_t n) {
              // The outer handler keeps the channel alive.
              if (ec || n == rest.size()) return handler(ec, written + n);
              write_on(rest + n, written + n, handler);
          });
}

void Channel::close() noexcept {
    if (closed_) return;
    closed_ = true;
    error_code ignored;
    socket.close(ignored);
    if (const auto op = connecting.lock()) op->finish(asio::error::operation_aborted, "closed");
}

bool Channel::uses_http2() const noexcept {
    const std::optional<TlsSession>& session = inner_ ? inner_ : tls_;
    return session && session->alpn() == "h2";
}

error_code Channel::outcome(error_code ec) const {
    if (closed_) return asio::error::operation_aborted;
    return ec;
}

}  // namespace k8s_sd::inline v0::detail
