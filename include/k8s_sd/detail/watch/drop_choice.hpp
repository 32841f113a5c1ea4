#pragma once

#include <utility>

namespace k8s_sd::inline v0::detail {

/// Whether a response with this status is about the resource, its version or a permission, not
/// about the form of the response.
constexpr bool has_other_objections(unsigned status) noexcept {
    return status == 403 || status == 404 || status == 405 || status == 410 || status == 422;
}

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
        if (!may_be_about_accept(status)) return false;
        if (!with) without_ = false;
        if (!with || std::exchange(tested_, true)) return false;
        without_ = true;
        return true;
    }
    /// Whether the response to a request without the parameter, although a failure, shows that the
    /// server refuses the parameter: it has other objections now. Errors about credentials and load
    /// show nothing.
    bool shows_refusal(bool with, unsigned status) const noexcept {
        return without_ && !with && has_other_objections(status);
    }
    /// The API server has changed.
    void forget() noexcept { *this = {}; }

 private:
    static constexpr bool may_be_about_accept(unsigned status) noexcept {
        return status == 400 || status == 406 || status == 415;
    }

    bool without_ = false;  ///< the next request has no parameter
    bool tested_ = false;   ///< such a request was made since the last success
};

}  // namespace k8s_sd::inline v0::detail
