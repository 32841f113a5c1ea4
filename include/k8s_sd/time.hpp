#pragma once

#include <chrono>

namespace k8s_sd::inline v0 {

/// A duration on the library's clock, see Clock.
using Duration = std::chrono::steady_clock::duration;
/// A point in time on that clock.
using TimePoint = std::chrono::steady_clock::time_point;

}  // namespace k8s_sd::inline v0
