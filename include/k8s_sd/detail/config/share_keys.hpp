#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/hash.hpp"

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

/// Keys for ownership in a fleet: the same in every process and version.
namespace k8s_sd::inline v0::detail {

/// Delimits the parts: {"ab", "c"} is not {"a", "bc"}.
template <class Range = std::initializer_list<std::string_view>>
constexpr std::uint64_t key_of_parts(const Range& parts) noexcept {
    std::uint64_t hash = fnv1a64({});
    for (const std::string_view part : parts) {
        hash = fnv1a64(part, hash);
        hash = fnv1a64({"\0", 1}, hash);
    }
    return mix64(hash);
}

/// The slot of an object among all hashes, see Division::slots.
constexpr unsigned slot_of(std::uint64_t uid_hash, unsigned slots) noexcept {
    const int bits = std::countr_zero(slots);
    return bits == 0 ? 0 : static_cast<unsigned>(uid_hash >> (64 - bits));
}

/// The lowest hash of a slot; 0 for the end of the last one, as in HashRange.
constexpr std::uint64_t slot_begin(unsigned slot, unsigned slots) noexcept {
    const int bits = std::countr_zero(slots);
    return bits == 0 || slot == slots ? 0 : std::uint64_t{slot} << (64 - bits);
}

/// The key of a slot, to find the member owning it.
inline std::uint64_t slot_key(unsigned slot, unsigned slots) {
    return key_of_parts({"slot", std::to_string(slots), std::to_string(slot)});
}

/// The key of a namespace, to find the member owning it.
constexpr std::uint64_t namespace_key(std::string_view ns) noexcept {
    return key_of_parts({"namespace", ns});
}

/// The key of an object's targets, see TargetGroup::share_key().
inline std::uint64_t share_key_of(const Division& division, std::string_view ns,
                                  std::uint64_t uid_hash) {
    switch (division.by) {
        case DivideBy::objects: return slot_key(slot_of(uid_hash, division.slots), division.slots);
        case DivideBy::namespaces: return namespace_key(ns);
        default: return 0;
    }
}

}  // namespace k8s_sd::inline v0::detail
