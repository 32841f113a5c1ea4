#pragma once

#include "k8s_sd/api_server_config.hpp"

#include <cstdint>
#include <string>

namespace k8s_sd::inline v0::detail {

/// When the proxies of the environment apply.
enum class EnvironmentProxies : std::uint8_t { never, if_asked_for, by_default };

/// Completes a server: a canonical URL, the server options of the configuration, and the choice of
/// a proxy from the environment.
/// \param own    the server options of the configuration
/// \param where  the source of the URL, for the error
/// \throws ConfigError
ApiServerConfig complete_server(ApiServerConfig found, const ApiServerConfig& own,
                                EnvironmentProxies, const std::string& where);

}  // namespace k8s_sd::inline v0::detail
