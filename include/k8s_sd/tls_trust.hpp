#pragma once

#include "k8s_sd/detail/base/abi.hpp"

#include <string>
#include <string_view>

struct ssl_ctx_st;  // SSL_CTX of OpenSSL

namespace k8s_sd::inline v0 {

/// Makes each CA certificate of a text a trust anchor, as the library does for its own connections:
/// broken certificates do not affect the valid ones. For connections of the host itself.
/// \param context  a context of OpenSSL, such as ssl::context::native_handle() of Asio
/// \param pem      certificates in PEM; other text between them is skipped
/// \param name     of the text, for messages: "CA file /etc/ca.crt"
/// \returns a warning about broken certificates, in words; empty: there are none
/// \throws std::runtime_error in words if no certificate is usable; the context is unchanged then
K8S_SD_EXPORT std::string trust_certificates(ssl_ctx_st* context, std::string_view pem,
                                             const std::string& name);

}  // namespace k8s_sd::inline v0
