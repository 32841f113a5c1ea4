#include "cli/server_options.hpp"

#include "cli/option_values.hpp"
#include "cli/terminal_text.hpp"
#include "k8s_sd/config.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace cli {

namespace {

using k8s_sd::ApiServerConfig;
using k8s_sd::AuthConfig;
using k8s_sd::DiscoveryConfig;
using k8s_sd::ImpersonationConfig;
using k8s_sd::TlsConfig;
using Text = const std::string&;

const Choices<k8s_sd::TlsVersion>& tls_versions() {
    static const Choices<k8s_sd::TlsVersion> all{{"1.2", k8s_sd::TlsVersion::tls_1_2},
                                                 {"1.3", k8s_sd::TlsVersion::tls_1_3}};
    return all;
}

const Choices<k8s_sd::HttpVersion>& http_versions() {
    static const Choices<k8s_sd::HttpVersion> all{{"auto", k8s_sd::HttpVersion::automatic},
                                                  {"1.1", k8s_sd::HttpVersion::http1},
                                                  {"2", k8s_sd::HttpVersion::http2}};
    return all;
}

Setter file(std::string& member) {
    return [&member](Text value) { member = readable_file(value); };
}

/// "Name: value". validate() checks the name.
k8s_sd::HttpHeader read_header(const std::string& line) {
    const std::size_t colon = line.find(':');
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    // Not quoted: the value may be a secret.
    if (colon == std::string::npos) throw UsageError("the form is NAME: VALUE");
    return {line.substr(0, colon), value == std::string::npos ? "" : line.substr(value), {}};
}

/// The reason the file cannot be read, or "".
std::string trouble_with(const std::string& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    // The file is read repeatedly; a pipe can be read only once.
    if (exists(status) && !is_directory(status) && !is_regular_file(status))
        return "it is not a regular file";
    errno = 0;
    std::ifstream stream(path);
    // A directory can be opened, too.
    if (stream && (stream.peek() != std::ifstream::traits_type::eof() || stream.eof())) return {};
    return std::strerror(errno != 0 ? errno : EIO);
}

}  // namespace

Section server_options(DiscoveryConfig& config, const std::string& otherwise) {
    auto& server = config.api_server;
    return {
        "Server; without any of these: " + otherwise,
        {{"--api-server", "URL",
          "URL of the API server, http or https, with an optional path prefix", text(server.url)},
         {"--kubeconfig", "FILE", "a kubeconfig", text(config.kubeconfig_file)},
         {"--context", "NAME", "context of the kubeconfig; default: the current context",
          text(config.kubeconfig_context)},
         {"--proxy", "URL", "proxy for the server: http, https or socks5", text(server.proxy.url)},
         {"--no-proxy", "HOST[,HOST]...", "servers to connect to without --proxy",
          text(server.proxy.no_proxy)},
         {"--proxy-from-environment", "", "use HTTPS_PROXY or HTTP_PROXY, and NO_PROXY",
          flag(server.proxy.from_environment)},
         {"--http-version", "VERSION",
          either(names_of(http_versions()), "auto") +
              "; auto: HTTP/2 where many requests can share a connection",
          choice(server.http_version, http_versions())},
         {"--header", "'NAME: VALUE'", "header of every request; repeatable",
          [&server](Text line) { server.headers.push_back(read_header(line)); }}}};
}

Section credential_options(DiscoveryConfig& config) {
    AuthConfig& auth = config.api_server.auth;
    ImpersonationConfig& who = config.api_server.impersonate;
    TlsConfig& tls = config.api_server.tls;
    return {"Credentials and TLS",
            {{"--token-file", "FILE", "bearer token, read again when it changes",
              file(auth.bearer_token_file)},
             {"--username", "NAME", "user name for basic authentication", text(auth.username)},
             {"--password-file", "FILE", "password, read again when it changes",
              file(auth.password_file)},
             {"--as", "USER", "impersonate this user", text(who.user)},
             {"--as-group", "GROUP", "impersonate a member of this group; repeatable",
              [&who](Text group) { who.groups.push_back(group); }},
             {"--as-uid", "UID", "impersonate a user with this UID", text(who.uid)},
             {"--ca-file", "FILE", "trusted CA certificates (PEM) in place of the system's",
              file(tls.ca_file)},
             {"--client-cert", "FILE", "client certificate (PEM), with --client-key",
              file(tls.cert_file)},
             {"--client-key", "FILE", "its private key (PEM)", file(tls.key_file)},
             {"--tls-server-name", "NAME", "expected name in the server's certificate",
              text(tls.server_name)},
             {"--tls-min-version", "VERSION",
              either(names_of(tls_versions()), "1.2") + ": minimum version of TLS",
              choice(tls.min_version, tls_versions())},
             {"--tls-max-version", "VERSION", "1.2 or 1.3 (default): maximum version of TLS",
              choice(tls.max_version, tls_versions())},
             {"--insecure-skip-tls-verify", "", "do not verify the server's certificate",
              flag(tls.insecure_skip_verify)}}};
}

bool names_server(const DiscoveryConfig& config) {
    ApiServerConfig named = config.api_server;
    named.http_version = {};  // valid for any server
    return named != ApiServerConfig{} || !config.kubeconfig_file.empty() ||
           !config.kubeconfig_context.empty();
}

void set_server(DiscoveryConfig& to, const DiscoveryConfig& from) {
    const k8s_sd::HttpVersion own = to.api_server.http_version;
    to.api_server = from.api_server;
    if (own != k8s_sd::HttpVersion::automatic) to.api_server.http_version = own;
    to.kubeconfig_file = from.kubeconfig_file;
    to.kubeconfig_context = from.kubeconfig_context;
}

ApiServerConfig usable_server(DiscoveryConfig& config) {
    k8s_sd::find_api_server(config);
    ApiServerConfig server = resolve(config).scope.api_server;
    check_files(server);
    return server;
}

void check_files(const ApiServerConfig& server) {
    const AuthConfig& auth = server.auth;
    const std::pair<const char*, const std::string&> files[] = {
        {"CA certificates", server.tls.ca_file},
        {"client certificate", server.tls.cert_file},
        {"key of the client certificate", server.tls.key_file},
        {"token", auth.bearer_token_file},
        {"user name", auth.username_file},
        {"password", auth.password_file}};
    for (const auto& [what, path] : files) {
        // While the token file is unreadable, the token beside it is used.
        if (path.empty() || (&path == &auth.bearer_token_file && !auth.bearer_token.empty()))
            continue;
        const std::string trouble = trouble_with(path);
        if (trouble.empty()) continue;
        throw Unusable("cannot read the file of the " + std::string(what) + ", " +
                       printable(path, 1000) + ": " + trouble);
    }
}

std::string readable_file(const std::string& path) {
    const std::string trouble = trouble_with(path);
    if (!trouble.empty())
        throw UsageError("cannot read the file " + printable(path, 1000) + ": " + trouble);
    return path;
}

std::string_view option_of_server_field(std::string_view field) noexcept {
    constexpr std::pair<std::string_view, std::string_view> options[] = {
        {"api_server.url", "--api-server"},
        {"api_server.auth.bearer_token_file", "--token-file"},
        {"api_server.auth.username", "--username"},
        {"api_server.auth.password_file", "--password-file"},
        {"api_server.headers", "--header"},
        {"api_server.impersonate.user", "--as"},
        {"api_server.impersonate.groups", "--as-group"},
        {"api_server.impersonate.uid", "--as-uid"},
        {"api_server.tls.ca_file", "--ca-file"},
        {"api_server.tls.cert_file", "--client-cert"},
        {"api_server.tls.key_file", "--client-key"},
        {"api_server.tls.server_name", "--tls-server-name"},
        {"api_server.tls.min_version", "--tls-min-version"},
        {"api_server.tls.max_version", "--tls-max-version"},
        {"api_server.tls.insecure_skip_verify", "--insecure-skip-tls-verify"},
        {"api_server.http_version", "--http-version"},
        {"api_server.proxy.url", "--proxy"},
        {"api_server.proxy.no_proxy", "--no-proxy"},
        {"api_server.proxy.from_environment", "--proxy-from-environment"},
        {"kubeconfig_file", "--kubeconfig"},
        {"kubeconfig_context", "--context"},
        {"API server", "--api-server"},
    };
    for (const auto& [prefix, option] : options) {
        if (field.starts_with(prefix)) return option;
    }
    return {};
}

}  // namespace cli
