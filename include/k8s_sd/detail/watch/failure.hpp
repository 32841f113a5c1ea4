#pragma once

#include "k8s_sd/detail/codec/event.hpp"
#include "k8s_sd/detail/net/response_head.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/metrics.hpp"

#include <cstdint>
#include <string>

namespace k8s_sd::inline v0::detail {

/// What shows that a failure is over. Some servers answer as if all were well.
enum class Proof : std::uint8_t {
    life,         ///< an answer, or a watch that lives for a second
    steady_life,  ///< a watch that lives for longer than a short one, or brings something
    event,        ///< an event or bookmark
    long_life,    ///< a watch that lives for a minute
};

/// What went wrong with a request, for the status and the log.
struct Failure {
    error_code ec;
    std::string message;
    Proof over_with = Proof::life;
};

/// What was asked for, as permissions name it.
struct Wanted {
    Kind kind = Kind::pod;
    std::string ns{};  ///< empty: all
    bool watch = false;
};

/// What the server said went wrong, in words that help.
Failure describe(const ServerStatus& status, const ResponseHead& head, const Wanted& wanted);

/// The counter of a failure's class.
Metrics::Counter& failure_counter(Metrics::PerKind& metrics, error_code ec);

}  // namespace k8s_sd::inline v0::detail
