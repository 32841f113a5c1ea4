#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd_program {

/// Assigns targets to members, exactly like the default strategy of OpenTelemetry's Target
/// Allocator. Source: buraksezer/consistent 1.0.0 with XXH64, 1061 partitions, five virtual nodes
/// for each member on the ring and a load of 1.1. Immutable; thread-safe.
class ConsistentHashing {
 public:
    /// \param members  in any order, each once; at least one
    explicit ConsistentHashing(const std::vector<std::string>& members);

    /// The hash of a target's address before relabelling.
    static std::uint64_t key_of(std::string_view address) noexcept;
    /// The index of the owner in the vector of members.
    std::size_t owner(std::uint64_t key) const noexcept { return owners_[key % partitions]; }

 private:
    static constexpr std::size_t partitions = 1061;
    std::array<std::uint32_t, partitions> owners_{};
};

}  // namespace k8s_sd_program
