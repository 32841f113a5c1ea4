#pragma once

#include "k8s_sd/detail/base/cleansed_bytes.hpp"
#include "k8s_sd/detail/net/credential_source.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace k8s_sd::inline v0::detail {

/// What somebody issued: a token, a client certificate, or both; or why not.
struct IssuedCredentials {
    CleansedBytes token;
    std::shared_ptr<const ClientIdentity> identity;
    /// When they end to be good, or in what time from now; neither: when the server refuses them.
    std::optional<std::chrono::sys_seconds> expiry;
    std::optional<std::chrono::seconds> lifetime;
    std::string problem;  ///< empty: they are usable; without secrets
};

/// Who gives out credentials for a while: a program, a token service, the host. Lives on one
/// strand.
class CredentialIssuer {
 public:
    using Handler = std::function<void(IssuedCredentials)>;

    virtual ~CredentialIssuer() = default;
    /// Has credentials issued, which takes no longer than the issuer allows. Called again only
    /// after the handler was. The handler is called once, on the strand, from this call or later,
    /// but not after the destruction, and may destroy the issuer. An exception is an answer.
    /// \param refused  the server has refused what was issued before
    virtual void async_issue(bool refused, Handler) = 0;
};

}  // namespace k8s_sd::inline v0::detail
