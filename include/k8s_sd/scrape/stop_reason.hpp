#pragma once

#include <cstdint>

namespace k8s_sd::inline v0 {

/// Why a target is not scraped any more.
enum class StopReason : std::uint8_t {
    /// It is gone, or has changed. Its series have ended: write staleness markers.
    gone,
    /// Another member of the fleet scrapes it now. Its series go on: write no staleness markers.
    moved,
};

}  // namespace k8s_sd::inline v0
