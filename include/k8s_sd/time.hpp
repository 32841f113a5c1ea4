#pragma once

#include <chrono>

namespace k8s_sd::inline v0 {

/// A span of the clock that the library reads, see Clock.
using Duration = std::chrono::steady_clock::duration;
/// A point of that clock.
using TimePoint = std::chrono::steady_clock::time_point;

}  // namespace k8s_sd::inline v0
