#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/auth/credential_source.hpp"
#include "k8s_sd/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <memory>

namespace k8s_sd::inline v0::detail {

/// Creates the credential source for a server. All clients of the execution context with the same
/// configuration share issued credentials.
/// \param environment  without null members
/// \throws ConfigError for an invalid token_url
std::unique_ptr<CredentialSource> make_credential_source(const ApiServerConfig&,
                                                         const asio::any_io_executor& strand,
                                                         const Environment& environment);

}  // namespace k8s_sd::inline v0::detail
