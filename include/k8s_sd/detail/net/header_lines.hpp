#pragma once

#include "k8s_sd/api_server_config.hpp"

#include <string>
#include <vector>

/// Lines of a request's head, each with its line break.
namespace k8s_sd::inline v0::detail {

/// Source: client-go, transport/round_trippers.go.
/// \throws ConfigError for a control character
std::string impersonation_lines(const ImpersonationConfig&);

/// Of the headers that are the same in every request: none if one of them comes from a file, for
/// then HeaderFiles has them all.
/// \throws ConfigError for a control character, and for a name that is no token
std::string header_lines(const std::vector<HttpHeader>&);

}  // namespace k8s_sd::inline v0::detail
