#pragma once

#include <cstdint>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// FNV-1a with 64 bits: the hash of `shardRange` in Kubernetes' shardSelector (KEP-5866). The same
/// in every process and version, and therefore not for tables whose keys others choose.
constexpr std::uint64_t fnv1a64(std::string_view text) noexcept {
    std::uint64_t hash = 0xcbf2'9ce4'8422'2325U;
    for (const char c : text) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x0000'0100'0000'01b3U;
    }
    return hash;
}

}  // namespace k8s_sd::inline v0::detail
