#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/transport/tls/tls_contexts.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <optional>
#include <string>

/// ByteStream over TCP and TLS. All functions of a stream, including its destructor, must be called
/// on its executor, a strand or single thread. The buffers of a read or write must stay valid until
/// its handler is called, also after close() or destruction. A TLS peer without close_notify leads
/// to asio::error::eof: HTTP framing detects truncation. Closing sends no close_notify.
namespace k8s_sd::inline v0::detail {

/// An accepted connection; the stream uses the socket's executor. async_connect() completes at
/// once.
K8S_SD_EXPORT std::unique_ptr<ByteStream> make_tcp_stream(asio::ip::tcp::socket);

/// The same with TLS; async_connect() performs the handshake.
K8S_SD_EXPORT std::unique_ptr<ByteStream> make_tls_server_stream(
    asio::ip::tcp::socket, std::shared_ptr<asio::ssl::context>);

/// TLS settings of a client.
struct ClientTls {
    std::shared_ptr<asio::ssl::context> context;  ///< null: from `contexts` for `config`
    std::string server_name;                      ///< for SNI and verification: name or IP literal
    std::shared_ptr<TlsContexts> contexts{};
    std::shared_ptr<const TlsConfig> config{};
    TrustStore trust = TrustStore::configured;
};

/// The route from a client to a server.
struct ClientRoute {
    std::string host;                            ///< name or IP literal without brackets
    std::string port;                            ///< number
    std::optional<ClientTls> tls;                ///< empty: plain TCP
    std::shared_ptr<const ProxyTarget> proxy{};  ///< null: direct
    std::optional<ClientTls> proxy_tls{};        ///< for an https proxy
    bool offers_http2 = false;                   ///< to the server, by ALPN
};

/// Dependencies of a connection attempt.
struct Dialing {
    std::shared_ptr<Clock> clock;
    std::shared_ptr<Resolver> resolver;
};

/// Resolves the host and races its addresses (see AddressRace); an IP literal needs no lookup.
/// There is no deadline: the caller closes the stream.
std::unique_ptr<ByteStream> make_client_stream(asio::any_io_executor, ClientRoute, Dialing);

}  // namespace k8s_sd::inline v0::detail
