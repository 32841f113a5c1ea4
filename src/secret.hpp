#pragma once

#include <openssl/crypto.h>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Memory for tokens, passwords and private keys.
namespace k8s_sd::detail {

template <class T>
struct CleansingAllocator {
    using value_type = T;

    CleansingAllocator() = default;
    template <class U>
    CleansingAllocator(const CleansingAllocator<U>&) noexcept {}

    T* allocate(std::size_t n) { return std::allocator<T>().allocate(n); }
    void deallocate(T* p, std::size_t n) noexcept {
        OPENSSL_cleanse(p, n * sizeof(T));
        std::allocator<T>().deallocate(p, n);
    }
    bool operator==(const CleansingAllocator&) const = default;
};

/// A vector because a short std::string lives in the object itself, past any allocator.
using Secret = std::vector<char, CleansingAllocator<char>>;

inline std::string_view view(const Secret& secret) noexcept {
    return {secret.data(), secret.size()};
}

inline void append(Secret& secret, std::string_view text) {
    secret.insert(secret.end(), text.begin(), text.end());
}

/// The content of a file of at most 4 MiB, without a copy of it in a stream's buffer.
/// \param problem  set when there is no result: the reason, without the path
std::optional<Secret> read_secret_file(const std::string& path, std::string& problem);

}  // namespace k8s_sd::detail
