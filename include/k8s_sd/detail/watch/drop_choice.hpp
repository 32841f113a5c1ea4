#pragma once

#include <utility>

namespace k8s_sd::inline v0::detail {

/// Chooses whether to request objects without managedFields. API servers ignore parameters of
/// Accept that they do not know; a proxy may refuse them. Then the watcher repeats the request
/// without the parameter at once. If that fails as well, the parameter is not the cause.
class DropChoice {
 public:
    /// Whether to send the parameter to a server not known to refuse it.
    bool sends() const noexcept { return !without_; }

    /// A request has succeeded.
    /// \param with  the request had the parameter
    /// \returns whether the server appears to refuse the parameter
    bool on_success(bool with) noexcept {
        tested_ = false;
        return std::exchange(without_, false) && !with;
    }
    /// A request has failed.
    /// \param status  of the response; 0: none
    /// \returns whether to repeat the request without the parameter at once
    bool on_failure(bool with, unsigned status) noexcept {
        if (!with) {
            without_ = without_ && status == 0;
            return false;
        }
        const bool may_be_cause = status == 400 || status == 406 || status == 415;
        if (!may_be_cause || std::exchange(tested_, true)) return false;
        without_ = true;
        return true;
    }
    /// The API server has changed.
    void forget() noexcept { *this = {}; }

 private:
    bool without_ = false;  ///< the next request has no parameter
    bool tested_ = false;   ///< such a request was made since the last success
};

}  // namespace k8s_sd::inline v0::detail
