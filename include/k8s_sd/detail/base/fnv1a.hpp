#pragma once

#include <cstdint>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// FNV-1a with 64 bits: the hash of KEP-5866, the same in every process and version.
constexpr std::uint64_t fnv1a64(std::string_view text,
                                std::uint64_t hash = 0xcbf29ce484222325U) noexcept {
    for (const char c : text) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100000001b3U;
    }
    return hash;
}

/// A bijection that spreads every bit of its argument over the whole result (the finalizer of
/// SplitMix64).
constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
}

}  // namespace k8s_sd::inline v0::detail
