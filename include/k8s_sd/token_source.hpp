#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/error.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace k8s_sd::inline v0 {

/// Tokens that the host gets by ways of its own. One source may serve several servers.
class K8S_SD_EXPORT TokenSource {
 public:
    /// A bearer token.
    struct Token {
        std::string value{};  ///< without "Bearer "
        /// When it ends to be good; another one is asked for shortly before. None: it is good until
        /// the server refuses it.
        std::optional<std::chrono::system_clock::time_point> expiry{};
    };
    /// An error, and it in words for the watch's status, without secrets; or a token. Called once,
    /// on any thread, also from within async_get_token(); at any time, also when nobody listens any
    /// more. A source that does not answer in 60 s has failed.
    using Handler = std::function<void(error_code, std::string problem, Token)>;

    virtual ~TokenSource() = default;
    /// Gets a token. Called on a strand of the library, once for all that wait for it. Must not
    /// block. What it throws is an answer: no token, and the text as problem.
    /// \param refused  the server has refused the token before: one from a cache will not do
    virtual void async_get_token(bool refused, Handler) = 0;
};

}  // namespace k8s_sd::inline v0
