#pragma once

#include "k8s_sd/detail/auth/credential_source.hpp"
#include "k8s_sd/detail/base/cleansed_bytes.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace k8s_sd::inline v0::detail {

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

}  // namespace k8s_sd::inline v0::detail
