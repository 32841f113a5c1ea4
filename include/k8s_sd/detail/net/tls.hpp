#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/net/credential_source.hpp"
#include "k8s_sd/detail/net/file_reads.hpp"

#include <boost/asio/ssl/context.hpp>
#include <array>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

namespace asio = boost::asio;

/// A certificate, key or file that cannot be used. The text names the file, never its content.
struct TlsError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// For each file that a configuration may name: the trusted CA, the client's certificate and key.
template <class T>
struct ForTlsFiles {
    T ca{}, cert{}, key{};
};

/// Paths; empty where nothing has to be read.
ForTlsFiles<std::string> files_of(const TlsConfig&);

/// Whose certificates are trusted.
enum class TrustStore : bool {
    configured,  ///< those of the configuration; without any, those of the system
    and_system   ///< those of the system as well: a proxy is seldom of the cluster's authority
};

/// For messages: "CA file /etc/ca.crt".
std::string describe_trust(const TlsConfig&, TrustStore);

/// The client's side: the configured versions of TLS, ALPN "http/1.1", trust and identity as
/// configured. `server_name` does not matter here.
/// \param contents  of the files that the configuration names
/// \param warning  gets what is wrong and no error: certificates of the CA that are not trusted, as
/// they are broken, beside others that are
/// \throws TlsError; an empty or broken CA never means the system's trust store
std::shared_ptr<asio::ssl::context> make_client_context(
    const TlsConfig&, const ForTlsFiles<FileContent>& contents = {},
    TrustStore = TrustStore::configured, std::string* warning = nullptr);

/// Whether a connection can show it.
/// \param certificate_name, key_name  what messages call them
/// \throws TlsError  also when the key is another one's
void check_identity(const ClientIdentity&, const std::string& certificate_name,
                    const std::string& key_name);

using Sha256 = std::array<unsigned char, 32>;
/// Differs when the parts do, also when only the boundaries between them do.
/// \throws TlsError
Sha256 sha256(std::initializer_list<std::string_view> parts);

}  // namespace k8s_sd::inline v0::detail
