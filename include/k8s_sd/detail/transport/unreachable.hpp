#pragma once

#include "k8s_sd/error.hpp"

namespace k8s_sd::inline v0::detail {

/// Whether the error means a failed connection attempt, so the peer has received no request.
bool is_unreachable(const error_code&) noexcept;

}  // namespace k8s_sd::inline v0::detail
