#include "k8s_sd/detail/auth/configured_credentials.hpp"
#include "k8s_sd/detail/auth/credential_sources.hpp"
#include "k8s_sd/detail/auth/exec_issuer.hpp"
#include "k8s_sd/detail/auth/header_files.hpp"
#include "k8s_sd/detail/auth/host_token_issuer.hpp"
#include "k8s_sd/detail/auth/oauth2_issuer.hpp"
#include "k8s_sd/detail/auth/shared_credentials.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

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
