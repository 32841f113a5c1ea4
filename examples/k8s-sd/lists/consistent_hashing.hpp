#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// Which member has which target, as OpenTelemetry's Target Allocator decides it with its default
/// strategy. Source: buraksezer/consistent 1.0.0 with XXH64, 1061 partitions, five places of each
/// member on the ring and a load of 1.1. Immutable; thread-safe.
class ConsistentHashing {
 public:
    /// \param members  in any order, each once; at least one
    explicit ConsistentHashing(const std::vector<std::string>& members);

    /// The hash of a target: of its address before relabelling.
    static std::uint64_t key_of(std::string_view address) noexcept;
    /// The place of the member in the vector that was given.
    std::size_t owner(std::uint64_t key) const noexcept { return owners_[key % partitions]; }

 private:
    static constexpr std::size_t partitions = 1061;
    std::array<std::uint32_t, partitions> owners_{};
};

}  // namespace bridge
