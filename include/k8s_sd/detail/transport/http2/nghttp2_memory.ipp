#include "k8s_sd/detail/base/secrets.hpp"

#include <nghttp2/nghttp2.h>
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace k8s_sd::inline v0::detail {

namespace {

/// Before each block, which keeps its alignment.
struct alignas(std::max_align_t) BlockSize {
    std::size_t bytes;
};

void free_cleansed(void* block, void*) {
    if (!block) return;
    auto* const size = static_cast<BlockSize*>(block) - 1;
    cleanse(block, size->bytes);
    std::free(size);
}

void* allocate_cleansed(std::size_t bytes, void*) {
    auto* const size = static_cast<BlockSize*>(std::malloc(sizeof(BlockSize) + bytes));
    if (!size) return nullptr;
    size->bytes = bytes;
    return size + 1;
}

void* allocate_cleared(std::size_t n, std::size_t of, void*) {
    void* const block = allocate_cleansed(n * of, nullptr);
    if (block) std::memset(block, 0, n * of);
    return block;
}

void* resize_cleansed(void* block, std::size_t bytes, void*) {
    void* const larger = allocate_cleansed(bytes, nullptr);
    if (!larger || !block) return larger;
    std::memcpy(larger, block, std::min((static_cast<BlockSize*>(block) - 1)->bytes, bytes));
    free_cleansed(block, nullptr);
    return larger;
}

/// Memory of a session, wiped before it is freed: requests contain credentials.
nghttp2_mem cleansed_memory() {
    return {nullptr, allocate_cleansed, free_cleansed, allocate_cleared, resize_cleansed};
}

}  // namespace

}  // namespace k8s_sd::inline v0::detail
