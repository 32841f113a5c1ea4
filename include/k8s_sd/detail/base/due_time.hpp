#pragma once

#include "k8s_sd/time.hpp"

namespace k8s_sd::inline v0::detail {

/// The end of a wait that begins at `start`, saturated at TimePoint::max().
constexpr TimePoint due_after(TimePoint start, Duration wait) noexcept {
    return wait > TimePoint::max() - start ? TimePoint::max() : start + wait;
}

}  // namespace k8s_sd::inline v0::detail
