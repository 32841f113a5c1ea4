#pragma once

#include <array>
#include <cstddef>
#include <string_view>

// What operators new and delete of the integration tests do besides. They are replaced in
// allocations.cpp.

namespace k8s_sd::test {

/// While it is true, operator new throws in this thread.
inline thread_local bool allocations_fail = false;

/// So many allocations succeed in this thread, the others throw; below 0: all succeed.
inline thread_local long allocations_left = -1;

/// While it is on, remembers what is allocated, and searches what is freed. For one thread.
struct MemorySearch {
    bool on = false;
    bool in_freed = false;
    std::array<std::string_view, 2> wanted;
    std::array<void*, 4096> live{};

    void allocated(void* memory);
    void freed(void* memory);
    /// Blocks that hold some of it now.
    long in_live() const;

 private:
    bool finds(const void* memory, std::size_t size) const;
};
inline MemorySearch memory_search;

}  // namespace k8s_sd::test
