#include "k8s_sd/api_client.hpp"
#include "k8s_sd/detail/net/api_client_impl.hpp"
#include "k8s_sd/detail/net/context_environment.hpp"
#include "k8s_sd/version.hpp"

#include <functional>
#include <utility>

namespace k8s_sd::inline v0 {

ApiClient::Impl::Impl(asio::any_io_executor ex, const ApiServerConfig& server, Environment env)
    : executor(std::move(ex)),
      environment(detail::with_defaults(std::move(env))),
      url_(detail::parse_server_url(server.url, server.tls != TlsConfig{})),
      base_(detail::to_string(url_)),
      credentials_(server.auth) {
    target.host = url_.host;
    target.port = url_.port;
    if (url_.tls) target.tls = server.tls;
    header_ = " HTTP/1.1\r\nHost: " + detail::authority(url_) +
              "\r\nUser-Agent: k8s_sd/" K8S_SD_VERSION
              "\r\nAccept: application/json\r\nAccept-Encoding: identity\r\n";
}

ApiClient::Impl::Request ApiClient::Impl::make_request(std::string_view path, error_code& ec,
                                                       std::string& problem) {
    std::string authorization = credentials_.authorization(environment.clock->now(), ec, problem);
    Request request;
    std::string& text = request.http.text;
    // Enough room at once: growing would leave copies of a secret behind.
    text.reserve(32 + url_.prefix.size() + path.size() + header_.size() + authorization.size());
    (((text += "GET ") += url_.prefix) += path) += header_;
    if (!authorization.empty()) ((text += "Authorization: ") += authorization) += "\r\n";
    text += "\r\n";
    request.credentials = std::hash<std::string>{}(authorization);
    detail::cleanse(authorization.data(), authorization.size());
    return request;
}

bool ApiClient::Impl::refresh_credentials(std::size_t sent) {
    credentials_.refresh(environment.clock->now());
    error_code ec;
    std::string problem;
    std::string authorization = credentials_.authorization(environment.clock->now(), ec, problem);
    const std::size_t current = std::hash<std::string>{}(authorization);
    detail::cleanse(authorization.data(), authorization.size());
    return !ec && current != sent;
}

std::unique_ptr<detail::HttpConnection> ApiClient::Impl::make_connection() const {
    return std::make_unique<detail::HttpConnection>(executor, environment.connector,
                                                    environment.clock);
}

std::uint64_t ApiClient::Impl::next_seed() {
    return environment.seed + 0x9E3779B97F4A7C15U * ++seeds_;
}

ApiClient::ApiClient(asio::any_io_executor strand, const ApiServerConfig& server,
                     Environment environment)
    : impl_(std::make_unique<Impl>(std::move(strand), server, std::move(environment))) {}
ApiClient::~ApiClient() = default;
asio::any_io_executor ApiClient::get_executor() const { return impl_->executor; }

}  // namespace k8s_sd::inline v0
