#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/time.hpp"
#include "k8s_sd/token_source.hpp"

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

// Every member of these aggregates has an initialiser so that designated initialisers that leave
// some out do not warn. Nothing here is ever printed: all of it may be secret.

/// Versions of TLS. Older ones than 1.2 are not spoken.
enum class TlsVersion : std::uint8_t { tls_1_2, tls_1_3 };

/// Trust and identity for https. Of `ca`/`ca_file`, `cert`/`cert_file` and `key`/`key_file` at
/// most one each; the inline forms hold PEM text. Files are read again when they change.
struct TlsConfig {
    std::string ca{};           ///< trusted certificates, PEM
    std::string ca_file{};      ///< both empty: the system's trust store
    std::string cert{};         ///< client certificate (chain), PEM; needs a key
    std::string cert_file{};    ///< the same as a file
    std::string key{};          ///< the client certificate's key, PEM
    std::string key_file{};     ///< the same as a file
    std::string server_name{};  ///< for SNI and verification; empty: the host of the URL
    /// Accepts any certificate: whoever answers gets the credentials.
    bool insecure_skip_verify = false;
    TlsVersion min_version = TlsVersion::tls_1_2;  ///< the least that is spoken
    TlsVersion max_version = TlsVersion::tls_1_3;  ///< the greatest; not less than min_version
    auto operator<=>(const TlsConfig&) const = default;
};

/// A header of requests. At most one of `value` and `file`.
struct HttpHeader {
    std::string name{};   ///< not one that the library sets itself, such as Authorization or Host
    std::string value{};  ///< sent as it is
    /// Holds the value, without white space around it; read again as AuthConfig's files are.
    std::string file{};
    /// Whether the value must not be shown. False for `values` of Prometheus' `http_headers`.
    bool secret = true;
    auto operator<=>(const HttpHeader&) const = default;
};

/// The way to the server, if it is not the direct one.
struct ProxyConfig {
    /// "http://", "https://" (HTTP CONNECT, for https over TLS to the proxy), or "socks5://" (the
    /// proxy looks the server's name up; "socks5h" is the same). "user:password@" before the host
    /// are credentials for the proxy. Empty: see `from_environment`.
    std::string url{};
    /// Hosts that are reached directly, as in the environment variable NO_PROXY: names with their
    /// subdomains, ".domain" for the subdomains only, addresses, CIDR ranges, each with an optional
    /// port, separated by commas; "*" is every host. Needs `url`.
    std::string no_proxy{};
    /// Takes both from HTTPS_PROXY (for a server of https), HTTP_PROXY and NO_PROXY, or the same in
    /// lower case. Loopback addresses are reached directly. resolve() reads them. Not with `url`.
    bool from_environment = false;
    /// Headers of CONNECT requests. Need a proxy.
    std::vector<HttpHeader> connect_headers{};
    auto operator<=>(const ProxyConfig&) const = default;
};

/// A program that prints credentials, as kubeconfigs of cloud clusters name one.
/// Source: Kubernetes documentation, "client-go credential plugins"; KEP-541.
struct ExecConfig {
    /// A variable that the program gets in addition to those of this process.
    struct Variable {
        std::string name{};   ///< without "="
        std::string value{};  ///< any text
        auto operator<=>(const Variable&) const = default;
    };
    /// "client.authentication.k8s.io/v1" or "client.authentication.k8s.io/v1beta1"
    std::string api_version{};
    std::string command{};            ///< looked for in PATH if it has no slash
    std::vector<std::string> args{};  ///< without the program's name
    /// Added to the environment of this process, which is copied at each run: see ProgramRunner.
    std::vector<Variable> env{};
    std::string install_hint{};         ///< told where there is no such program
    bool provide_cluster_info = false;  ///< tells the program which server is meant
    std::string cluster_server{};       ///< the server for it, as written; empty: the URL
    std::string cluster_extension{};    ///< JSON for it, of the kubeconfig's cluster
    /// Whether the program may ask somebody at a terminal. There is none: with `always` it cannot
    /// be run.
    enum class InteractiveMode : std::uint8_t { if_available, never, always };
    InteractiveMode interactive_mode = InteractiveMode::if_available;  ///< see there
    Duration timeout = std::chrono::seconds(30);                       ///< it is killed after that
    auto operator<=>(const ExecConfig&) const = default;
};

/// A token from a token service: RFC 6749 4.4 (client credentials).
/// Fields as of Prometheus' `oauth2` block.
struct OAuth2Config {
    std::string client_id{};                               ///< needed
    std::string client_secret{};                           ///< at most one of these two
    std::string client_secret_file{};                      ///< read again when it changes
    std::string token_url{};                               ///< needed; http or https
    std::vector<std::string> scopes{};                     ///< joined with spaces
    std::map<std::string, std::string> endpoint_params{};  ///< added to the form that is posted
    TlsConfig tls{};                                       ///< for the token service
    ProxyConfig proxy{};                                   ///< to the token service
    std::vector<HttpHeader> headers{};                     ///< for the token service
    auto operator<=>(const OAuth2Config&) const = default;
};

/// Where the Authorization header comes from. At most one of: bearer token, its file, user with
/// password, exec, oauth2, token_source. Files are read again at least every 60 s, and at once
/// after a 401 answer.
struct AuthConfig {
    std::string bearer_token{};            ///< sent as `Authorization: Bearer …`
    std::string bearer_token_file{};       ///< the same as a file
    std::string scheme = "Bearer";         ///< what stands before such a token
    std::string username{};                ///< of basic authentication; without colon
    std::string username_file{};           ///< the same as a file
    std::string password{};                ///< may be without a user
    std::string password_file{};           ///< the same as a file
    std::optional<ExecConfig> exec{};      ///< a program; it may give a client certificate instead
    std::optional<OAuth2Config> oauth2{};  ///< a token service
    std::shared_ptr<TokenSource> token_source{};  ///< the host itself; compared by identity
    auto operator<=>(const AuthConfig&) const = default;
};

/// Whom the server is to take this client for, if it is allowed to act as somebody else.
/// Source: Kubernetes documentation, "User impersonation".
struct ImpersonationConfig {
    std::string user{};                 ///< Impersonate-User; the others need it
    std::string uid{};                  ///< Impersonate-Uid
    std::vector<std::string> groups{};  ///< Impersonate-Group, a header each
    std::map<std::string, std::vector<std::string>> extra{};  ///< Impersonate-Extra-KEY
    auto operator<=>(const ImpersonationConfig&) const = default;
};

/// The kubeconfig that an ApiServerConfig was read from. It is read again every 60 s while
/// something is watched, and after a 401 answer. What has changed serves from the next request on,
/// and if that is the server, its open watches end within 5 s.
struct KubeconfigOrigin {
    std::vector<std::string> files{};  ///< empty: it was read from none
    /// Also if it was the current one: who runs does not move to another cluster with kubectl.
    std::string context{};
    ImpersonationConfig impersonate{};  ///< of the configuration: it wins over the kubeconfig's
    ProxyConfig proxy{};                ///< the same
    auto operator<=>(const KubeconfigOrigin&) const = default;
};

/// One API server and how to talk to it.
struct ApiServerConfig {
    /// "https://host:port/prefix"; empty: kubeconfig_file or in-cluster. Without a scheme:
    /// https if anything in `tls` is set, else http.
    std::string url{};
    AuthConfig auth{};                  ///< credentials; none: anonymous
    ImpersonationConfig impersonate{};  ///< nobody by default
    std::vector<HttpHeader> headers{};  ///< sent with every request
    TlsConfig tls{};                    ///< for https
    ProxyConfig proxy{};                ///< none by default
    bool disable_compression = false;   ///< lists are not compressed, see WatchOptions::gzip
    KubeconfigOrigin kubeconfig{};      ///< set by resolve()
    auto operator<=>(const ApiServerConfig&) const = default;
};

}  // namespace k8s_sd::inline v0
