#pragma once

#include "k8s_sd/error.hpp"

#include <boost/asio/buffer.hpp>
#include <openssl/ssl.h>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace k8s_sd::inline v0::detail {

namespace asio = boost::asio;

/// TLS over a socket that does not block, or over another session: a proxy is reached by https,
/// and the server through it.
///
/// OpenSSL reads and writes the socket itself, and gives its buffers back while nothing comes. So a
/// quiet watch costs no more than OpenSSL's session; Asio's stream would keep 34 KB beside it.
///
/// Like the socket, it belongs to one strand.
class TlsSession {
 public:
    enum class Side : std::uint8_t { client, server };

    /// Either `ec` (asio::error::eof: the peer has ended), or what has to happen before the same
    /// call is made again, or `bytes`.
    struct Result {
        enum class Wait : std::uint8_t { none, readable, writable };
        error_code ec{};
        Wait wait = Wait::none;  ///< of the socket
        std::size_t bytes = 0;
    };

    /// \throws boost::system::system_error
    TlsSession(SSL_CTX*, int socket);
    /// \param outer  must live longer
    TlsSession(SSL_CTX*, TlsSession& outer);
    TlsSession(const TlsSession&) = delete;
    TlsSession& operator=(const TlsSession&) = delete;

    SSL* native_handle() const noexcept { return ssl_.get(); }
    /// Is told of each certificate that is not accepted. Must not throw.
    void on_rejection(std::function<void(X509_STORE_CTX*)>);

    Result handshake(Side);
    /// As much as is there, at most what the buffer holds.
    Result read(asio::mutable_buffer);
    /// At least a part.
    Result write(asio::const_buffer);

 private:
    /// The socket, and why it failed.
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

    std::shared_ptr<Transport> transport_;  // of the outermost session
    std::unique_ptr<SSL, SslFree> ssl_;
    std::function<void(X509_STORE_CTX*)> on_rejection_;
    Result held_back_;  // what a read has found behind bytes
};

}  // namespace k8s_sd::inline v0::detail
