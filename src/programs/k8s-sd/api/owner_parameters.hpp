#pragma once

#include "api/api_reply.hpp"
#include "collectors/target_allocator.hpp"
#include "table/target_owners.hpp"

#include <optional>

namespace k8s_sd_program {

/// Reads the parameter `shards`, or another parameter with a number of shards. \throws BadRequest
std::optional<unsigned> read_shards(const Parameters&, std::string_view name = "shards");
/// Reads the parameter `replicas`. \throws BadRequest
unsigned read_replicas(const Parameters&);

/// The owners of targets: the number of shards in the parameters, and the present collectors.
/// \throws BadRequest
TargetOwners read_owners(const Parameters&, const TargetAllocator&);

}  // namespace k8s_sd_program
