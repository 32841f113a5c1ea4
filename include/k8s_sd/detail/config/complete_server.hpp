#pragma once

#include "k8s_sd/api_server_config.hpp"

#include <cstdint>
#include <string>

namespace k8s_sd::inline v0::detail {

/// When the proxies of the environment count.
enum class EnvironmentProxies : std::uint8_t { never, if_asked_for, by_default };

/// A server that was found, with a canonical URL, with what the configuration says of any server,
/// and with the decision about the proxies of the environment.
/// \param own    the configuration's
/// \param where  what names the URL, for the error
/// \throws ConfigError
ApiServerConfig complete_server(ApiServerConfig found, const ApiServerConfig& own,
                                EnvironmentProxies, const std::string& where);

}  // namespace k8s_sd::inline v0::detail
