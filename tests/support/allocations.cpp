#include "support/allocations.hpp"

#include <malloc.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace k8s_sd::test {

bool MemorySearch::finds(const void* memory, std::size_t size) const {
    const std::string_view bytes(static_cast<const char*>(memory), size);
    return std::any_of(wanted.begin(), wanted.end(), [&](std::string_view text) {
        return bytes.find(text) != std::string_view::npos;
    });
}

void MemorySearch::allocated(void* memory) {
    if (!on) return;
    const auto free = std::find(live.begin(), live.end(), nullptr);
    if (free == live.end()) std::abort();
    std::memset(memory, 0, malloc_usable_size(memory));  // old contents are not ours
    *free = memory;
}

void MemorySearch::freed(void* memory) {
    if (!on) return;
    const auto known = std::find(live.begin(), live.end(), memory);
    if (known == live.end()) return;
    in_freed = in_freed || finds(memory, malloc_usable_size(memory));
    *known = nullptr;
}

long MemorySearch::in_live() const {
    return std::count_if(live.begin(), live.end(), [&](void* memory) {
        return memory != nullptr && finds(memory, malloc_usable_size(memory));
    });
}

}  // namespace k8s_sd::test

using k8s_sd::test::allocations_fail;
using k8s_sd::test::allocations_left;
using k8s_sd::test::memory_returns;
using k8s_sd::test::memory_search;
using k8s_sd::test::memory_use;

namespace {

void count_allocated(void* memory, std::size_t size) noexcept {
    if (!memory_use.on) return;
    memory_use.allocated(static_cast<long>(size), static_cast<long>(malloc_usable_size(memory)));
}

}  // namespace

// In a separate file: if a compiler sees both operators of a pair, it reports malloc() with delete
// as a mistake.
// NOLINTBEGIN
void* operator new(std::size_t size) {
    const bool fails = allocations_fail || allocations_left == 0;
    if (allocations_left > 0)
        --allocations_left;
    else if (fails && memory_returns)
        allocations_left = -1;
    void* const memory = fails ? nullptr : std::malloc(size);
    if (memory == nullptr) throw std::bad_alloc();
    memory_search.allocated(memory);
    count_allocated(memory, size);
    return memory;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    void* const memory = std::malloc(size);
    if (memory == nullptr) return nullptr;
    memory_search.allocated(memory);
    count_allocated(memory, size);
    return memory;
}
void operator delete(void* memory) noexcept {
    if (memory == nullptr) return;
    if (memory_use.on) memory_use.bytes -= static_cast<long>(malloc_usable_size(memory));
    memory_search.freed(memory);
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { ::operator delete(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { ::operator delete(memory); }
// NOLINTEND
