#pragma once

#include <utility>

namespace k8s_sd::inline v0::detail {

/// Whether a watcher of a share asks its server for that share, or for everything. Who refuses the
/// request for the share is asked for everything at once. If that fails as well, the parameter may
/// not have been the reason: then the two take turns, until one of them comes through.
class ShareChoice {
 public:
    /// Whether to send the parameter, where the server is not known to refuse it.
    bool sends() const noexcept { return !without_; }

    /// A request with the parameter came through: it is not the reason of what comes later.
    void on_accepted() noexcept {
        accepted_ = true;
        without_ = asked_again_ = false;
    }
    /// A request has failed.
    /// \param with    the parameter was sent
    /// \param status  of the answer; 0: there was none
    /// \returns whether to ask for the same without the parameter at once
    bool on_failure(bool with, unsigned status) noexcept {
        if (!with) without_ = false;
        if (!with || accepted_ || !may_be_about_parameters(status)) return false;
        without_ = true;
        return !std::exchange(asked_again_, true);
    }
    /// A list is complete. \returns whether the server refuses the parameter
    bool on_list(bool with) noexcept {
        asked_again_ = false;
        return !with && std::exchange(without_, false);
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
    bool without_ = false;      ///< the next request is one for everything
    bool asked_again_ = false;  ///< at once, since something came through
};

}  // namespace k8s_sd::inline v0::detail
