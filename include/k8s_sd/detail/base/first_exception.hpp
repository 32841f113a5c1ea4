#pragma once

#include <exception>

namespace k8s_sd::inline v0::detail {

/// Performs calls of which none may keep the others from being made, such as the handlers of all
/// requests that wait for one answer: no timer would make up for a call that is left out.
class FirstException {
 public:
    /// Keeps the exception of the call if it is the first one.
    /// \returns whether there was none
    template <class Call>
    bool catch_from(Call&& call) {
        try {
            call();
            return true;
        } catch (...) {
            if (!first_) first_ = std::current_exception();
            return false;
        }
    }
    /// Call at the end.
    void rethrow() const {
        if (first_) std::rethrow_exception(first_);
    }

 private:
    std::exception_ptr first_;
};

}  // namespace k8s_sd::inline v0::detail
