#pragma once

#include "k8s_sd/detail/watch/failure.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The failures of a watch since it last worked: the evidence that ends them, and the errors that
/// have been logged. No I/O.
class PastFailures {
 public:
    /// \param watching  the failed request was a watch
    /// \returns whether to log it: alternating errors are logged once each
    bool add(const Failure& failure, bool watching) {
        of_watch_ = of_watch_ || watching;
        over_with_ = std::max(over_with_, failure.over_with);
        if (std::find(logged_.begin(), logged_.end(), failure.ec) != logged_.end()) return false;
        if (logged_.size() >= max_logged) logged_.clear();
        logged_.push_back(failure.ec);
        return true;
    }
    /// The watch works again.
    void clear() noexcept {
        of_watch_ = false;
        over_with_ = Proof::life;
        logged_.clear();
    }
    /// Whether one of them came from a watch.
    bool of_watch() const noexcept { return of_watch_; }
    /// The strongest evidence that one of them requires.
    Proof over_with() const noexcept { return over_with_; }

 private:
    static constexpr std::size_t max_logged = 8;

    std::vector<error_code> logged_;
    bool of_watch_ = false;
    Proof over_with_ = Proof::life;
};

}  // namespace k8s_sd::inline v0::detail
