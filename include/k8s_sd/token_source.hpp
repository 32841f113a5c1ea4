#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/error.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

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

}  // namespace k8s_sd::inline v0
