#pragma once

#include "k8s_sd/version.hpp"

#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The header of each request that names the client, with the end of its line.
inline constexpr std::string_view user_agent_line = "User-Agent: k8s_sd/" K8S_SD_VERSION "\r\n";

}  // namespace k8s_sd::inline v0::detail
