#pragma once

#include "api/api_reply.hpp"
#include "collectors/allocator.hpp"
#include "table/target_owners.hpp"

#include <optional>

namespace bridge {

/// Reads the parameter `shards`, or another one that is a number of them. \throws BadRequest
std::optional<unsigned> read_shards(const Parameters&, std::string_view name = "shards");
/// Reads the parameter `replicas`. \throws BadRequest
unsigned read_replicas(const Parameters&);

/// Who has the targets: of so many shards as the parameters say, and of the collectors that there
/// are. \throws BadRequest
TargetOwners read_owners(const Parameters&, const Allocator&);

}  // namespace bridge
