#pragma once

#include <atomic>
#include <cstdint>

namespace bridge {

/// What writing files cost. Any thread.
struct FileMetrics {
    std::atomic<std::uint64_t> writes{0};  ///< files that were replaced
    std::atomic<std::uint64_t> errors{0};  ///< that could not be
};

}  // namespace bridge
