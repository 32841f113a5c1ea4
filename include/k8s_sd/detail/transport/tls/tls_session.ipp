#include "k8s_sd/detail/transport/tls/tls_peer.hpp"
#include "k8s_sd/detail/transport/tls/tls_session.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/system/system_error.hpp>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <sys/socket.h>
#include <cerrno>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// One system call reads several records. Freed while idle.
constexpr std::size_t read_ahead = 64 * 1024;

error_code openssl_error() {
    return {static_cast<int>(ERR_get_error()), asio::error::get_ssl_category()};
}

template <class Pointer>
Pointer checked(Pointer pointer) {
    if (!pointer) throw boost::system::system_error(openssl_error(), "TLS");
    return pointer;
}

long control_socket(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

}  // namespace

// --- the socket BIO ------------------------------------------------------------------------------

// OpenSSL's own BIO raises SIGPIPE after the peer has closed the connection.
const BIO_METHOD* TlsSession::socket_method() {
    static const BIO_METHOD* const method = [] {  // never freed
        BIO_METHOD* const made =
            checked(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "k8s_sd socket"));
        BIO_meth_set_write(made, write_socket);
        BIO_meth_set_read(made, read_socket);
        BIO_meth_set_ctrl(made, control_socket);
        return made;
    }();
    return method;
}

int TlsSession::write_socket(BIO* bio, const char* data, int size) {
    auto& transport = *static_cast<Transport*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    const auto n = ::send(transport.socket, data, static_cast<std::size_t>(size), MSG_NOSIGNAL);
    if (n >= 0) return static_cast<int>(n);
    if (errno == EAGAIN || errno == EINTR) {
        BIO_set_retry_write(bio);
    } else {
        transport.problem = errno;
    }
    return -1;
}

int TlsSession::read_socket(BIO* bio, char* data, int size) {
    auto& transport = *static_cast<Transport*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    const auto n = ::recv(transport.socket, data, static_cast<std::size_t>(size), 0);
    if (n >= 0) return static_cast<int>(n);
    if (errno == EAGAIN || errno == EINTR) {
        BIO_set_retry_read(bio);
    } else {
        transport.problem = errno;
    }
    return -1;
}

// --- the session ---------------------------------------------------------------------------------

TlsSession::TlsSession(SSL_CTX* context) : ssl_(checked(SSL_new(context))) {
    SSL_set_mode(ssl_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                 SSL_MODE_RELEASE_BUFFERS);
    SSL_set_read_ahead(ssl_.get(), 1);
    SSL_set_default_read_buffer_len(ssl_.get(), read_ahead);
    SSL_set_app_data(ssl_.get(), this);
}

TlsSession::TlsSession(SSL_CTX* context, int socket) : TlsSession(context) {
    transport_ = std::make_shared<Transport>();
    transport_->socket = socket;
    BIO* const bio = checked(BIO_new(socket_method()));
    BIO_set_data(bio, transport_.get());
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_.get(), bio, bio);
}

TlsSession::TlsSession(SSL_CTX* context, TlsSession& outer) : TlsSession(context) {
    transport_ = outer.transport_;
    BIO* const bio = checked(BIO_new(BIO_f_ssl()));
    BIO_set_ssl(bio, outer.native_handle(), BIO_NOCLOSE);
    SSL_set_bio(ssl_.get(), bio, bio);
}

void TlsSession::on_rejection(std::function<void(X509_STORE_CTX*)> callback) {
    on_rejection_ = std::move(callback);
    SSL_set_verify(ssl_.get(), SSL_get_verify_mode(ssl_.get()), verified);
}

int TlsSession::verified(int accepted, X509_STORE_CTX* context) {
    auto* const ssl = static_cast<SSL*>(
        X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx()));
    auto* const session = static_cast<TlsSession*>(SSL_get_app_data(ssl));
    if (accepted == 1) return accepted;
    if (is_taken_by_go(context)) {
        X509_STORE_CTX_set_error(context, X509_V_OK);
        return 1;
    }
    session->on_rejection_(context);
    return accepted;
}

void TlsSession::offer_http2() {
    static constexpr unsigned char protocols[] = "\x02h2\x08http/1.1";
    const int failed = SSL_set_alpn_protos(ssl_.get(), protocols, sizeof protocols - 1);
    if (failed != 0) throw boost::system::system_error(openssl_error(), "ALPN");
}

std::string_view TlsSession::alpn() const noexcept {
    const unsigned char* protocol = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl_.get(), &protocol, &size);
    return {reinterpret_cast<const char*>(protocol), size};
}

void TlsSession::use_ticket(std::shared_ptr<TlsTicket> ticket) {
    ticket_ = std::move(ticket);
    if (!ticket_) return;
    TlsTickets::receive(ssl_.get(), *ticket_);
    offered_ticket_ = ticket_->offer(ssl_.get());
}

TlsSession::Result TlsSession::handshake(Side side) {
    const Result result = attempt([&](std::size_t&) {
        return side == Side::client ? SSL_connect(ssl_.get()) : SSL_accept(ssl_.get());
    });
    if (result.wait == Result::Wait::none) on_handshake_end(!result.ec);
    return result;
}

/// A server, or a device in between, may never answer a handshake with a ticket.
TlsSession::~TlsSession() { on_handshake_end(false); }

void TlsSession::on_handshake_end(bool success) noexcept {
    const std::uint64_t offered = std::exchange(offered_ticket_, 0);
    if (offered == 0) return;
    success ? ticket_->on_success() : ticket_->on_failure(offered);
}

TlsSession::Result TlsSession::write(asio::const_buffer buffer) {
    return attempt([&](std::size_t& bytes) {
        return SSL_write_ex(ssl_.get(), buffer.data(), buffer.size(), &bytes);
    });
}

TlsSession::Result TlsSession::read(asio::mutable_buffer buffer) {
    if (held_back_.ec) return held_back_;
    Result total;
    while (buffer.size() > 0) {
        const Result part = attempt([&](std::size_t& bytes) {
            return SSL_read_ex(ssl_.get(), buffer.data(), buffer.size(), &bytes);
        });
        if (part.bytes == 0) {
            if (total.bytes == 0) return part;
            // Deliver the bytes first, and keep the error: OpenSSL reports it only once.
            held_back_ = part;
            break;
        }
        total.bytes += part.bytes;
        buffer += part.bytes;
    }
    return total;
}

template <class Call>
TlsSession::Result TlsSession::attempt(Call call) {
    ERR_clear_error();
    transport_->problem = 0;
    Result result;
    const int returned = call(result.bytes);
    return returned == 1 ? result : explain(returned);
}

TlsSession::Result TlsSession::explain(int returned) {
    const int error = SSL_get_error(ssl_.get(), returned);
    switch (error) {
        case SSL_ERROR_WANT_READ: return {{}, Result::Wait::readable, 0};
        case SSL_ERROR_WANT_WRITE: return {{}, Result::Wait::writable, 0};
        case SSL_ERROR_ZERO_RETURN: return {asio::error::eof, Result::Wait::none, 0};
        default: break;
    }
    if (transport_->problem != 0) {
        return {error_code(transport_->problem, boost::system::system_category()),
                Result::Wait::none, 0};
    }
    const error_code ec = openssl_error();
    const bool ended = ec.value() == 0 || ERR_GET_REASON(static_cast<unsigned long>(ec.value())) ==
                                              SSL_R_UNEXPECTED_EOF_WHILE_READING;
    return {ended ? error_code(asio::error::eof) : ec, Result::Wait::none, 0};
}

}  // namespace k8s_sd::inline v0::detail
