#include "api/owner_parameters.hpp"

namespace k8s_sd_program {

// The same limits as for lists.
constexpr std::size_t max_shards = 4096;
constexpr std::size_t max_replicas = 4;

std::optional<unsigned> read_shards(const Parameters& given, std::string_view name) {
    if (!given.text(name)) return std::nullopt;
    return static_cast<unsigned>(given.number(name, 1, 1, max_shards));
}

unsigned read_replicas(const Parameters& given) {
    return static_cast<unsigned>(given.number("replicas", 1, 1, max_replicas));
}

TargetOwners read_owners(const Parameters& given, const TargetAllocator& allocator) {
    TargetOwners owners;
    if (const auto shards = read_shards(given)) {
        owners.divide(*shards, read_replicas(given));
    } else if (given.text("replicas")) {
        throw BadRequest("replicas needs shards");
    }
    if (allocator.options().enabled()) owners.allocate(allocator.view());
    return owners;
}

}  // namespace k8s_sd_program
