#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/net/tls_contexts.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <optional>
#include <string>

/// ByteStream over TCP and TLS. All functions of a stream, its destructor included, are called on
/// its executor, which does not run two handlers at once (a strand). The memory given to a read
/// or write stays valid until the handler is called, also after close() or destruction.
/// A TLS peer that ends without close_notify gives asio::error::eof: HTTP framing decides what is
/// complete. Closing sends no close_notify.
namespace k8s_sd::inline v0::detail {

/// A connection that was accepted; the stream's executor is the socket's.
/// async_connect() completes at once.
K8S_SD_EXPORT std::unique_ptr<ByteStream> make_tcp_stream(asio::ip::tcp::socket);

/// The same with TLS; async_connect() is the handshake.
K8S_SD_EXPORT std::unique_ptr<ByteStream> make_tls_server_stream(
    asio::ip::tcp::socket, std::shared_ptr<asio::ssl::context>);

/// How a client makes a connection secure.
struct ClientTls {
    std::shared_ptr<asio::ssl::context> context;  ///< null: `contexts` are asked for `config`
    std::string server_name;                      ///< for SNI and verification: name or IP literal
    std::shared_ptr<TlsContexts> contexts{};
    std::shared_ptr<const TlsConfig> config{};
    TrustStore trust = TrustStore::configured;
};

/// The way of a client to a server.
struct ClientRoute {
    std::string host;                            ///< name or IP literal without brackets
    std::string port;                            ///< number
    std::optional<ClientTls> tls;                ///< empty: plain TCP
    std::shared_ptr<const ProxyTarget> proxy{};  ///< null: the direct way
    std::optional<ClientTls> proxy_tls{};        ///< to a proxy of https
};

/// What else a client needs to connect.
struct Dialing {
    std::shared_ptr<Clock> clock;
    std::shared_ptr<Resolver> resolver;
};

/// The addresses of a name race, see AddressRace; a literal needs no name lookup. There is no
/// deadline: the caller closes the stream.
std::unique_ptr<ByteStream> make_client_stream(asio::any_io_executor, ClientRoute, Dialing);

}  // namespace k8s_sd::inline v0::detail
