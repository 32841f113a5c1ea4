#pragma once

#include "k8s_sd/api_client.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/config/server_url.hpp"
#include "k8s_sd/detail/net/credentials.hpp"
#include "k8s_sd/detail/net/http_connection.hpp"
#include "k8s_sd/detail/net/kubeconfig_reload.hpp"
#include "k8s_sd/detail/net/served_versions.hpp"
#include "k8s_sd/detail/net/server_identity.hpp"
#include "k8s_sd/detail/net/server_traffic.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Whoever uses the server for longer than a request takes.
class ServerUser {
 public:
    /// ApiClientImpl::server_revision and what belongs to it have changed. Must not call back.
    virtual void on_server_change() = 0;

 protected:
    ~ServerUser() = default;
};

/// Whether a client shares its traffic with all others of its server in the execution context.
enum class Traffic : bool { own, shared };

/// What the watches of one server have in common.
class ApiClientImpl {
 public:
    /// \param source   of the credentials; null: what `server.auth` says
    ApiClientImpl(asio::any_io_executor executor, const ApiServerConfig& server,
                  Environment environment, std::unique_ptr<CredentialSource> source = nullptr,
                  Traffic = Traffic::own);

    /// The credentials of the next request. May change everything else here before: to what the
    /// kubeconfig says now.
    void async_get_credentials(Credentials::GetHandler);
    /// See Credentials::async_refresh(). The kubeconfig may have other ones.
    void async_refresh_credentials(std::uint64_t refused, Credentials::RefreshHandler);
    /// Has the kubeconfig read now, if there is one: it may say something else.
    void look_at_kubeconfig();
    /// The server was not reached: it may have moved.
    void on_unreachable() noexcept;
    /// As long as there are users the kubeconfig is looked at, whether there are requests or not.
    void add_user(ServerUser&);
    void remove_user(ServerUser&) noexcept;

    /// The text of a request that changes something; the body is JSON.
    /// \param method  "POST", "PUT"
    HttpRequest make_write(std::string_view method, std::string_view path, std::string_view body,
                           const RequestCredentials&) const;
    /// The text of a GET request.
    /// \param path  with query, without the server's prefix
    /// \param accept  the value of the header
    /// \param gzip    whether the answer may be compressed
    HttpRequest make_request(std::string_view path, const RequestCredentials&,
                             std::string_view accept = "application/json", bool gzip = false) const;
    /// Whether the server is on this machine, by the name that it has.
    bool is_local() const;
    /// Whether the server may be asked for compressed answers.
    bool compresses() const noexcept { return compresses_; }
    std::unique_ptr<HttpConnection> make_connection() const;
    /// Where to send a request with these credentials. The same as long as they have the same
    /// client certificate, so that connections go on.
    HttpConnection::Target target_for(const RequestCredentials&);
    /// Where the configuration says that requests go.
    const HttpConnection::Target& target() const noexcept { return target_; }
    /// A text of the server for messages: without what echoes the credentials.
    std::string redact(std::string text) const;
    /// Something else that no text may echo.
    void add_secret(std::string_view);
    /// For messages; without a slash at the end.
    const std::string& url() const noexcept { return base_; }
    std::uint64_t next_seed();

    const asio::any_io_executor executor;
    const Environment environment;
    std::shared_ptr<ServerTraffic> traffic;  ///< of the server that is at `url()`
    std::uint64_t server_revision = 0;       ///< another one: it may be another cluster
    ServerIdentity server_identity;          ///< of that revision
    Credentials credentials;
    ServedVersions served_versions{*this};

 private:
    /// \param rest  of the header: what is between the lines of the server and the credentials
    HttpRequest assemble(std::string_view method, std::string_view path, std::string_view accept,
                         std::string_view rest, const RequestCredentials&,
                         std::string_view body) const;
    void set_target(const ApiServerConfig&);
    void set_server(const ApiServerConfig&);
    std::shared_ptr<ServerTraffic> find_traffic(const ApiServerConfig&) const;
    void on_change(const ApiServerConfig& before, const ApiServerConfig& now);

    const Traffic traffic_kind_;
    ServerUrl url_;
    std::string base_;
    /// What is the same in every request, before what it accepts and behind that.
    std::string header_;
    std::string header_rest_;
    bool compresses_ = true;
    HttpConnection::Target target_;         ///< as the configuration says
    HttpConnection::Target issued_target_;  ///< with the certificate of `identity_`
    std::shared_ptr<const ClientIdentity> identity_;
    std::vector<CleansedBytes> secrets_;
    std::uint64_t seeds_ = 0;
    std::set<ServerUser*> users_;
    std::unique_ptr<KubeconfigReload> reload_;  ///< null: there is no kubeconfig
};

/// A client with Traffic::shared.
std::shared_ptr<ApiClient> make_shared_client(const asio::any_io_executor& strand,
                                              const ApiServerConfig& server, Environment);

}  // namespace k8s_sd::inline v0::detail
