#pragma once

#include "k8s_sd/time.hpp"

namespace k8s_sd::inline v0::detail {

/// When a wait that begins at `start` ends; a wait that is too long for the clock never does.
constexpr TimePoint due_after(TimePoint start, Duration wait) noexcept {
    return wait > TimePoint::max() - start ? TimePoint::max() : start + wait;
}

}  // namespace k8s_sd::inline v0::detail
