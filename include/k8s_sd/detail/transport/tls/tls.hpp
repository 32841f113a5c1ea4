#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/async/file_reader.hpp"
#include "k8s_sd/detail/transport/tls/client_identity.hpp"

#include <boost/asio/ssl/context.hpp>
#include <array>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

namespace asio = boost::asio;

/// An unusable certificate, key or file. The text names the file, but contains nothing of it.
struct TlsError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A value for each TLS file of a configuration: CA, client certificate and key.
template <class T>
struct ForTlsFiles {
    T ca{}, cert{}, key{};
};

/// Paths of the files to read; empty: none.
ForTlsFiles<std::string> files_of(const TlsConfig&);

/// The source of trusted certificates.
enum class TrustStore : bool {
    configured,  ///< as configured, else the system's
    and_system   ///< also the system's, because a proxy rarely uses the cluster's CA
};

/// For messages: "CA file /etc/ca.crt".
std::string describe_trust(const TlsConfig&, TrustStore);

/// A client context: configured TLS versions, ALPN "http/1.1", configured trust and identity.
/// Ignores `server_name`.
/// \param contents  of the configured files
/// \param warning  receives a non-fatal problem: broken CA certificates next to valid ones
/// \throws TlsError; an empty or broken CA never falls back to the system's trust store
std::shared_ptr<asio::ssl::context> make_client_context(
    const TlsConfig&, const ForTlsFiles<FileContent>& contents = {},
    TrustStore = TrustStore::configured, std::string* warning = nullptr);

/// Checks a client certificate and its key.
/// \param certificate_name, key_name  names for messages
/// \throws TlsError, also if the key does not match
void check_identity(const ClientIdentity&, const std::string& certificate_name,
                    const std::string& key_name);

using Sha256 = std::array<unsigned char, 32>;
/// Hashes the parts including their boundaries.
/// \throws TlsError
Sha256 sha256(std::initializer_list<std::string_view> parts);

}  // namespace k8s_sd::inline v0::detail
