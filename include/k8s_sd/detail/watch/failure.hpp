#pragma once

#include "k8s_sd/detail/codec/event.hpp"
#include "k8s_sd/detail/transport/response_head.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/metrics.hpp"

#include <cstdint>
#include <string>

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

}  // namespace k8s_sd::inline v0::detail
