#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/time.hpp"

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

/// A source of tokens implemented by the host. One source may serve several servers.
class K8S_SD_EXPORT TokenSource {
 public:
    /// A bearer token.
    struct Token {
        std::string value{};  ///< without "Bearer "
        /// Time of expiry; a new token is requested shortly before. nullopt: valid until the server
        /// refuses it.
        std::optional<std::chrono::system_clock::time_point> expiry{};
    };
    /// Receives an error, with a text for the watch's status, without secrets; or a token. Called
    /// once, on any thread, also from within async_get_token(); at any time, possibly after its
    /// caller has gone. A source without a response in 60 s has failed.
    using Handler = std::function<void(error_code, std::string problem, Token)>;

    virtual ~TokenSource() = default;
    /// Gets a token. Called on a strand of the library, once for all concurrent requests in an
    /// execution context. Contexts, and configurations with other differences, have strands of
    /// their own, so calls may be concurrent. Must not block. An exception counts as a failure,
    /// with its text as problem.
    /// \param refused  the server refused the previous token: do not return it from a cache
    virtual void async_get_token(bool refused, Handler) = 0;
};

// Every member of these aggregates has an initializer, so designated initializers may omit members
// without a warning. Nothing here is ever printed: all of it may be secret.

/// TLS versions. The library itself speaks 1.2 and 1.3; the older ones are those of scrape clients,
/// which belong to the host.
enum class TlsVersion : std::uint8_t { tls_1_0, tls_1_1, tls_1_2, tls_1_3 };

/// Trust and identity for https. At most one of each pair `ca`/`ca_file`, `cert`/`cert_file` and
/// `key`/`key_file`; the inline forms hold PEM text. Files are read again when they change.
struct TlsConfig {
    std::string ca{};           ///< trusted certificates, PEM
    std::string ca_file{};      ///< both empty: the system's trust store
    std::string cert{};         ///< client certificate (chain), PEM; needs a key
    std::string cert_file{};    ///< the same from a file
    std::string key{};          ///< the client certificate's key, PEM
    std::string key_file{};     ///< the same from a file
    std::string server_name{};  ///< for SNI and verification; empty: the host of the URL
    /// Accepts any certificate, so any impostor of the server gets the credentials.
    bool insecure_skip_verify = false;
    TlsVersion min_version = TlsVersion::tls_1_2;  ///< minimum version; at least 1.2 is spoken
    TlsVersion max_version = TlsVersion::tls_1_3;  ///< maximum version; not less than min_version
    auto operator<=>(const TlsConfig&) const = default;
};

/// An additional request header. At most one of `value` and `file`.
struct HttpHeader {
    std::string name{};   ///< no header of the library itself, such as Authorization or Host
    std::string value{};  ///< sent unchanged
    /// File with the value; surrounding white space is removed. Read again as AuthConfig's files.
    std::string file{};
    /// Whether to hide the value from output. False for `values` of Prometheus' `http_headers`.
    bool secret = true;
    auto operator<=>(const HttpHeader&) const = default;
};

/// The proxy for connections to the server; none by default.
struct ProxyConfig {
    /// "http://", "https://" (HTTP CONNECT, for https over TLS to the proxy), or "socks5://" (the
    /// proxy resolves the server's name; "socks5h" is the same). "user:password@" before the host
    /// are credentials for the proxy. Empty: see `from_environment`.
    std::string url{};
    /// Hosts to connect to directly, as in the environment variable NO_PROXY: names with their
    /// subdomains, ".domain" for the subdomains only, addresses, CIDR ranges, each with an optional
    /// port, separated by commas; "*" is every host. Needs `url`.
    std::string no_proxy{};
    /// Takes both from HTTPS_PROXY (for an https server), HTTP_PROXY and NO_PROXY, or the same in
    /// lower case. Connections to loopback addresses are direct. resolve() reads them. Excludes
    /// `url`.
    bool from_environment = false;
    /// Headers of CONNECT requests. Need a proxy.
    std::vector<HttpHeader> connect_headers{};
    auto operator<=>(const ProxyConfig&) const = default;
};

/// A program that prints credentials, as named in kubeconfigs of cloud clusters.
/// Source: Kubernetes documentation, "client-go credential plugins"; KEP-541.
struct ExecConfig {
    /// An environment variable of the program, in addition to those of this process.
    struct Variable {
        std::string name{};   ///< without "="
        std::string value{};  ///< any text
        auto operator<=>(const Variable&) const = default;
    };
    /// "client.authentication.k8s.io/v1" or "client.authentication.k8s.io/v1beta1"
    std::string api_version{};
    std::string command{};            ///< searched in PATH if it has no slash
    std::vector<std::string> args{};  ///< without the program's name
    /// Added to the environment of this process, copied at each run: see ProgramRunner.
    std::vector<Variable> env{};
    std::string install_hint{};         ///< reported if there is no such program
    bool provide_cluster_info = false;  ///< passes the server to the program
    std::string cluster_server{};       ///< the passed server, as written; empty: the URL
    std::string cluster_extension{};    ///< JSON to pass, from the kubeconfig's cluster
    /// Whether the program may prompt the user at a terminal. There is none: `always` prevents it
    /// from running.
    enum class InteractiveMode : std::uint8_t { if_available, never, always };
    InteractiveMode interactive_mode = InteractiveMode::if_available;  ///< see above
    Duration timeout = std::chrono::seconds(30);                       ///< then it is killed
    auto operator<=>(const ExecConfig&) const = default;
};

/// A token from a token service: RFC 6749 4.4 (client credentials).
/// Fields as in Prometheus' `oauth2` block.
struct OAuth2Config {
    std::string client_id{};                               ///< required
    std::string client_secret{};                           ///< at most one of these two
    std::string client_secret_file{};                      ///< read again after a change
    std::string token_url{};                               ///< required; http or https
    std::vector<std::string> scopes{};                     ///< joined with spaces
    std::map<std::string, std::string> endpoint_params{};  ///< added to the posted form
    TlsConfig tls{};                                       ///< for the token service
    ProxyConfig proxy{};                                   ///< to the token service
    std::vector<HttpHeader> headers{};                     ///< for the token service
    auto operator<=>(const OAuth2Config&) const = default;
};

/// The source of the Authorization header. At most one of: bearer token, its file, user with
/// password, exec, oauth2, token_source. Files are read again at least every 60 s, and at once
/// after a 401 response.
struct AuthConfig {
    std::string bearer_token{};            ///< sent as `Authorization: Bearer …`
    std::string bearer_token_file{};       ///< file with the token
    std::string scheme = "Bearer";         ///< scheme in front of this token
    std::string username{};                ///< for basic authentication; without colon
    std::string username_file{};           ///< file with the user name
    std::string password{};                ///< allowed without a user
    std::string password_file{};           ///< file with the password
    std::optional<ExecConfig> exec{};      ///< a program; may provide a client certificate instead
    std::optional<OAuth2Config> oauth2{};  ///< a token service
    std::shared_ptr<TokenSource> token_source{};  ///< from the host; compared by identity
    auto operator<=>(const AuthConfig&) const = default;
};

/// The user the client acts as, if the server permits impersonation.
/// Source: Kubernetes documentation, "User impersonation".
struct ImpersonationConfig {
    std::string user{};                 ///< Impersonate-User; the others need it
    std::string uid{};                  ///< Impersonate-Uid
    std::vector<std::string> groups{};  ///< Impersonate-Group, a header each
    std::map<std::string, std::vector<std::string>> extra{};  ///< Impersonate-Extra-KEY
    auto operator<=>(const ImpersonationConfig&) const = default;
};

/// The kubeconfig an ApiServerConfig was read from. It is read again every 60 s while a watch is
/// running, and after a 401 response. Changes apply from the next request on; a change of the
/// server ends its open watches within 5 s.
struct KubeconfigOrigin {
    std::vector<std::string> files{};  ///< empty: no kubeconfig
    /// Set even if it was the current context: a running program does not follow kubectl to
    /// another cluster.
    std::string context{};
    ImpersonationConfig impersonate{};  ///< of the configuration: overrides the kubeconfig's
    ProxyConfig proxy{};                ///< the same
    auto operator<=>(const KubeconfigOrigin&) const = default;
};

/// The version of HTTP for https. HTTP/2 is used only if the library was built with nghttp2 and the
/// server, or a proxy in front of it, chooses it by ALPN; then many requests share a connection.
enum class HttpVersion : std::uint8_t {
    /// HTTP/1.1 for lists and for the first 8 watches of a server; HTTP/2 for further watches, for
    /// lists and watches of a single object, as an ObjectCache has them, and for short requests.
    automatic,
    http1,  ///< HTTP/1.1
    /// HTTP/2 for all requests, where the server chooses it. Short requests use HTTP/1.1 for 30 s
    /// after ENHANCE_YOUR_CALM.
    http2,
};

/// One API server and the way to talk to it.
struct ApiServerConfig {
    /// "https://host:port/prefix"; empty: kubeconfig_file or in-cluster. Without a scheme:
    /// https if anything in `tls` is set, else http.
    std::string url{};
    AuthConfig auth{};                  ///< credentials; none: anonymous
    ImpersonationConfig impersonate{};  ///< none by default
    std::vector<HttpHeader> headers{};  ///< sent with every request
    TlsConfig tls{};                    ///< for https
    ProxyConfig proxy{};                ///< none by default
    bool disable_compression = false;   ///< lists are not compressed, see WatchOptions::gzip
    /// resolve() changes it to `http1` if the environment variable DISABLE_HTTP2 is not empty, as
    /// client-go does.
    HttpVersion http_version = HttpVersion::automatic;
    KubeconfigOrigin kubeconfig{};  ///< set by resolve()
    auto operator<=>(const ApiServerConfig&) const = default;
};

}  // namespace k8s_sd::inline v0
