#pragma once

#include "k8s_sd/detail/transport/tls/tls_tickets.hpp"
#include "k8s_sd/error.hpp"

#include <boost/asio/buffer.hpp>
#include <openssl/ssl.h>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace k8s_sd::inline v0::detail {

namespace asio = boost::asio;

/// TLS over a non-blocking socket, or over another session for a server behind an https proxy.
///
/// OpenSSL accesses the socket itself, and frees its buffers while idle. An idle watch costs only
/// OpenSSL's session; Asio's stream would add 34 KB.
///
/// Confined to one strand, like the socket.
class TlsSession {
 public:
    enum class Side : std::uint8_t { client, server };

    /// Contains `ec` (asio::error::eof: closed by the peer), a condition to wait for before a
    /// repeated call, or `bytes`.
    struct Result {
        enum class Wait : std::uint8_t { none, readable, writable };
        error_code ec{};
        Wait wait = Wait::none;  ///< of the socket
        std::size_t bytes = 0;
    };

    /// \throws boost::system::system_error
    TlsSession(SSL_CTX*, int socket);
    /// \param outer  must outlive this session
    TlsSession(SSL_CTX*, TlsSession& outer);
    ~TlsSession();
    TlsSession(const TlsSession&) = delete;
    TlsSession& operator=(const TlsSession&) = delete;

    SSL* native_handle() const noexcept { return ssl_.get(); }
    /// Sets a callback for each rejected certificate. It must not throw.
    void on_rejection(std::function<void(X509_STORE_CTX*)>);

    /// The next handshake offers HTTP/2 besides HTTP/1.1.
    void offer_http2();
    /// The protocol chosen by the server; empty: none.
    std::string_view alpn() const noexcept;

    /// The next handshake offers the ticket, and later ones of the server are stored there.
    void use_ticket(std::shared_ptr<TlsTicket>);

    Result handshake(Side);
    /// Reads the available bytes, up to the size of the buffer.
    Result read(asio::mutable_buffer);
    /// Writes at least a part of the buffer.
    Result write(asio::const_buffer);

 private:
    /// The socket and its last error.
    struct Transport {
        int socket = -1;
        int problem = 0;  ///< an errno
    };
    struct SslFree {
        void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
    };

    explicit TlsSession(SSL_CTX*);
    static const BIO_METHOD* socket_method();
    static int write_socket(BIO*, const char*, int);
    static int read_socket(BIO*, char*, int);
    static int verified(int accepted, X509_STORE_CTX*);
    template <class Call>
    Result attempt(Call);
    Result explain(int returned);

    void on_handshake_end(bool success) noexcept;

    std::shared_ptr<Transport> transport_;  // of the outermost session
    std::shared_ptr<TlsTicket> ticket_;     // null: none; outlives ssl_
    std::uint64_t offered_ticket_ = 0;      // in a handshake without a result so far
    std::unique_ptr<SSL, SslFree> ssl_;
    std::function<void(X509_STORE_CTX*)> on_rejection_;
    Result held_back_;  // outcome found by a read after some bytes
};

}  // namespace k8s_sd::inline v0::detail
