#pragma once

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// One gzip member, at the real server's compression level (fastest).
std::string gzip(std::string_view bytes);

/// Whether an Accept-Encoding header names gzip, read like the real server: without qualities,
/// case-sensitive.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace k8s_sd::inline v0::sim
