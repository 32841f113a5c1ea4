#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/net/credential_source.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <memory>

namespace k8s_sd::inline v0::detail {

/// Where the credentials for a server come from. What a program, a token service or the host issues
/// is shared by all clients of the execution context that are configured alike.
/// \param environment  without nulls
/// \throws ConfigError for a token_url that is not one
std::unique_ptr<CredentialSource> make_credential_source(const ApiServerConfig&,
                                                         const asio::any_io_executor& strand,
                                                         const Environment& environment);

}  // namespace k8s_sd::inline v0::detail
