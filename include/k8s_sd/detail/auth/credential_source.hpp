#pragma once

#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/transport/tls/client_identity.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/time.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace k8s_sd::inline v0::detail {

/// The problem of a result for lack of memory. Short: its std::string takes none itself.
inline constexpr const char* no_memory = "no memory";

/// The result of an issuer: a token, a client certificate, or both; or a problem.
struct IssuedCredentials {
    CleansedBytes token;
    std::shared_ptr<const ClientIdentity> identity;
    /// Expiry, absolute or relative; if neither is set, valid until the server returns 401.
    std::optional<std::chrono::sys_seconds> expiry;
    std::optional<std::chrono::seconds> lifetime;
    std::string problem;  ///< empty: usable; contains no secrets
};

/// Issues credentials with a limited lifetime: a program, a token service, the host. Confined to
/// one strand.
class CredentialIssuer {
 public:
    using Handler = std::function<void(IssuedCredentials)>;

    virtual ~CredentialIssuer() = default;
    /// Issues credentials within the issuer's own timeout. Must not be called again before the
    /// handler has run. The handler is called once, on the strand, from this call or later, but not
    /// after destruction, and may destroy the issuer. An exception counts as a result.
    /// \param refused  the server has refused the previous credentials
    virtual void async_issue(bool refused, Handler) = 0;
};

/// Credentials of a request, and their validity.
struct RequestCredentials {
    CleansedBytes value;    ///< of the Authorization header; empty: no header
    CleansedBytes headers;  ///< lines of other headers read from files
    std::shared_ptr<const ClientIdentity> identity;  ///< null: as configured
    error_code ec;                                   ///< why there are no usable credentials
    std::string problem;              ///< describes the error, or why older credentials are in use;
                                      ///< contains no secrets
    std::optional<TimePoint> expiry;  ///< when to ask the source again; nullopt: never
    std::uint64_t revision = 0;       ///< set by Credentials, unique per value
};

/// The answer without memory for another one. Takes none itself, see `no_memory`.
inline RequestCredentials credentials_without_memory() {
    RequestCredentials none;
    none.ec = errc::credentials_unavailable;
    none.problem = no_memory;
    return none;
}

/// Whether both look the same to the server.
inline bool are_same(const RequestCredentials& a, const RequestCredentials& b) {
    const bool identity =
        a.identity == b.identity || (a.identity && b.identity && *a.identity == *b.identity);
    return identity && a.value == b.value && a.headers == b.headers;
}

/// A source of credentials: the configuration, files, a program, a token service. Confined to one
/// strand.
class CredentialSource {
 public:
    using Handler = std::function<void(RequestCredentials)>;
    /// The credentials refused by the server; null: none.
    using Refused = std::shared_ptr<const RequestCredentials>;

    virtual ~CredentialSource() = default;
    /// Gets the current credentials, not cached ones. Must not be called again before the handler
    /// has run.
    ///
    /// The source calls the handler once, on the strand, from this call or later, but not after
    /// destruction. The handler may destroy the source. An exception counts as a result without a
    /// value, with its text as the problem.
    virtual void async_get(Refused, Handler) = 0;
};

}  // namespace k8s_sd::inline v0::detail
