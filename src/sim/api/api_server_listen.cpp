#include "k8s_sd/detail/base/http2_support.hpp"
#include "k8s_sd/detail/transport/byte_stream.hpp"
#include "k8s_sd/error.hpp"
#include "sim/api/api_server_impl.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <openssl/ssl.h>
#include <utility>

namespace k8s_sd::inline v0::sim {
namespace {

namespace ssl = asio::ssl;

void check(const char* option, error_code ec) {
    if (ec) throw ConfigError(std::string("sim::ApiServerOptions::") + option, ec.message());
}

/// HTTP/2 if the client offers it.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned offered_size, void*) {
    static constexpr unsigned char ours[] = "\x02h2\x08http/1.1";
    unsigned char* result = nullptr;
    const int found =
        SSL_select_next_proto(&result, size, ours, sizeof ours - 1, offered, offered_size);
    if (found != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_NOACK;
    *chosen = result;
    return SSL_TLSEXT_ERR_OK;
}

/// One session ticket for each connection, as Go's servers issue. They keep no sessions themselves.
void issue_tickets(SSL_CTX* context) {
    static constexpr unsigned char name[] = "k8s_sd sim";
    SSL_CTX_set_session_id_context(context, name, sizeof name - 1);  // OpenSSL requires one
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context, 1);
}

/// Null for plain HTTP. \throws ConfigError
std::shared_ptr<ssl::context> make_tls_context(const ApiServerOptions& options) {
    if (options.tls_certificate.empty() && options.tls_key.empty()) return nullptr;
    auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
    error_code ec;
    context->use_certificate_chain(asio::buffer(options.tls_certificate), ec);
    check("tls_certificate", ec);
    context->use_private_key(asio::buffer(options.tls_key), ssl::context::pem, ec);
    check("tls_key", ec);
    if (!options.tls_client_ca.empty()) {
        context->add_certificate_authority(asio::buffer(options.tls_client_ca), ec);
        check("tls_client_ca", ec);
        context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
    }
    issue_tickets(context->native_handle());
    if (options.http2 && detail::has_http2()) {
        SSL_CTX_set_alpn_select_cb(context->native_handle(), choose_protocol, nullptr);
    }
    return context;
}

}  // namespace

unsigned short ApiServer::Impl::listen(unsigned short port) {
    auto accept = [weak = weak_from_this(),
                   tls = make_tls_context(options_)](asio::ip::tcp::socket socket) {
        const auto self = weak.lock();
        if (!self) return;
        self->accept(tls ? detail::make_tls_server_stream(std::move(socket), tls)
                         : detail::make_tcp_stream(std::move(socket)));
    };
    const auto listener = std::make_shared<Listener>(strand_, std::move(accept));
    listener->listen(port);
    {
        const std::lock_guard lock(mutex_);
        listener_ = listener;
    }
    asio::post(strand_, [self = shared_from_this(), listener] {
        if (!self->shut_down_) listener->start();
    });
    return listener->port();
}

}  // namespace k8s_sd::inline v0::sim
