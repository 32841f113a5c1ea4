#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Memory wiped before it is freed: for tokens, passwords, keys and the data of Secrets.
namespace k8s_sd::inline v0::detail {

/// Overwrites with zeros. The volatile pointer keeps the compiler from removing a dead store.
inline void cleanse(void* memory, std::size_t size) noexcept {
    static void* (*const volatile overwrite)(void*, int, std::size_t) = std::memset;
    if (size > 0) overwrite(memory, 0, size);
}

template <class T>
struct CleansingAllocator {
    using value_type = T;

    CleansingAllocator() = default;
    template <class U>
    CleansingAllocator(const CleansingAllocator<U>&) noexcept {}

    T* allocate(std::size_t n) { return std::allocator<T>().allocate(n); }
    void deallocate(T* p, std::size_t n) noexcept {
        cleanse(p, n * sizeof(T));
        std::allocator<T>().deallocate(p, n);
    }
    bool operator==(const CleansingAllocator&) const = default;
};

/// A vector, because a short std::string stores its characters inline, outside any allocator.
using CleansedBytes = std::vector<char, CleansingAllocator<char>>;

// --- tokens, passwords and private keys ---

inline std::string_view view(const CleansedBytes& secret) noexcept {
    return {secret.data(), secret.size()};
}

inline void append(CleansedBytes& secret, std::string_view text) {
    secret.insert(secret.end(), text.begin(), text.end());
}

/// Reads a regular file without a copy in a stream's buffer.
/// \param problem   the reason of a failure, without the path
/// \param max_size  maximum size of the file
std::optional<CleansedBytes> read_secret_file(const std::string& path, std::string& problem,
                                              std::size_t max_size = std::size_t{4} << 20);

}  // namespace k8s_sd::inline v0::detail
