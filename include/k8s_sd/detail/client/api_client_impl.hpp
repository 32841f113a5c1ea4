#pragma once

#include "k8s_sd/api_client.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/auth/credentials.hpp"
#include "k8s_sd/detail/auth/kubeconfig_reload.hpp"
#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/detail/client/http2_use.hpp"
#include "k8s_sd/detail/client/report_context.hpp"
#include "k8s_sd/detail/client/served_versions.hpp"
#include "k8s_sd/detail/client/server_identity.hpp"
#include "k8s_sd/detail/client/server_traffic.hpp"
#include "k8s_sd/detail/client/server_version.hpp"
#include "k8s_sd/detail/config/urls.hpp"
#include "k8s_sd/detail/transport/http_connection.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A long-lived user of the server, such as a watch.
class ServerUser {
 public:
    /// ApiClientImpl::server_revision and its related members have changed. Must not call back.
    virtual void on_server_change() = 0;

 protected:
    ~ServerUser() = default;
};

/// Whether a client shares its ServerTraffic with other clients of its server in the execution
/// context.
enum class Traffic : bool { own, shared };

/// The state shared by all watches of one server.
class ApiClientImpl {
 public:
    /// \param source   of the credentials; null: as configured in `server.auth`
    ApiClientImpl(asio::any_io_executor executor, const ApiServerConfig& server,
                  Environment environment, std::unique_ptr<CredentialSource> source = nullptr,
                  Traffic = Traffic::own);

    /// Gets the credentials for the next request. May first apply a changed kubeconfig to all other
    /// members.
    void async_get_credentials(Credentials::GetHandler);
    /// See Credentials::async_refresh(). Checks the kubeconfig for new credentials, too.
    void async_refresh_credentials(std::uint64_t refused, Credentials::RefreshHandler);
    /// Re-reads the kubeconfig, if there is one, and applies changes.
    void check_kubeconfig();
    /// The server was unreachable: it may have moved.
    void on_unreachable() noexcept;
    /// While there are users, the kubeconfig is re-read periodically, even without requests.
    void add_user(ServerUser&);
    void remove_user(ServerUser&) noexcept;

    /// Builds a write request with a JSON body.
    /// \param method  "POST" or "PUT"
    HttpRequest make_write(std::string_view method, std::string_view path, std::string_view body,
                           const RequestCredentials&) const;
    /// Builds a GET request.
    /// \param path  with query, without the server's prefix
    /// \param accept  value of the Accept header
    /// \param gzip    whether the response may be compressed
    HttpRequest make_request(std::string_view path, const RequestCredentials&,
                             std::string_view accept = "application/json", bool gzip = false) const;
    HttpVersion http_version() const noexcept { return http_version_; }
    /// Whether the server's host name refers to this machine.
    bool is_local() const;
    /// Whether responses may be requested with compression.
    bool compresses() const noexcept { return compresses_; }
    HttpConnection make_connection() const;
    /// The connection target for these credentials. Equal client certificates lead to the same
    /// target object, so connections are reused.
    HttpConnection::Target target_for(const RequestCredentials&);
    /// The configured connection target.
    const HttpConnection::Target& target() const noexcept { return target_; }
    /// Removes echoed credentials from a text of the server.
    std::string redact(std::string text) const;
    /// Adds another secret for redact().
    void add_secret(std::string_view);
    /// The server's URL for messages, without a trailing slash.
    const std::string& url() const noexcept { return base_; }
    std::uint64_t next_seed();

    const asio::any_io_executor executor;
    const Environment environment;
    std::shared_ptr<ServerTraffic> traffic;  ///< of the server at `url()`
    std::uint64_t server_revision = 0;  ///< changes with the server, perhaps to another cluster
    ServerIdentity server_identity;     ///< of that revision
    Credentials credentials;
    const ReportContext reports;
    ServedVersions served_versions{*this};
    ServerVersion server_version{*this};

 private:
    /// \param rest  header lines between those of the server and the credentials
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
    /// Header lines common to all requests, before and after the Accept header.
    std::string header_;
    std::string header_rest_;
    bool compresses_ = true;
    HttpVersion http_version_ = HttpVersion::automatic;
    HttpConnection::Target target_;         ///< as configured
    HttpConnection::Target issued_target_;  ///< with the certificate of `identity_`
    std::shared_ptr<const ClientIdentity> identity_;
    std::vector<CleansedBytes> secrets_;
    std::uint64_t seeds_ = 0;
    boost::unordered_flat_set<ServerUser*> users_;
    std::unique_ptr<KubeconfigReload> reload_;  ///< null: no kubeconfig
    const std::shared_ptr<const HttpConnection::Client> connections_;
};

inline ApiClientImpl& impl_of(ApiClient& client) noexcept { return Access::impl(client); }

/// Creates a client with Traffic::shared.
std::shared_ptr<ApiClient> make_shared_client(const asio::any_io_executor& strand,
                                              const ApiServerConfig& server, Environment);

}  // namespace k8s_sd::inline v0::detail
