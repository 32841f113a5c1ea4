#pragma once

#include <cmath>
#include <cstddef>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Whether so many objects, all of a share with that part of all hashes, show that a server sends
/// the share only. If it sent all objects, this would come about once in a million times at most.
inline bool shows_shard(double fraction, std::size_t objects) {
    return std::pow(fraction, static_cast<double>(objects)) <= 1e-6;
}

/// Whether a watcher of a share asks its server for that share, or for everything. A server that
/// refuses the first request for a share is asked for everything at once; one that has answered
/// such requests may fail once for other reasons. If everything is refused as well, the parameter
/// may not have been the reason: then the two take turns, until one of them comes through.
class ShareChoice {
 public:
    /// Whether to send the parameter, where the server is not known to refuse it.
    bool sends() const noexcept { return !without_; }

    /// A request is answered.
    /// \param with  the parameter was sent
    /// \returns whether the server refuses the parameter, as it now seems
    bool on_success(bool with) noexcept {
        failures_ = 0;
        const bool refused = std::exchange(without_, false) && !with;
        accepted_ = with || (accepted_ && !refused);
        return refused;
    }
    /// A request has failed.
    /// \param status  of the answer; 0: there was none
    /// \returns whether to ask for the same without the parameter at once
    bool on_failure(bool with, unsigned status) noexcept {
        if (!with) without_ = false;
        if (!with || !may_be_about_parameters(status)) return false;
        ++failures_;
        without_ = !accepted_ || failures_ > 1;
        return !accepted_ && failures_ == 1;
    }
    /// The server is another one.
    void forget() noexcept { *this = {}; }

 private:
    /// Not about credentials, paths, encodings, versions or load.
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
    bool without_ = false;   ///< the next request is one for everything
    unsigned failures_ = 0;  ///< of requests for the share, since something came through
};

}  // namespace k8s_sd::inline v0::detail
