#pragma once

#include <cstddef>

// The memory of a test program, as its operators new and delete count it. counted_memory.cpp
// replaces them.

namespace k8s_sd::test {

/// The number of calls of operator new so far.
std::size_t counted_allocations() noexcept;

/// The allocated bytes, with the allocator's rounding.
std::size_t allocated_bytes() noexcept;
/// Their maximum since the last watch_allocated_bytes().
std::size_t max_allocated_bytes() noexcept;
void watch_allocated_bytes() noexcept;

}  // namespace k8s_sd::test
