#pragma once

#include "k8s_sd/detail/base/abi.hpp"

namespace k8s_sd::inline v0::detail {

/// Whether the library was built with nghttp2.
K8S_SD_EXPORT bool has_http2() noexcept;

}  // namespace k8s_sd::inline v0::detail
