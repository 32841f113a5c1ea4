#include "support/counted_memory.hpp"

#include <malloc.h>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> allocations = 0;
std::atomic<std::size_t> bytes = 0;
std::atomic<std::size_t> max_bytes = 0;

void* counted(void* memory) noexcept {
    ++allocations;
    const std::size_t sum = bytes += malloc_usable_size(memory);
    if (sum > max_bytes) max_bytes = sum;
    return memory;
}

}  // namespace

std::size_t k8s_sd::test::counted_allocations() noexcept { return allocations; }
std::size_t k8s_sd::test::allocated_bytes() noexcept { return bytes; }
std::size_t k8s_sd::test::max_allocated_bytes() noexcept { return max_bytes; }
void k8s_sd::test::watch_allocated_bytes() noexcept { max_bytes = bytes.load(); }

// In a separate file: if a compiler sees both operators of a pair, it reports malloc() with delete
// as a mistake.
// NOLINTBEGIN
void* operator new(std::size_t size) {
    void* const memory = std::malloc(size);
    if (memory == nullptr) throw std::bad_alloc();
    return counted(memory);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    void* const memory = std::malloc(size);
    return memory == nullptr ? nullptr : counted(memory);
}
void operator delete(void* memory) noexcept {
    if (memory == nullptr) return;
    bytes -= malloc_usable_size(memory);
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { ::operator delete(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { ::operator delete(memory); }
// NOLINTEND
