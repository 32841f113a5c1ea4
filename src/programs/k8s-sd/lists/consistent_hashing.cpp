#include "lists/consistent_hashing.hpp"

#define XXH_INLINE_ALL  // the header is the whole library
#include <xxhash.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace k8s_sd_program {

namespace {

constexpr unsigned places = 5;
constexpr double load_factor = 1.1;

std::uint64_t hash_of(std::string_view text) noexcept { return XXH64(text.data(), text.size(), 0); }

/// The hash of the number's eight bytes in little-endian order.
std::uint64_t hash_of(std::uint64_t partition) noexcept {
    std::array<char, sizeof partition> bytes{};
    for (char& byte : bytes) {
        byte = static_cast<char>(partition & 0xFFU);
        partition >>= 8U;
    }
    return hash_of({bytes.data(), bytes.size()});
}

using Ring = std::map<std::uint64_t, std::uint32_t>;

Ring ring_of(const std::vector<std::string>& members) {
    // Of equal hashes the last one wins, so insert in the order of the names.
    std::vector<std::uint32_t> order(members.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return members[a] < members[b]; });
    Ring ring;
    for (const std::uint32_t member : order) {
        for (unsigned place = 0; place < places; ++place) {
            ring[hash_of(std::to_string(place) + ":" + members[member])] = member;
        }
    }
    return ring;
}

}  // namespace

ConsistentHashing::ConsistentHashing(const std::vector<std::string>& members) {
    const Ring ring = ring_of(members);
    std::vector<std::size_t> loads(members.size());
    const auto max_load = static_cast<std::size_t>(std::ceil(
        static_cast<double>(partitions) / static_cast<double>(members.size()) * load_factor));
    for (std::size_t partition = 0; partition < partitions; ++partition) {
        auto place = ring.lower_bound(hash_of(std::uint64_t{partition}));
        if (place == ring.end()) place = ring.begin();
        // The total capacity exceeds the number of partitions, so the loop ends.
        while (loads[place->second] >= max_load) {
            if (++place == ring.end()) place = ring.begin();
        }
        ++loads[place->second];
        owners_[partition] = place->second;
    }
}

std::uint64_t ConsistentHashing::key_of(std::string_view address) noexcept {
    return hash_of(address);
}

}  // namespace k8s_sd_program
