#pragma once

#include <cstdint>

namespace k8s_sd::inline v0 {

/// The reason a target is no longer scraped.
enum class StopReason : std::uint8_t {
    /// The target is gone, or has changed. Its series have ended: write staleness markers.
    gone,
    /// Another member of the fleet scrapes it now. Its series continue: write no staleness markers.
    moved,
};

}  // namespace k8s_sd::inline v0
