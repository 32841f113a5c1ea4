#pragma once

#include "k8s_sd/detail/codec/event.hpp"
#include "k8s_sd/detail/net/http_connection.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/metrics.hpp"

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// What went wrong with a request, for the status and the log.
struct Failure {
    error_code ec;
    std::string message;
};

/// The Status in an error body, or what can be said without one.
ServerStatus read_status(const ResponseHead& head, std::string_view body);

/// An answer other than 200.
Failure describe(const ServerStatus& status, const ResponseHead& head, Kind kind);

/// The counter of a failure's class.
Metrics::Counter& failure_counter(Metrics::PerKind& metrics, error_code ec);

}  // namespace k8s_sd::inline v0::detail
