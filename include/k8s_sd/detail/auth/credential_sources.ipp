#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/auth/configured_credentials.hpp"
#include "k8s_sd/detail/auth/credential_issuers.hpp"
#include "k8s_sd/detail/auth/credential_source.hpp"
#include "k8s_sd/detail/auth/credentials.hpp"
#include "k8s_sd/detail/auth/renewed_credentials.hpp"
#include "k8s_sd/detail/auth/secret_texts.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/environment.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

namespace {

/// The refused credentials as issued by the wrapped source.
CredentialSource::Refused without_headers(const CredentialSource::Refused& refused) {
    if (!refused || refused->headers.empty()) return refused;
    auto own = std::make_shared<RequestCredentials>(*refused);
    own->headers.clear();
    return own;
}

/// Adds configured headers to the credentials of another source. Headers from files are re-read
/// like tokens. If one of them has no value, there are no usable credentials.
class HeaderFiles final : public CredentialSource {
 public:
    HeaderFiles(std::unique_ptr<CredentialSource>, const std::vector<HttpHeader>&,
                asio::any_io_executor strand, std::shared_ptr<Clock>, std::shared_ptr<FileCalls>,
                Logger logger = {});

    void async_get(Refused, Handler) override;

 private:
    RequestCredentials complete(const RequestCredentials&) const;
    RequestCredentials with_headers(RequestCredentials) const;

    std::unique_ptr<CredentialSource> source_;
    std::vector<std::string> names_;
    SecretTexts values_;
};

HeaderFiles::HeaderFiles(std::unique_ptr<CredentialSource> source,
                         const std::vector<HttpHeader>& headers, asio::any_io_executor strand,
                         std::shared_ptr<Clock> clock, std::shared_ptr<FileCalls> calls,
                         Logger logger)
    : source_(std::move(source)),
      values_(std::move(strand), std::move(clock), std::move(calls), std::move(logger)) {
    for (const HttpHeader& header : headers) {
        names_.push_back(header.name);
        values_.add("header " + header.name, header.value, header.file);
    }
}

void HeaderFiles::async_get(Refused refused, Handler handler) {
    source_->async_get(without_headers(refused),
                       [this, handler = std::move(handler)](RequestCredentials credentials) {
                           if (credentials.ec) return handler(std::move(credentials));
                           std::function<void()> then;
                           try {
                               then = [this, handler, credentials = std::move(credentials)] {
                                   handler(complete(credentials));
                               };
                           } catch (const std::bad_alloc&) {
                               return handler(credentials_without_memory());
                           }
                           values_.async_read(std::move(then));
                       });
}

/// Without memory for the headers, still an answer.
RequestCredentials HeaderFiles::complete(const RequestCredentials& credentials) const {
    try {
        return with_headers(credentials);
    } catch (const std::bad_alloc&) {
        return credentials_without_memory();
    }
}

RequestCredentials HeaderFiles::with_headers(RequestCredentials credentials) const {
    if (!values_.complete()) {
        RequestCredentials none;
        none.ec = errc::credentials_unavailable;
        none.problem = values_.problem();
        return none;
    }
    for (std::size_t i = 0; i < names_.size(); ++i) {
        append(credentials.headers, names_[i]);
        append(credentials.headers, ": ");
        append(credentials.headers, values_[i]);
        append(credentials.headers, "\r\n");
    }
    if (credentials.problem.empty()) credentials.problem = values_.problem();
    const auto expiry = values_.expiry();
    if (expiry) credentials.expiry = std::min(credentials.expiry.value_or(*expiry), *expiry);
    return credentials;
}

/// Starting a program is more expensive than a request to a service.
constexpr Duration min_exec_pause = std::chrono::seconds(10);
constexpr Duration min_token_pause = std::chrono::seconds(1);

/// Exactly the fields an issuer depends on: clients with other differences share it.
ApiServerConfig issuer_config(const ApiServerConfig& server) {
    ApiServerConfig config;
    config.auth.scheme = server.auth.scheme;
    config.auth.exec = server.auth.exec;
    config.auth.oauth2 = server.auth.oauth2;
    config.auth.token_source = server.auth.token_source;
    if (config.auth.exec && config.auth.exec->provide_cluster_info) {
        config.url = server.url;
        config.tls = server.tls;
        config.proxy = server.proxy;
        config.disable_compression = server.disable_compression;
    }
    return config;
}

std::unique_ptr<CredentialIssuer> make_issuer(const ApiServerConfig& config,
                                              const asio::any_io_executor& strand,
                                              const Environment& environment) {
    if (config.auth.exec) return std::make_unique<ExecIssuer>(config, strand, environment);
    if (config.auth.oauth2)
        return std::make_unique<OAuth2Issuer>(*config.auth.oauth2, strand, environment);
    return std::make_unique<HostTokenIssuer>(config.auth.token_source, strand, environment.clock);
}

RenewedCredentials::Options renewal_options(const AuthConfig& auth) {
    RenewedCredentials::Options options;
    options.min_pause = auth.exec ? min_exec_pause : min_token_pause;
    // The scheme applies to tokens from the configuration and the host; other issuers set their
    // own.
    if (auth.token_source) options.scheme = auth.scheme;
    options.name = auth.exec     ? "exec " + auth.exec->command
                   : auth.oauth2 ? std::string("oauth2")
                                 : std::string("token_source");
    return options;
}

std::unique_ptr<CredentialSource> make_shared_source(const ApiServerConfig& server,
                                                     const asio::any_io_executor& strand,
                                                     const Environment& environment) {
    const ApiServerConfig config = issuer_config(server);
    return SharedCredentials::source(strand, {config, environment.clock, environment.programs},
                                     [&](const asio::any_io_executor& own) {
                                         return std::make_unique<RenewedCredentials>(
                                             make_issuer(config, own, environment),
                                             renewal_options(config.auth), environment.clock,
                                             environment.logger);
                                     });
}

}  // namespace

std::unique_ptr<CredentialSource> make_credential_source(const ApiServerConfig& server,
                                                         const asio::any_io_executor& strand,
                                                         const Environment& environment) {
    const AuthConfig& auth = server.auth;
    std::unique_ptr<CredentialSource> source;
    if (auth.exec || auth.oauth2 || auth.token_source) {
        source = make_shared_source(server, strand, environment);
    } else {
        source = std::make_unique<ConfiguredCredentials>(
            auth, strand, environment.clock, environment.file_calls, environment.logger);
    }
    const bool files = std::any_of(server.headers.begin(), server.headers.end(),
                                   [](const HttpHeader& header) { return !header.file.empty(); });
    if (!files) return source;
    return std::make_unique<HeaderFiles>(std::move(source), server.headers, strand,
                                         environment.clock, environment.file_calls,
                                         environment.logger);
}

}  // namespace k8s_sd::inline v0::detail
