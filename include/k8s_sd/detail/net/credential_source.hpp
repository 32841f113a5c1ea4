#pragma once

#include "k8s_sd/detail/base/cleansed_bytes.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/time.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace k8s_sd::inline v0::detail {

/// A client certificate (chain) and its key, PEM.
struct ClientIdentity {
    CleansedBytes certificate;
    CleansedBytes key;
    bool operator==(const ClientIdentity&) const = default;
};

/// What the server lets a request in for, and how good it is.
struct RequestCredentials {
    CleansedBytes value;    ///< of the header Authorization; empty: no header is sent
    CleansedBytes headers;  ///< lines of other headers that are read from files
    std::shared_ptr<const ClientIdentity> identity;  ///< null: what the configuration says
    error_code ec;                                   ///< why there are no usable ones
    std::string problem;              ///< the error in words, or why only older ones serve;
                                      ///< never holds a secret
    std::optional<TimePoint> expiry;  ///< when the source is to be asked again; none: never
    std::uint64_t revision = 0;       ///< set by Credentials: tells them apart
};

/// Whether the server cannot tell one from the other.
inline bool are_same(const RequestCredentials& a, const RequestCredentials& b) {
    const bool identity =
        a.identity == b.identity || (a.identity && b.identity && *a.identity == *b.identity);
    return identity && a.value == b.value && a.headers == b.headers;
}

/// Where credentials come from: the configuration, files, a program, a token service. Lives on one
/// strand.
class CredentialSource {
 public:
    using Handler = std::function<void(RequestCredentials)>;
    /// What the server has not let in; null: nothing was refused.
    using Refused = std::shared_ptr<const RequestCredentials>;

    virtual ~CredentialSource() = default;
    /// Gets the present ones, not those from memory. Called again only after the handler was.
    ///
    /// The source calls the handler once, on the strand, from this call or later, but not after
    /// the source is destroyed. The handler may destroy the source. An exception is an answer: no
    /// value, and the text as problem.
    virtual void async_get(Refused, Handler) = 0;
};

}  // namespace k8s_sd::inline v0::detail
