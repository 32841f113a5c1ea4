#pragma once

#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Whether the text is a host, a host and a port, or an address: what a Probe accepts as the URL
/// of its prober.
bool is_prober_url(std::string_view text);

}  // namespace k8s_sd::inline v0::detail
