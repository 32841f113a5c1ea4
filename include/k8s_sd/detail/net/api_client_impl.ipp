#include "k8s_sd/detail/net/api_client_impl.hpp"
#include "k8s_sd/detail/net/configured_credentials.hpp"
#include "k8s_sd/detail/net/connect_target.hpp"
#include "k8s_sd/detail/net/context_environment.hpp"
#include "k8s_sd/detail/net/secret_file.hpp"
#include "k8s_sd/version.hpp"

#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

ServerUrl url_of(const ApiServerConfig& server) {
    return parse_server_url(server.url, server.tls != TlsConfig{});
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
      target(make_connect_target(url_of(server), server.tls, server.proxy)),
      credentials(source ? std::move(source)
                         : std::make_unique<ConfiguredCredentials>(
                               server.auth, executor, environment.clock, environment.file_calls,
                               environment.logger),
                  environment.clock),
      url_(url_of(server)),
      base_(to_string(url_)) {
    header_ = " HTTP/1.1\r\nHost: " + authority(url_) +
              "\r\nUser-Agent: k8s_sd/" K8S_SD_VERSION
              "\r\nAccept: application/json\r\nAccept-Encoding: identity\r\n";
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
