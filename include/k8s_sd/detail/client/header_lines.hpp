#pragma once

#include "k8s_sd/api_server_config.hpp"

#include <string>
#include <vector>

/// Header lines of a request, each with its line break.
namespace k8s_sd::inline v0::detail {

/// Source: client-go, transport/round_trippers.go.
/// \throws ConfigError for a control character
std::string impersonation_lines(const ImpersonationConfig&);

/// Lines of constant headers. Empty if any header comes from a file, because HeaderFiles then adds
/// them all.
/// \throws ConfigError for a control character or an invalid header name
std::string header_lines(const std::vector<HttpHeader>&);

}  // namespace k8s_sd::inline v0::detail
