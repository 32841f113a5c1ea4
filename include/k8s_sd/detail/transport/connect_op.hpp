#pragma once

#include "k8s_sd/detail/transport/address_race.hpp"
#include "k8s_sd/detail/transport/byte_stream.hpp"
#include "k8s_sd/detail/transport/channel.hpp"
#include "k8s_sd/detail/transport/lookups.hpp"
#include "k8s_sd/detail/transport/proxy/proxy_dialog.hpp"
#include "k8s_sd/detail/transport/tls/tls_peer.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// An async_connect of a client, or the handshake of a server; the pending step keeps it alive.
/// Steps of a client: TLS files, name lookup, TCP, and TLS to the server. With a proxy: lookup and
/// TCP are those of the proxy; TLS for an https proxy, the proxy dialog, and TLS to the server
/// follow.
class ConnectOp : public std::enable_shared_from_this<ConnectOp> {
 public:
    ConnectOp(std::shared_ptr<Channel> channel, ByteStream::ConnectHandler handler)
        : channel_(std::move(channel)), handler_(std::move(handler)) {}

    void connect(ClientRoute, const Dialing&);
    /// \param context  null: plain TCP
    void accept(const std::shared_ptr<asio::ssl::context>&);
    /// Only the first call has an effect.
    void finish(error_code, std::string text);
    /// See ByteStream::waits_for().
    std::string waits_for() const;

 private:
    using Addresses = std::vector<asio::ip::address>;
    using Step = void (ConnectOp::*)();
    enum class Stage : std::uint8_t { files, lookup, tcp, handshake, proxy };
    struct Talk;

    void prepare_proxy();
    void prepare(std::optional<ClientTls>&, Step next);
    void look_up();
    void resolved(error_code, const std::string& problem, const Addresses&);
    void dial(const Addresses&);
    void connected(asio::ip::tcp::socket, const std::vector<FailedAddress>&);
    void talk_to_proxy();
    void say();
    void listen();
    void answered(error_code, std::size_t);
    void fail_talk(std::string problem);
    void secure_server();
    void secure(const ClientTls&, Step next);
    void explain_rejections(TlsSession&);
    void fail_to_connect(const std::vector<FailedAddress>&);
    std::string explain_handshake(const error_code&) const;
    error_code handshake_error(error_code) const;

    std::shared_ptr<Channel> channel_;
    ByteStream::ConnectHandler handler_;  ///< empty after completion
    ClientRoute route_;
    Dialing dialing_;
    Stage stage_ = Stage::files;
    std::uint16_t port_ = 0;
    std::string peer_;  ///< the peer of the current step, for messages
    ExpectedPeer expected_;
    SSL* session_ = nullptr;               ///< of the current handshake
    std::string rejection_;                ///< why the certificate was rejected
    std::shared_ptr<Talk> talk_;           ///< with the proxy
    std::weak_ptr<TlsFilesReader> files_;  ///< weak: its handler owns this object
    Lookups::WaiterHandle lookup_;
    std::weak_ptr<AddressRace> race_;  ///< weak: its handler owns this object
};

}  // namespace k8s_sd::inline v0::detail
