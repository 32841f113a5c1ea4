#pragma once

#include "k8s_sd/error.hpp"

namespace k8s_sd::inline v0::detail {

/// Whether the error is that of a connection which was never made: its peer knows of no request.
bool is_unreachable(const error_code&) noexcept;

}  // namespace k8s_sd::inline v0::detail
