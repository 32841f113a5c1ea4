#pragma once

#include "k8s_sd/detail/labels/label_shape.hpp"

namespace k8s_sd::inline v0::detail {

/// The address to scrape.
inline constexpr LiteralName address_name{"__address__"};

}  // namespace k8s_sd::inline v0::detail
