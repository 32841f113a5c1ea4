#include "k8s_sd/detail/base/host_port.hpp"
#include "k8s_sd/detail/base/text.hpp"
#include "k8s_sd/detail/net/address_race.hpp"
#include "k8s_sd/detail/net/byte_stream.hpp"
#include "k8s_sd/detail/net/lookups.hpp"
#include "k8s_sd/detail/net/tls_peer.hpp"
#include "k8s_sd/detail/net/unreachable.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <algorithm>
#include <charconv>
#include <exception>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

using asio::ip::tcp;
using ConnectHandler = ByteStream::ConnectHandler;
using IoHandler = ByteStream::IoHandler;
using Addresses = std::vector<asio::ip::address>;

/// A half-open connection is noticed within about a minute. Without these options it would still
/// be noticed, later: failures do not matter. Children of the host do not inherit the connection.
void tune(tcp::socket& socket) {
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
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

class ConnectOp;

/// What a stream and its pending operations share; the operations keep it alive.
class Channel : public std::enable_shared_from_this<Channel> {
 public:
    /// \param s  open, or to be replaced by open()
    /// \param secure  nothing is ever read or written in the clear
    Channel(tcp::socket s, bool secure, std::shared_ptr<asio::ssl::context> c)
        : socket(std::move(s)), context(std::move(c)), secure_(secure) {
        if (socket.is_open()) begin_tls();
    }

    void open(tcp::socket connected) {
        socket = std::move(connected);
        tune(socket);
        begin_tls();
    }
    void read(asio::mutable_buffer, IoHandler);
    void write(asio::const_buffer, IoHandler);
    void close() noexcept;
    bool closed() const noexcept { return closed_; }

    /// What a handler is told. A success may already be queued when the stream is closed, hence
    /// this is asked right before the handler is called.
    error_code outcome(error_code) const;

    tcp::socket socket;
    std::shared_ptr<asio::ssl::context> context;  ///< null: plain, or there is no connection yet
    std::optional<asio::ssl::stream<tcp::socket&>> tls;
    std::weak_ptr<ConnectOp> connecting;  // weak: the handler in it may own the stream

 private:
    void begin_tls() {
        if (context) tls.emplace(socket, *context);
    }
    bool refuse(IoHandler&);

    const bool secure_;
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

    void connect(const std::string& host, const std::string& port, const Dialing&);
    void connect_securely(const ClientTls&, const std::string& host, const std::string& port,
                          const Dialing&);
    void handshake(asio::ssl::stream_base::handshake_type);
    /// Only the first call counts.
    void finish(error_code, std::string text);

 private:
    void resolved(error_code, const std::string& problem, const Addresses&, std::uint16_t port);
    void dial(const Addresses&, std::uint16_t port);
    void connected(tcp::socket, const std::vector<FailedAddress>&);
    void verify_server();
    void fail_to_connect(const std::vector<FailedAddress>&);
    std::string explain_handshake(const error_code&) const;

    std::shared_ptr<Channel> channel_;
    ConnectHandler handler_;  // empty once finished
    std::string peer_;        // for texts
    std::string host_;
    std::string server_name_;
    std::string rejection_;  // why the certificate was not accepted
    std::shared_ptr<Clock> clock_;
    std::weak_ptr<TlsFilesReader> files_;  // weak: its handler owns this object
    Lookups::Ticket lookup_;
    std::weak_ptr<AddressRace> race_;  // weak: its handler owns this object
};

/// Before TLS, bytes that are written too early would go out in the clear.
bool Channel::refuse(IoHandler& handler) {
    if (tls || !secure_) return false;
    asio::post(socket.get_executor(), [channel = shared_from_this(), handler = std::move(handler)] {
        handler(channel->outcome(asio::error::not_connected), 0);
    });
    return true;
}

void Channel::read(asio::mutable_buffer buffer, IoHandler handler) {
    if (refuse(handler)) return;
    Completion completion{shared_from_this(), std::move(handler)};
    if (tls) {
        tls->async_read_some(buffer, std::move(completion));
    } else {
        socket.async_read_some(buffer, std::move(completion));
    }
}

void Channel::write(asio::const_buffer buffer, IoHandler handler) {
    if (refuse(handler)) return;
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

void ConnectOp::connect_securely(const ClientTls& tls, const std::string& host,
                                 const std::string& port, const Dialing& dialing) {
    server_name_ = tls.server_name;
    channel_->context = tls.context;
    if (tls.context) return connect(host, port, dialing);
    files_ = tls.contexts->async_get(
        channel_->socket.get_executor(), tls.config,
        [self = shared_from_this(), host, port, dialing](const TlsContexts::Context& context,
                                                         const std::string& problem) {
            if (!context) return self->finish(errc::credentials_unavailable, problem);
            self->channel_->context = context;
            self->connect(host, port, dialing);
        });
}

void ConnectOp::connect(const std::string& host, const std::string& port, const Dialing& dialing) {
    host_ = host;
    clock_ = dialing.clock;
    std::uint16_t number = 0;
    const char* const end = port.data() + port.size();
    const auto parsed = std::from_chars(port.data(), end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end) {
        return finish(errc::invalid_config, "not a port number: " + in_quotes(port));
    }
    error_code not_literal;
    const auto address = asio::ip::make_address(host, not_literal);
    if (!not_literal) return dial({address}, number);
    lookup_ = Lookups::async_resolve(
        channel_->socket.get_executor(), dialing.resolver, host,
        [self = shared_from_this(), number](error_code ec, const std::string& problem,
                                            const Addresses& addresses) {
            self->resolved(ec, problem, addresses, number);
        });
}

void ConnectOp::resolved(error_code ec, const std::string& problem, const Addresses& addresses,
                         std::uint16_t port) {
    if (!handler_) return;
    if (!ec && addresses.empty()) ec = asio::error::host_not_found;
    if (ec) {
        return finish(ec, "cannot resolve " + host_ + ": " +
                              (problem.empty() ? ec.message() : problem));
    }
    dial(addresses, port);
}

void ConnectOp::dial(const Addresses& addresses, std::uint16_t port) {
    if (channel_->closed()) return finish(asio::error::operation_aborted, "closed");
    const auto race = std::make_shared<AddressRace>(
        channel_->socket.get_executor(), clock_,
        [self = shared_from_this()](tcp::socket socket, const std::vector<FailedAddress>& failed) {
            self->connected(std::move(socket), failed);
        });
    race_ = race;
    race->start(addresses, port);
}

void ConnectOp::connected(tcp::socket socket, const std::vector<FailedAddress>& failed) {
    if (!handler_) return;
    if (!socket.is_open()) return fail_to_connect(failed);
    try {
        channel_->open(std::move(socket));
        if (!channel_->tls) return finish({}, {});
        verify_server();
    } catch (const std::exception& error) {  // OpenSSL's errors, where Asio wraps it
        finish(errc::connector_failed, error.what());
    }
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
    const auto self = shared_from_this();  // those who wait for a step own this object
    asio::post(channel_->socket.get_executor(),
               [channel = channel_, handler = std::exchange(handler_, nullptr), ec,
                text = std::move(text)] { handler(channel->outcome(ec), text); });
    lookup_.cancel();  // afterwards: it may be all that the context has to do
    if (const auto files = files_.lock()) files->cancel();
    if (const auto race = race_.lock()) race->cancel();
}

void ConnectOp::fail_to_connect(const std::vector<FailedAddress>& failed) {
    constexpr std::size_t most_named = 4;
    const error_code ec = failed.back().ec;
    if (failed.size() == 1 && ec == asio::error::connection_refused) {
        return finish(ec, "connection refused by " + peer_);
    }
    std::string text = "cannot connect to " + peer_;
    if (failed.size() == 1) return finish(ec, text + ": " + ec.message());
    for (std::size_t i = 0; i < std::min(failed.size(), most_named); ++i) {
        text +=
            (i == 0 ? ": " : "; ") + failed[i].address.to_string() + ": " + failed[i].ec.message();
    }
    if (failed.size() > most_named) {
        text += "; and " + std::to_string(failed.size() - most_named) + " more";
    }
    finish(ec, std::move(text));
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
    SocketStream(tcp::socket socket, bool secure, std::shared_ptr<asio::ssl::context> context)
        : channel_(std::make_shared<Channel>(std::move(socket), secure, std::move(context))) {}

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
        : SocketStream(std::move(socket), context != nullptr, context) {
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
                 std::optional<ClientTls> tls, Dialing dialing)
        : SocketStream(tcp::socket(executor), tls.has_value(), tls ? tls->context : nullptr),
          host_(std::move(host)),
          port_(std::move(port)),
          tls_(std::move(tls)),
          dialing_(std::move(dialing)) {}

    void async_connect(ConnectHandler handler) override {
        const auto op = begin_connect(std::move(handler), join_host_port(host_, port_));
        if (!tls_) return op->connect(host_, port_, dialing_);
        op->connect_securely(*tls_, host_, port_, dialing_);
        tls_->config.reset();  // an inline key need not stay in memory as long as a watch
    }

 private:
    std::string host_;
    std::string port_;
    std::optional<ClientTls> tls_;
    Dialing dialing_;
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
                                               std::string port, std::optional<ClientTls> tls,
                                               Dialing dialing) {
    return std::make_unique<ClientStream>(std::move(executor), std::move(host), std::move(port),
                                          std::move(tls), std::move(dialing));
}

bool is_unreachable(const error_code& ec) noexcept {
    return ec == errc::connect_timeout || ec == asio::error::connection_refused ||
           ec == asio::error::host_not_found || ec == asio::error::host_not_found_try_again ||
           ec == asio::error::host_unreachable || ec == asio::error::network_unreachable;
}

}  // namespace k8s_sd::inline v0::detail
