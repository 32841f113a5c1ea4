#pragma once

#include "k8s_sd/detail/base/cleansed_bytes.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/time.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace k8s_sd::inline v0::detail {

/// The value of the Authorization header, and how good it is.
struct Authorization {
    CleansedBytes value;              ///< empty: no header is sent
    error_code ec;                    ///< why there is no usable value
    std::string problem;              ///< the error in words, or why only an older value serves;
                                      ///< never holds a secret
    std::optional<TimePoint> expiry;  ///< when the source is to be asked again; none: never
    std::uint64_t revision = 0;       ///< set by Credentials: tells values apart
};

/// Where credentials come from: the configuration, files, a program, a token service. Lives on one
/// strand.
class CredentialSource {
 public:
    using Handler = std::function<void(Authorization)>;

    virtual ~CredentialSource() = default;
    /// Gets the present value, not one from memory. Called again only after the handler was.
    ///
    /// The source calls the handler once, on the strand, from this call or later, but not after
    /// the source is destroyed. The handler may destroy the source. An exception is an answer: no
    /// value, and the text as problem.
    virtual void async_get(Handler) = 0;
};

}  // namespace k8s_sd::inline v0::detail
