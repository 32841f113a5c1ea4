#include "k8s_sd/detail/net/channel.hpp"
#include "k8s_sd/detail/net/connect_op.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/write.hpp>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <functional>

namespace k8s_sd::inline v0::detail {

namespace {

struct Completion {
    std::shared_ptr<Channel> channel;
    ByteStream::IoHandler handler;
    void operator()(error_code ec, std::size_t bytes) const {
        handler(channel->outcome(ec), bytes);
    }
};

/// A half-open connection is noticed within about a minute. Without these options it would still
/// be noticed, later: failures do not matter. Children of the host do not inherit the connection.
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

SSL* Channel::add_tls(asio::ssl::context& context) {
    if (!tls_) return tls_.emplace(socket, context).native_handle();
    inner_ = std::make_unique<TlsInTls>(*tls_, context);
    return inner_->native_handle();
}

void Channel::handshake(asio::ssl::stream_base::handshake_type type,
                        std::function<void(error_code)> handler) {
    if (inner_) {
        inner_->async_handshake(type, std::move(handler));
    } else {
        tls_->async_handshake(type, std::move(handler));
    }
}

/// Before TLS, bytes that are written too early would go out in the clear; before a proxy has
/// answered, they would go to it.
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
    Completion completion{shared_from_this(), std::move(handler)};
    if (inner_) {
        inner_->async_read_some(buffer, std::move(completion));
    } else if (tls_) {
        tls_->async_read_some(buffer, std::move(completion));
    } else {
        socket.async_read_some(buffer, std::move(completion));
    }
}

void Channel::write_raw(asio::const_buffer buffer, ByteStream::IoHandler handler) {
    Completion completion{shared_from_this(), std::move(handler)};
    if (inner_) {
        asio::async_write(*inner_, buffer, std::move(completion));
    } else if (tls_) {
        asio::async_write(*tls_, buffer, std::move(completion));
    } else {
        asio::async_write(socket, buffer, std::move(completion));
    }
}

void Channel::close() noexcept {
    if (closed_) return;
    closed_ = true;
    error_code ignored;
    socket.close(ignored);
    if (const auto op = connecting.lock()) op->finish(asio::error::operation_aborted, "closed");
}

error_code Channel::outcome(error_code ec) const {
    if (closed_) return asio::error::operation_aborted;
    if (ec == asio::ssl::error::stream_truncated) return asio::error::eof;
    return ec;
}

}  // namespace k8s_sd::inline v0::detail
