#pragma once

#include <chrono>

namespace k8s_sd::inline v0 {

/// Spans and points of the clock that the library reads, see Clock in environment.hpp.
using Duration = std::chrono::steady_clock::duration;
using TimePoint = std::chrono::steady_clock::time_point;

}  // namespace k8s_sd::inline v0
