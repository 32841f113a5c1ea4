#pragma once

#include <array>
#include <cstddef>
#include <string_view>

// Additional behaviour of operators new and delete in test programs with allocations.cpp, which
// replaces them. ThreadSanitizer has its own: there nothing fails or is counted, so that bounds of
// MemoryUse always hold.

namespace k8s_sd::test {

/// While true, operator new throws in this thread.
inline thread_local bool allocations_fail = false;

/// This many allocations succeed in this thread, later ones throw; below 0: all succeed.
inline thread_local long allocations_left = -1;

/// While true, all allocations after a failed one succeed.
inline thread_local bool memory_returns = false;

/// While on, records allocated blocks, and searches freed ones. For one thread.
struct MemorySearch {
    bool on = false;
    bool in_freed = false;
    std::array<std::string_view, 2> wanted;
    std::array<void*, 4096> live{};

    void allocated(void* memory);
    void freed(void* memory);
    /// Live blocks that contain part of the text.
    long in_live() const;

 private:
    bool finds(const void* memory, std::size_t size) const;
};
inline MemorySearch memory_search;

/// While on, counts blocks and their bytes in this thread.
struct MemoryUse {
    bool on = false;
    long allocations = 0;  ///< calls of operator new
    long requested = 0;    ///< their bytes, without the allocator's rounding
    long bytes = 0;        ///< allocated since the start, without those freed
    long peak = 0;

    void allocated(long size, long usable) noexcept {
        ++allocations;
        requested += size;
        bytes += usable;
        if (bytes > peak) peak = bytes;
    }
};
inline thread_local MemoryUse memory_use;

}  // namespace k8s_sd::test
