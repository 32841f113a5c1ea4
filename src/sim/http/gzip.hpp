#pragma once

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// One gzip member, compressed as fast as the real server does it.
std::string gzip(std::string_view bytes);

/// Whether an Accept-Encoding header names gzip, as the real server reads it: no qualities, no
/// other case.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace k8s_sd::inline v0::sim
