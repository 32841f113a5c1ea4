#pragma once

#include <cmath>
#include <cstddef>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Whether `objects` objects, all inside a share with `fraction` of all hashes, prove server-side
/// filtering. Without it, the chance of this result is at most one in a million.
inline bool shows_shard(double fraction, std::size_t objects) {
    return std::pow(fraction, static_cast<double>(objects)) <= 1e-6;
}

/// Chooses between a request for a share and one for everything. If the server refuses the first
/// request for a share, the watcher requests everything at once. A server with an earlier success
/// may fail once for other reasons. If the unrestricted request fails as well, the parameter may
/// not be the cause: the two alternate until one succeeds.
class ShareChoice {
 public:
    /// Whether to send the parameter to a server not known to refuse it.
    bool sends() const noexcept { return !without_; }

    /// A request has succeeded.
    /// \param with  the request had the parameter
    /// \returns whether the server appears to refuse the parameter
    bool on_success(bool with) noexcept {
        failures_ = 0;
        const bool refused = std::exchange(without_, false) && !with;
        accepted_ = with || (accepted_ && !refused);
        return refused;
    }
    /// A request has failed.
    /// \param status  of the response; 0: none
    /// \returns whether to repeat the request without the parameter at once
    bool on_failure(bool with, unsigned status) noexcept {
        if (!with) without_ = false;
        if (!with || !may_be_about_parameters(status)) return false;
        ++failures_;
        without_ = !accepted_ || failures_ > 1;
        return !accepted_ && failures_ == 1;
    }
    /// The API server has changed.
    void forget() noexcept { *this = {}; }

 private:
    /// Excludes errors about credentials, paths, encodings, versions and load.
    static constexpr bool may_be_about_parameters(unsigned status) noexcept {
        switch (status) {
            case 401:
            case 404:
            case 406:
            case 408:
            case 410:
            case 415:
            case 429:
            case 502:
            case 503:
            case 504: return false;
            default: return status >= 400;
        }
    }

    bool accepted_ = false;
    bool without_ = false;   ///< the next request is for everything
    unsigned failures_ = 0;  ///< of requests for the share, since the last success
};

}  // namespace k8s_sd::inline v0::detail
