#include "k8s_sd/detail/net/api_client_impl.hpp"
#include "k8s_sd/detail/net/configured_credentials.hpp"
#include "k8s_sd/detail/net/context_environment.hpp"
#include "k8s_sd/detail/net/secret_file.hpp"
#include "k8s_sd/version.hpp"

#include <tuple>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

ServerUrl url_of(const ApiServerConfig& server) {
    return parse_server_url(server.url, server.tls != TlsConfig{});
}

/// The one copy of an inline private key leaves nothing behind.
std::shared_ptr<const ConnectTarget> make_target(const ApiServerConfig& server) {
    const ServerUrl url = url_of(server);
    const std::shared_ptr<ConnectTarget> target(new ConnectTarget, [](ConnectTarget* t) {
        if (t->tls) cleanse(t->tls->key.data(), t->tls->key.size());
        std::default_delete<ConnectTarget>()(t);
    });
    target->host = url.host;
    target->port = url.port;
    if (url.tls) target->tls = server.tls;
    return target;
}

}  // namespace

ApiClientImpl::ApiClientImpl(asio::any_io_executor ex, const ApiServerConfig& server,
                             Environment env, std::unique_ptr<CredentialSource> source,
                             std::shared_ptr<ServerTraffic> shared_traffic)
    : executor(std::move(ex)),
      environment(with_defaults(std::move(env))),
      traffic(shared_traffic
                  ? std::move(shared_traffic)
                  : std::make_shared<ServerTraffic>(environment.limits, environment.metrics)),
      target(make_target(server)),
      credentials(source ? std::move(source) : make_source(server), environment.clock) {
    set_url(server);
    if (server.kubeconfig.files.empty()) return;
    reload_ = std::make_unique<KubeconfigReload>(
        server, executor, environment.clock, environment.file_calls, environment.logger,
        [this](const ApiServerConfig& before, const ApiServerConfig& now) {
            on_change(before, now);
        });
}

std::unique_ptr<CredentialSource> ApiClientImpl::make_source(const ApiServerConfig& server) const {
    return std::make_unique<ConfiguredCredentials>(server.auth, executor, environment.clock,
                                                   environment.file_calls, environment.logger);
}

void ApiClientImpl::set_url(const ApiServerConfig& server) {
    url_ = url_of(server);
    base_ = to_string(url_);
    header_ = " HTTP/1.1\r\nHost: " + authority(url_) +
              "\r\nUser-Agent: k8s_sd/" K8S_SD_VERSION
              "\r\nAccept: application/json\r\nAccept-Encoding: identity\r\n";
}

/// What is open goes on: only a new target is a reason for a new connection.
void ApiClientImpl::on_change(const ApiServerConfig& before, const ApiServerConfig& now) {
    if (std::tie(now.url, now.tls, now.proxy) != std::tie(before.url, before.tls, before.proxy)) {
        target = make_target(now);
    }
    if (std::tie(now.url, now.tls.ca, now.tls.ca_file) !=
        std::tie(before.url, before.tls.ca, before.tls.ca_file)) {
        ++server_revision;
    }
    set_url(now);
    credentials.replace_source(make_source(now));
}

void ApiClientImpl::async_get_credentials(Credentials::GetHandler handler) {
    if (!reload_) return credentials.async_get(std::move(handler));
    reload_->async_look([this, handler = std::move(handler)] { credentials.async_get(handler); });
}

void ApiClientImpl::async_refresh_credentials(std::uint64_t refused,
                                              Credentials::RefreshHandler handler) {
    if (!reload_) return credentials.async_refresh(refused, std::move(handler));
    reload_->async_look_at_once([this, refused, handler = std::move(handler)] {
        credentials.async_refresh(refused, handler);
    });
}

void ApiClientImpl::on_unreachable() noexcept {
    if (reload_) reload_->doubt();
}

HttpRequest ApiClientImpl::make_request(std::string_view path,
                                        const Authorization& authorization) const {
    HttpRequest request;
    std::string& text = request.text;
    // Enough room at once: growing would leave copies of a secret behind.
    text.reserve(32 + url_.prefix.size() + path.size() + header_.size() +
                 authorization.value.size());
    (((text += "GET ") += url_.prefix) += path) += header_;
    if (!authorization.value.empty())
        ((text += "Authorization: ") += view(authorization.value)) += "\r\n";
    text += "\r\n";
    return request;
}

std::unique_ptr<HttpConnection> ApiClientImpl::make_connection() const {
    return std::make_unique<HttpConnection>(executor, environment.connector, environment.clock);
}

std::uint64_t ApiClientImpl::next_seed() {
    return environment.seed + 0x9E3779B97F4A7C15U * ++seeds_;
}

std::shared_ptr<ApiClient> make_shared_client(const asio::any_io_executor& strand,
                                              const ApiServerConfig& server,
                                              Environment environment) {
    return std::make_shared<ApiClient>(
        std::make_unique<ApiClientImpl>(strand, server, std::move(environment), nullptr,
                                        ContextEnvironment::of(strand).traffic_of(server)));
}

}  // namespace k8s_sd::inline v0::detail
