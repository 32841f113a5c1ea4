#pragma once

#include <cstdint>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// FNV-1a with 64 bits: the hash of `shardRange` in Kubernetes' shardSelector (KEP-5866). The same
/// in every process and version, and therefore unsuitable for tables with foreign keys.
/// \param hash  state after the preceding text
constexpr std::uint64_t fnv1a64(std::string_view text,
                                std::uint64_t hash = 0xcbf2'9ce4'8422'2325U) noexcept {
    for (const char c : text) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x0000'0100'0000'01b3U;
    }
    return hash;
}

/// A bijection that spreads every bit of its argument over the whole result (the finalizer of
/// SplitMix64).
constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30U)) * 0xbf58'476d'1ce4'e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d0'49bb'1331'11ebU;
    return x ^ (x >> 31U);
}

}  // namespace k8s_sd::inline v0::detail
