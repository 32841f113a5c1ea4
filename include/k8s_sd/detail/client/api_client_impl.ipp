#include "k8s_sd/api_client.hpp"
#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/async/operation.hpp"
#include "k8s_sd/detail/auth/connect_targets.hpp"
#include "k8s_sd/detail/auth/credentials.hpp"
#include "k8s_sd/detail/base/http2_support.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/client/api_client_impl.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/text/redaction.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/text/url_text.hpp"
#include "k8s_sd/detail/text/user_agent.hpp"
#include "k8s_sd/detail/transport/http2/http2_pool.hpp"
#include "k8s_sd/detail/transport/proxy/proxy_target.hpp"
#include "k8s_sd/error.hpp"

#include <boost/asio/ip/address.hpp>
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

/// Token characters that append_escaped() would escape, except the percent sign.
constexpr std::string_view header_token_marks = "!#$&'*+^`|";

void append_line(std::string& lines, const std::string& field, std::string_view name,
                 std::string_view value) {
    if (!is_header_name(name)) {
        throw ConfigError(field, "the name of a header must not be empty, and has no blanks, "
                                 "control characters or any of ()<>@,;:\\\"/[]?={}");
    }
    if (!is_header_text(value)) {
        throw ConfigError(field, "must not contain a line break or another control character");
    }
    (((lines += name) += ": ") += value) += "\r\n";
}

/// Source: client-go, transport/round_trippers.go.
/// \throws ConfigError for a control character
std::string impersonation_lines(const ImpersonationConfig& config) {
    std::string lines;
    const std::string where = "api_server.impersonate.";
    if (!config.user.empty()) append_line(lines, where + "user", "Impersonate-User", config.user);
    if (!config.uid.empty()) append_line(lines, where + "uid", "Impersonate-Uid", config.uid);
    for (const std::string& group : config.groups) {
        append_line(lines, where + "groups", "Impersonate-Group", group);
    }
    for (const auto& [key, values] : config.extra) {
        std::string name = "Impersonate-Extra-";
        append_escaped(name, lower_case(key), header_token_marks);
        for (const std::string& value : values) append_line(lines, where + "extra", name, value);
    }
    return lines;
}

/// Lines of constant headers. Empty if any header comes from a file, because HeaderFiles then adds
/// them all.
/// \throws ConfigError for a control character or an invalid header name
std::string header_lines(const std::vector<HttpHeader>& headers) {
    const bool files = std::any_of(headers.begin(), headers.end(),
                                   [](const HttpHeader& header) { return !header.file.empty(); });
    std::string lines;
    for (const HttpHeader& header : headers) {
        append_line(lines, "api_server.headers", header.name, header.value);
    }
    return files ? std::string() : lines;
}

std::shared_ptr<Http2Pool> make_http2_pool(const asio::any_io_executor& executor,
                                           const Environment& environment) {
    if (!has_http2()) return nullptr;
    return std::make_shared<Http2Pool>(
        executor, environment.clock, environment.limits.max_watches_per_connection,
        std::shared_ptr<Metrics::Gauge>(environment.metrics,
                                        &environment.metrics->http2_connections));
}

ServerUrl url_of(const ApiServerConfig& server) {
    return parse_server_url(server.url, server.tls != TlsConfig{});
}

}  // namespace

ApiClientImpl::ApiClientImpl(asio::any_io_executor ex, const ApiServerConfig& server,
                             Environment env, std::unique_ptr<CredentialSource> source,
                             Traffic traffic_kind)
    : executor(std::move(ex)),
      environment(with_defaults(std::move(env))),
      server_identity(server),
      credentials(source ? std::move(source)
                         : make_credential_source(server, executor, environment),
                  environment.clock),
      reports{base_, *environment.metrics, environment.logger,
              [this](std::string text) { return redact(std::move(text)); }},
      traffic_kind_(traffic_kind),
      connections_(std::make_shared<const HttpConnection::Client>(
          executor, environment.connector, environment.clock,
          make_http2_pool(executor, environment))) {
    traffic = find_traffic(server);
    set_server(server);
    set_target(server);
    if (server.kubeconfig.files.empty()) return;
    reload_ = std::make_unique<KubeconfigReload>(
        server, executor, environment.clock, environment.file_calls, environment.logger,
        [this](const ApiServerConfig& before, const ApiServerConfig& now) {
            on_change(before, now);
        });
}

void ApiClientImpl::set_server(const ApiServerConfig& server) {
    url_ = url_of(server);
    base_ = to_string(url_);
    header_ = " HTTP/1.1\r\nHost: " + authority(url_) + "\r\n";
    (header_ += user_agent_line) += "Accept: ";
    compresses_ = !server.disable_compression;
    http_version_ = server.http_version;
    header_rest_ = impersonation_lines(server.impersonate) + header_lines(server.headers);
    for (const HttpHeader& header : server.headers) {
        if (may_be_secret(header.value)) add_secret(header.value);
    }
}

void ApiClientImpl::set_target(const ApiServerConfig& server) {
    target_ = make_connect_target(url_, server.tls, server.proxy);
    identity_ = nullptr;  // its target has the old address
    if (!target_->proxy) return;
    // A plain-http proxy can respond in place of the server.
    for (const CleansedBytes& secret : secrets_of(*target_->proxy)) add_secret(view(secret));
}

std::shared_ptr<ServerTraffic> ApiClientImpl::find_traffic(const ApiServerConfig& server) const {
    if (traffic_kind_ == Traffic::shared)
        return ContextEnvironment::of(executor).traffic_of(server);
    return std::make_shared<ServerTraffic>(environment.limits, environment.metrics,
                                           environment.clock);
}

/// Connections to the same server stay open; only a new target requires new ones.
void ApiClientImpl::on_change(const ApiServerConfig& before, const ApiServerConfig& now) {
    set_server(now);
    if (now.url != before.url) traffic = find_traffic(now);
    if (std::tie(now.url, now.tls, now.proxy) != std::tie(before.url, before.tls, before.proxy)) {
        set_target(now);
    }
    if (ServerIdentity identity(now); identity != server_identity) {
        server_identity = std::move(identity);
        ++server_revision;
        served_versions.forget();
        for (ServerUser* user : users_) user->on_server_change();
    }
    credentials.replace_source(make_credential_source(now, executor, environment));
}

void ApiClientImpl::add_user(ServerUser& user) {
    users_.insert(&user);
    if (reload_) reload_->keep_checking();
}

void ApiClientImpl::remove_user(ServerUser& user) noexcept {
    users_.erase(&user);
    if (reload_ && users_.empty()) reload_->rest();
}

void ApiClientImpl::async_get_credentials(Credentials::GetHandler handler) {
    if (!reload_) return credentials.async_get(std::move(handler));
    reload_->async_check([this, handler = std::move(handler)] { credentials.async_get(handler); });
}

void ApiClientImpl::async_refresh_credentials(std::uint64_t refused,
                                              Credentials::RefreshHandler handler) {
    if (!reload_) return credentials.async_refresh(refused, std::move(handler));
    reload_->async_check_now([this, refused, handler = std::move(handler)] {
        credentials.async_refresh(refused, handler);
    });
}

void ApiClientImpl::check_kubeconfig() {
    if (reload_) reload_->async_check_now([] {});
}

void ApiClientImpl::on_unreachable() noexcept {
    if (reload_) reload_->doubt();
}

HttpRequest ApiClientImpl::make_request(std::string_view path, const RequestCredentials& present,
                                        std::string_view accept, bool gzip) const {
    // An API server recognizes only the first encoding, in this spelling and without a weight.
    const std::string_view encoding =
        gzip ? "\r\nAccept-Encoding: gzip\r\n" : "\r\nAccept-Encoding: identity\r\n";
    return assemble("GET ", path, accept, encoding, present, {});
}

HttpRequest ApiClientImpl::make_write(std::string_view method, std::string_view path,
                                      std::string_view body,
                                      const RequestCredentials& present) const {
    const std::string rest =
        "\r\nAccept-Encoding: identity\r\nContent-Type: application/json\r\nContent-Length: " +
        std::to_string(body.size()) + "\r\n";
    return assemble(std::string(method) + ' ', path, "application/json", rest, present, body);
}

HttpRequest ApiClientImpl::assemble(std::string_view method, std::string_view path,
                                    std::string_view accept, std::string_view rest,
                                    const RequestCredentials& present,
                                    std::string_view body) const {
    HttpRequest request;
    request.connect_permits = traffic->connect_permits;
    request.http2_pause = traffic->http2_pause;
    request.connections = {traffic->counts, &traffic->counts->connections};
    request.sent = {traffic->counts, &traffic->counts->requests};
    std::string& text = request.text;
    // Reserve everything: a reallocation would leave copies of secrets behind.
    text.reserve(32 + method.size() + url_.prefix.size() + path.size() + header_.size() +
                 accept.size() + rest.size() + header_rest_.size() + present.value.size() +
                 present.headers.size() + body.size());
    (((text += method) += url_.prefix) += path) += header_;
    ((text += accept) += rest) += header_rest_;
    if (!present.value.empty()) ((text += "Authorization: ") += view(present.value)) += "\r\n";
    text += view(present.headers);
    (text += "\r\n") += body;
    return request;
}

bool ApiClientImpl::is_local() const {
    error_code ec;
    const auto address = asio::ip::make_address(url_.host, ec);
    return ec ? url_.host == "localhost" : address.is_loopback();
}

HttpConnection::Target ApiClientImpl::target_for(const RequestCredentials& present) {
    if (!present.identity) return target_;
    if (identity_ != present.identity) {
        identity_ = present.identity;
        issued_target_ = with_identity(*target_, *identity_);
    }
    return issued_target_;
}

std::string ApiClientImpl::redact(std::string text) const {
    return detail::redact(credentials.redact(std::move(text)), secrets_);
}

void ApiClientImpl::add_secret(std::string_view secret) {
    const auto known = [&](const CleansedBytes& other) { return view(other) == secret; };
    if (std::none_of(secrets_.begin(), secrets_.end(), known)) {
        append(secrets_.emplace_back(), secret);
    }
}

HttpConnection ApiClientImpl::make_connection() const { return HttpConnection(connections_); }

std::uint64_t ApiClientImpl::next_seed() {
    return environment.seed + 0x9E3779B97F4A7C15U * ++seeds_;
}

std::shared_ptr<ApiClient> make_shared_client(const asio::any_io_executor& strand,
                                              const ApiServerConfig& server,
                                              Environment environment) {
    return Access::make_unique<ApiClient>(std::make_unique<ApiClientImpl>(
        strand, server, std::move(environment), nullptr, Traffic::shared));
}

}  // namespace k8s_sd::inline v0::detail

namespace k8s_sd::inline v0 {

namespace {

asio::any_io_executor checked_strand(asio::any_io_executor strand) {
    detail::check_host_executor(strand, "ApiClient");
    return strand;
}

}  // namespace

ApiClient::ApiClient(asio::any_io_executor strand, const ApiServerConfig& server,
                     Environment environment)
    : ApiClient(std::make_unique<detail::ApiClientImpl>(checked_strand(std::move(strand)), server,
                                                        std::move(environment))) {}
ApiClient::ApiClient(std::unique_ptr<detail::ApiClientImpl> impl) : impl_(std::move(impl)) {}
ApiClient::~ApiClient() = default;
asio::any_io_executor ApiClient::get_executor() const { return impl_->executor; }

}  // namespace k8s_sd::inline v0
