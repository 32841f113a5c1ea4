#include "k8s_sd/detail/base/host_port.hpp"
#include "k8s_sd/detail/net/byte_stream.hpp"
#include "k8s_sd/detail/net/tls_peer.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <netinet/tcp.h>
#include <charconv>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

using asio::ip::tcp;
using ConnectHandler = ByteStream::ConnectHandler;
using IoHandler = ByteStream::IoHandler;
using Addresses = tcp::resolver::results_type;

/// A half-open connection is noticed within about a minute. Without these options it would still
/// be noticed, later: failures do not matter.
void tune(tcp::socket& socket) {
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    socket.set_option(asio::socket_base::keep_alive(true), ignored);
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

class ConnectOp;

/// What a stream and its pending operations share; the operations keep it alive.
class Channel : public std::enable_shared_from_this<Channel> {
 public:
    Channel(tcp::socket s, std::shared_ptr<asio::ssl::context> c)
        : socket(std::move(s)), context(std::move(c)) {
        // Made at once: without it, bytes written too early would go out in the clear.
        if (context) tls.emplace(socket, *context);
    }

    void read(asio::mutable_buffer, IoHandler);
    void write(asio::const_buffer, IoHandler);
    void close() noexcept;

    /// What a handler is told. A success may already be queued when the stream is closed, hence
    /// this is asked right before the handler is called.
    error_code outcome(error_code) const;

    tcp::socket socket;
    const std::shared_ptr<asio::ssl::context> context;
    std::optional<asio::ssl::stream<tcp::socket&>> tls;
    std::weak_ptr<ConnectOp> connecting;  // weak: the handler in it may own the stream

 private:
    bool closed_ = false;
};

struct Completion {
    std::shared_ptr<Channel> channel;
    IoHandler handler;
    void operator()(error_code ec, std::size_t bytes) const {
        handler(channel->outcome(ec), bytes);
    }
};

/// One async_connect, kept alive by the step it waits for.
class ConnectOp : public std::enable_shared_from_this<ConnectOp> {
 public:
    ConnectOp(std::shared_ptr<Channel> channel, ConnectHandler handler, std::string peer)
        : channel_(std::move(channel)), handler_(std::move(handler)), peer_(std::move(peer)) {}

    void resolve(const std::string& host, const std::string& port);
    void connect(const Addresses&);
    void expect(const std::string& server_name) { server_name_ = server_name; }
    void handshake(asio::ssl::stream_base::handshake_type);
    /// Only the first call counts: a lookup cannot be interrupted, its result comes after close().
    void finish(error_code, std::string text);

 private:
    void resolved(error_code, const std::string& host, const Addresses&);
    void connected(error_code);
    void verify_server();
    std::string explain_connect(const error_code&) const;
    std::string explain_handshake(const error_code&) const;

    std::shared_ptr<Channel> channel_;
    ConnectHandler handler_;  // empty once finished
    std::string peer_;        // for texts
    std::string server_name_;
    std::string rejection_;  // why the certificate was not accepted
    std::optional<tcp::resolver> resolver_;
};

void Channel::read(asio::mutable_buffer buffer, IoHandler handler) {
    Completion completion{shared_from_this(), std::move(handler)};
    if (tls) {
        tls->async_read_some(buffer, std::move(completion));
    } else {
        socket.async_read_some(buffer, std::move(completion));
    }
}

void Channel::write(asio::const_buffer buffer, IoHandler handler) {
    Completion completion{shared_from_this(), std::move(handler)};
    if (tls) {
        asio::async_write(*tls, buffer, std::move(completion));
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

void ConnectOp::resolve(const std::string& host, const std::string& port) {
    error_code not_literal;
    const auto address = asio::ip::make_address(host, not_literal);
    std::uint16_t number = 0;
    const char* const end = port.data() + port.size();
    const auto parsed = std::from_chars(port.data(), end, number);
    if (!not_literal && parsed.ec == std::errc() && parsed.ptr == end) {
        return connect(Addresses::create(tcp::endpoint(address, number), host, port));
    }
    resolver_.emplace(channel_->socket.get_executor());
    resolver_->async_resolve(
        host, port, [self = shared_from_this(), host](error_code ec, const Addresses& addresses) {
            self->resolved(ec, host, addresses);
        });
}

void ConnectOp::resolved(error_code ec, const std::string& host, const Addresses& addresses) {
    if (!handler_) return;
    if (ec) return finish(ec, "cannot resolve " + host + ": " + ec.message());
    connect(addresses);
}

void ConnectOp::connect(const Addresses& addresses) {
    asio::async_connect(
        channel_->socket, addresses,
        [self = shared_from_this()](error_code ec, const tcp::endpoint&) { self->connected(ec); });
}

void ConnectOp::connected(error_code ec) {
    if (!handler_) return;
    if (ec) return finish(ec, explain_connect(ec));
    tune(channel_->socket);
    if (!channel_->tls) return finish({}, {});
    verify_server();
}

void ConnectOp::verify_server() {
    auto& tls = *channel_->tls;
    if (!expect_peer(tls.native_handle(), server_name_)) {
        return finish(errc::invalid_config, "not a name or address: \"" + server_name_ + "\"");
    }
    // Weak: the TLS session outlives the handshake.
    tls.set_verify_callback(
        [weak = weak_from_this()](bool accepted, asio::ssl::verify_context& context) {
            const auto self = weak.lock();
            if (!accepted && self && self->rejection_.empty()) {
                self->rejection_ = explain_rejection(context.native_handle(), self->server_name_);
            }
            return accepted;
        });
    handshake(asio::ssl::stream_base::client);
}

void ConnectOp::handshake(asio::ssl::stream_base::handshake_type type) {
    channel_->tls->async_handshake(type, [self = shared_from_this()](error_code ec) {
        self->finish(ec, ec ? self->explain_handshake(ec) : std::string());
    });
}

void ConnectOp::finish(error_code ec, std::string text) {
    if (!handler_) return;
    if (resolver_) resolver_->cancel();
    asio::post(channel_->socket.get_executor(),
               [channel = channel_, handler = std::exchange(handler_, nullptr), ec,
                text = std::move(text)] { handler(channel->outcome(ec), text); });
}

std::string ConnectOp::explain_connect(const error_code& ec) const {
    if (ec == asio::error::connection_refused) return "connection refused by " + peer_;
    return "cannot connect to " + peer_ + ": " + ec.message();
}

std::string ConnectOp::explain_handshake(const error_code& ec) const {
    if (!rejection_.empty()) return rejection_;
    if (ec == asio::error::eof || ec == asio::ssl::error::stream_truncated) {
        return peer_ + " closed the connection during the TLS handshake";
    }
    const bool garbage =
        ec.category() == asio::error::get_ssl_category() &&
        ERR_GET_REASON(static_cast<unsigned long>(ec.value())) == SSL_R_WRONG_VERSION_NUMBER;
    if (garbage) return peer_ + " does not speak TLS";
    return "TLS handshake with " + peer_ + " failed: " + ec.message();
}

class SocketStream : public ByteStream {
 public:
    ~SocketStream() override { channel_->close(); }

    void async_read_some(asio::mutable_buffer buffer, IoHandler handler) override {
        channel_->read(buffer, std::move(handler));
    }
    void async_write(asio::const_buffer buffer, IoHandler handler) override {
        channel_->write(buffer, std::move(handler));
    }
    void close() noexcept override { channel_->close(); }

 protected:
    SocketStream(tcp::socket socket, std::shared_ptr<asio::ssl::context> context)
        : channel_(std::make_shared<Channel>(std::move(socket), std::move(context))) {}

    std::shared_ptr<ConnectOp> begin_connect(ConnectHandler handler, std::string peer) {
        auto op = std::make_shared<ConnectOp>(channel_, std::move(handler), std::move(peer));
        channel_->connecting = op;
        return op;
    }
    Channel& channel() noexcept { return *channel_; }

 private:
    std::shared_ptr<Channel> channel_;
};

class AcceptedStream final : public SocketStream {
 public:
    AcceptedStream(tcp::socket socket, std::shared_ptr<asio::ssl::context> context)
        : SocketStream(std::move(socket), std::move(context)) {
        tune(channel().socket);
    }

    void async_connect(ConnectHandler handler) override {
        const auto op = begin_connect(std::move(handler), "the client");
        if (!channel().tls) return op->finish({}, {});
        op->handshake(asio::ssl::stream_base::server);
    }
};

class ClientStream final : public SocketStream {
 public:
    ClientStream(const asio::any_io_executor& executor, std::string host, std::string port,
                 std::optional<ClientTls> tls)
        : SocketStream(tcp::socket(executor), tls ? tls->context : nullptr),
          host_(std::move(host)),
          port_(std::move(port)),
          tls_(std::move(tls)) {}

    void async_connect(ConnectHandler handler) override {
        const auto op = begin_connect(std::move(handler), join_host_port(host_, port_));
        if (tls_ && !tls_->context) return op->finish(errc::credentials_unavailable, tls_->problem);
        if (tls_) op->expect(tls_->server_name);
        op->resolve(host_, port_);
    }

 private:
    std::string host_;
    std::string port_;
    std::optional<ClientTls> tls_;
};

}  // namespace

std::unique_ptr<ByteStream> make_tcp_stream(tcp::socket socket) {
    return std::make_unique<AcceptedStream>(std::move(socket), nullptr);
}

std::unique_ptr<ByteStream> make_tls_server_stream(tcp::socket socket,
                                                   std::shared_ptr<asio::ssl::context> context) {
    return std::make_unique<AcceptedStream>(std::move(socket), std::move(context));
}

std::unique_ptr<ByteStream> make_client_stream(asio::any_io_executor executor, std::string host,
                                               std::string port, std::optional<ClientTls> tls) {
    return std::make_unique<ClientStream>(std::move(executor), std::move(host), std::move(port),
                                          std::move(tls));
}

}  // namespace k8s_sd::inline v0::detail
