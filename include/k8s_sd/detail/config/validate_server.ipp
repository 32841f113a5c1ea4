#include "k8s_sd/detail/config/proxy.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/config/urls.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

namespace k8s_sd::inline v0::detail {

namespace {

using GivenOptions = std::initializer_list<GivenOption>;

void check_header_text(const std::string& where, const std::string& value) {
    if (!is_header_text(value)) {
        throw ConfigError(where, "must not contain a line break or another control character");
    }
}

/// \param where  the field that requires the member
void check_needed(const std::string& where, const std::string& member, const std::string& value) {
    if (value.empty()) throw ConfigError(where, "needs " + member);
}

bool is_given(const std::string& inline_form, const std::string& file) {
    return !inline_form.empty() || !file.empty();
}

// --- headers -------------------------------------------------------------------------------------

/// Why configurations must not set the header; empty if they may. Includes the names reserved by
/// Prometheus, and the headers by which this library negotiates the response.
std::string_view reserved_because(std::string_view name) {
    constexpr std::array<std::string_view, 23> ours{"accept",
                                                    "accept-encoding",
                                                    "connection",
                                                    "content-encoding",
                                                    "content-length",
                                                    "content-type",
                                                    "expect",
                                                    "host",
                                                    "keep-alive",
                                                    "proxy-authenticate",
                                                    "proxy-connection",
                                                    "te",
                                                    "trailer",
                                                    "transfer-encoding",
                                                    "upgrade",
                                                    "user-agent",
                                                    "www-authenticate",
                                                    "x-amz-content-sha256",
                                                    "x-amz-date",
                                                    "x-amz-security-token",
                                                    "x-prometheus-remote-read-version",
                                                    "x-prometheus-remote-write-version",
                                                    "x-prometheus-scrape-timeout-seconds"};
    const std::string lower = lower_case(name);
    if (lower == "authorization") return "is set by the credentials; configure those";
    if (lower == "proxy-authorization") return "is set by the user of the proxy's URL";
    if (lower.starts_with("impersonate-")) return "is set by impersonate";
    const bool reserved = std::find(ours.begin(), ours.end(), lower) != ours.end();
    return reserved ? "is reserved; it cannot be configured" : "";
}

void check_header(const std::string& where, const HttpHeader& header) {
    check_needed(where, "a name", header.name);
    if (!is_header_name(header.name)) {
        throw ConfigError(where + ".name",
                          "is not the name of a header: letters, digits, '-' and '_' are allowed");
    }
    if (const std::string_view reason = reserved_because(header.name); !reason.empty()) {
        throw ConfigError(where + ".name", header.name + " " + std::string(reason));
    }
    check_at_most_one(
        {{where + ".value", !header.value.empty()}, {where + ".file", !header.file.empty()}});
    check_header_text(where + ".value", header.value);
}

// --- credentials ---------------------------------------------------------------------------------

void check_basic_auth(const std::string& where, const AuthConfig& auth) {
    check_at_most_one({{where + ".username", !auth.username.empty()},
                       {where + ".username_file", !auth.username_file.empty()}});
    check_at_most_one({{where + ".password", !auth.password.empty()},
                       {where + ".password_file", !auth.password_file.empty()}});
    if (auth.username.find(':') != std::string::npos) {
        throw ConfigError(where + ".username", "must not contain a colon");
    }
}

/// The scheme of an Authorization header. Basic would require an encoded user and password.
void check_scheme(const std::string& where, const std::string& scheme) {
    if (lower_case(scheme) == "basic") {
        throw ConfigError(where, "use username and password for basic authentication");
    }
    if (!is_header_name(scheme)) throw ConfigError(where, "is no scheme; the usual one is Bearer");
}

void check_exec(const std::string& where, const ExecConfig& exec) {
    constexpr std::string_view api = "client.authentication.k8s.io/";
    check_needed(where, "command", exec.command);
    if (exec.api_version != std::string(api) + "v1" &&
        exec.api_version != std::string(api) + "v1beta1") {
        throw ConfigError(where + ".api_version", "allowed are " + std::string(api) + "v1 and " +
                                                      std::string(api) + "v1beta1");
    }
    if (exec.interactive_mode == ExecConfig::InteractiveMode::always) {
        throw ConfigError(where + ".interactive_mode",
                          "always needs a terminal, and there is none; allowed are never and "
                          "if_available");
    }
    if (exec.timeout <= Duration::zero() || exec.timeout > std::chrono::hours(1)) {
        throw ConfigError(where + ".timeout", "must be greater than zero, and at most an hour");
    }
    for (const ExecConfig::Variable& variable : exec.env) {
        if (variable.name.empty() || variable.name.find('=') != std::string::npos) {
            throw ConfigError(where + ".env", "a variable needs a name without '='");
        }
    }
    // Arguments and environment variables of a program are null-terminated.
    const auto has_zero = [](const std::string& s) { return s.find('\0') != std::string::npos; };
    const bool zero = has_zero(exec.command) ||
                      std::any_of(exec.args.begin(), exec.args.end(), has_zero) ||
                      std::any_of(exec.env.begin(), exec.env.end(), [&](const auto& variable) {
                          return has_zero(variable.name) || has_zero(variable.value);
                      });
    if (zero) throw ConfigError(where, "must not contain a NUL character");
}

void check_token_url(const std::string& where, const std::string& url) {
    if (!url.starts_with("http://") && !url.starts_with("https://")) {
        throw ConfigError(where, "must begin with http:// or https://");
    }
    try {
        // A token service's URL may have a query.
        parse_server_url(url.substr(0, url.find('?')), true);
    } catch (const ConfigError& e) {
        throw ConfigError(where, e.problem());
    }
}

void check_oauth2(const std::string& where, const OAuth2Config& oauth2) {
    check_needed(where, "client_id", oauth2.client_id);
    check_needed(where, "token_url", oauth2.token_url);
    check_token_url(where + ".token_url", oauth2.token_url);
    check_at_most_one({{where + ".client_secret", !oauth2.client_secret.empty()},
                       {where + ".client_secret_file", !oauth2.client_secret_file.empty()}});
    check_tls(where + ".tls", oauth2.tls);
    check_proxy(where + ".proxy", oauth2.proxy);
    check_headers(where + ".headers", oauth2.headers);
}

}  // namespace

bool is_header_name(std::string_view name) noexcept {
    constexpr std::string_view others = "!#$%&'*+-.^_`|~";
    return !name.empty() && std::all_of(name.begin(), name.end(), [&](char c) {
        return is_alphanumeric(c) || others.find(c) != std::string_view::npos;
    });
}

void check_at_most_one(GivenOptions options) {
    const GivenOption* first = nullptr;
    for (const GivenOption& option : options) {
        if (!option.set) continue;
        if (first) {
            throw ConfigError(option.field, "must not be set together with " +
                                                first->field.substr(first->field.rfind('.') + 1));
        }
        first = &option;
    }
}

void check_auth(const std::string& where, const AuthConfig& auth) {
    const bool basic =
        is_given(auth.username, auth.username_file) || is_given(auth.password, auth.password_file);
    check_at_most_one({{where + ".bearer_token", !auth.bearer_token.empty()},
                       {where + ".bearer_token_file", !auth.bearer_token_file.empty()},
                       {where + ".username", basic},
                       {where + ".exec", auth.exec.has_value()},
                       {where + ".oauth2", auth.oauth2.has_value()},
                       {where + ".token_source", auth.token_source != nullptr}});
    check_basic_auth(where, auth);
    check_scheme(where + ".scheme", auth.scheme);
    check_header_text(where + ".bearer_token", auth.bearer_token);
    check_header_text(where + ".username", auth.username);
    check_header_text(where + ".password", auth.password);
    if (auth.exec) check_exec(where + ".exec", *auth.exec);
    if (auth.oauth2) check_oauth2(where + ".oauth2", *auth.oauth2);
}

void check_tls(const std::string& where, const TlsConfig& tls) {
    check_at_most_one(
        {{where + ".ca", !tls.ca.empty()}, {where + ".ca_file", !tls.ca_file.empty()}});
    check_at_most_one(
        {{where + ".cert", !tls.cert.empty()}, {where + ".cert_file", !tls.cert_file.empty()}});
    check_at_most_one(
        {{where + ".key", !tls.key.empty()}, {where + ".key_file", !tls.key_file.empty()}});
    const bool cert = is_given(tls.cert, tls.cert_file);
    const bool key = is_given(tls.key, tls.key_file);
    if (cert && !key) {
        throw ConfigError(where + (tls.cert.empty() ? ".cert_file" : ".cert"),
                          "needs the private key: set key or key_file");
    }
    if (key && !cert) {
        throw ConfigError(where + (tls.key.empty() ? ".key_file" : ".key"),
                          "needs the certificate: set cert or cert_file");
    }
    check_header_text(where + ".server_name", tls.server_name);
}

void check_tls_versions(const std::string& where, const TlsConfig& tls) {
    if (tls.max_version < TlsVersion::tls_1_2) {
        throw ConfigError(where + ".max_version",
                          "TLS 1.0 and 1.1 are not supported here; allowed are TLS12 and TLS13");
    }
    if (tls.min_version > tls.max_version) {
        throw ConfigError(where + ".min_version",
                          "must not exceed max_version; lower min_version or raise max_version");
    }
}

void check_tls_versions(const std::string& where, const AuthConfig& auth) {
    if (auth.oauth2) check_tls_versions(where + ".oauth2.tls", auth.oauth2->tls);
}

void check_proxy(const std::string& where, const ProxyConfig& proxy) {
    if (proxy.from_environment) {
        check_at_most_one(
            {{where + ".from_environment", true}, {where + ".url", !proxy.url.empty()}});
        check_at_most_one(
            {{where + ".from_environment", true}, {where + ".no_proxy", !proxy.no_proxy.empty()}});
    }
    const auto needs_proxy = [&](const char* field, bool given, bool any) {
        if (given && !any) throw ConfigError(where + field, "needs the URL of a proxy");
    };
    needs_proxy(".no_proxy", !proxy.no_proxy.empty(), !proxy.url.empty());
    needs_proxy(".connect_headers", !proxy.connect_headers.empty(),
                !proxy.url.empty() || proxy.from_environment);
    check_headers(where + ".connect_headers", proxy.connect_headers);
    for (const HttpHeader& header : proxy.connect_headers) {
        if (header.file.empty()) continue;
        throw ConfigError(where + ".connect_headers", "files are not supported here; name a value");
    }
    if (!proxy.connect_headers.empty() && proxy.url.starts_with("socks5")) {
        throw ConfigError(where + ".connect_headers", "SOCKS5 has no headers; only a proxy of HTTP "
                                                      "takes them");
    }
    if (!proxy.url.empty()) parse_proxy_url(proxy.url, where + ".url");
}

void check_impersonation(const std::string& where, const ImpersonationConfig& who) {
    if (who.user.empty() && who != ImpersonationConfig{}) {
        throw ConfigError(where + ".user", "is missing; uid, groups and extra need it");
    }
    check_header_text(where + ".user", who.user);
    check_header_text(where + ".uid", who.uid);
    for (const std::string& group : who.groups) check_header_text(where + ".groups", group);
    for (const auto& [key, values] : who.extra) {
        check_needed(where + ".extra", "keys that are not empty", key);
        for (const std::string& value : values) check_header_text(where + ".extra", value);
    }
}

void check_headers(const std::string& where, const std::vector<HttpHeader>& headers) {
    for (std::size_t i = 0; i < headers.size(); ++i) {
        check_header(where + "[" + std::to_string(i) + "]", headers[i]);
    }
}

}  // namespace k8s_sd::inline v0::detail
