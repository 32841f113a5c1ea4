#pragma once

#include <atomic>
#include <cstdint>

namespace k8s_sd_program {

/// Metrics of written files. Any thread.
struct FileMetrics {
    std::atomic<std::uint64_t> writes{0};  ///< replaced files
    std::atomic<std::uint64_t> errors{0};  ///< failed attempts
};

}  // namespace k8s_sd_program
