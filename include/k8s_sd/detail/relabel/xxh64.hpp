#pragma once

#include <cstdint>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// XXH64 with seed 0, as in vmagent's hashmod and sharding.
std::uint64_t xxh64(std::string_view text) noexcept;

}  // namespace k8s_sd::inline v0::detail
