#pragma once

#include "k8s_sd/detail/codec/event.hpp"
#include "k8s_sd/detail/transport/response_head.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/metrics.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Evidence for the end of a failure. A successful response alone is not always enough.
enum class Proof : std::uint8_t {
    life,         ///< a response, or a watch open for a second
    steady_life,  ///< a watch open longer than a short one, or with an event
    event,        ///< an event or a bookmark
    long_life,    ///< a watch open for a minute
};

/// A failed request, for the status and the log.
struct Failure {
    error_code ec;
    std::string message;
    Proof over_with = Proof::life;
    bool foreign_response = false;  ///< see WatchStatus
};

/// The requested access, in the terms of RBAC.
struct Wanted {
    Kind kind = Kind::pod;
    std::string ns{};  ///< empty: all namespaces
    bool watch = false;
};

/// Describes the server's error and, where a cause is known, how to fix it.
Failure describe(const ServerStatus& status, const ResponseHead& head, const Wanted& wanted);

/// The counter of the failure's class.
Metrics::Counter& failure_counter(Metrics::PerKind& metrics, error_code ec);

/// The failures of a watch since it last worked: the evidence that ends them, and the errors that
/// have been logged. No I/O.
class PastFailures {
 public:
    /// \param watching  the failed request was a watch
    /// \returns whether to log it: alternating errors are logged once each
    bool add(const Failure& failure, bool watching) {
        of_watch_ = of_watch_ || watching;
        over_with_ = std::max(over_with_, failure.over_with);
        last_is_foreign_ = failure.foreign_response;
        if (std::find(logged_.begin(), logged_.end(), failure.ec) != logged_.end()) return false;
        if (logged_.size() >= max_logged) logged_.clear();
        logged_.push_back(failure.ec);
        return true;
    }
    /// Whether one of them came from a watch.
    bool of_watch() const noexcept { return of_watch_; }
    /// See WatchStatus::foreign_response.
    bool last_is_foreign() const noexcept { return last_is_foreign_; }
    /// The strongest evidence that one of them requires.
    Proof over_with() const noexcept { return over_with_; }

 private:
    static constexpr std::size_t max_logged = 8;

    std::vector<error_code> logged_;
    bool of_watch_ = false;
    bool last_is_foreign_ = false;
    Proof over_with_ = Proof::life;
};

}  // namespace k8s_sd::inline v0::detail
