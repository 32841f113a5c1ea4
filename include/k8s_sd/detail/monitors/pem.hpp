#pragma once

#include <string_view>

/// Certificates and keys as Go's TLS reads them.
namespace k8s_sd::inline v0::detail {

/// Whether the first PEM block is an X.509 certificate.
bool is_pem_certificate(std::string_view text);

/// Whether the first certificate belongs to the first private key. Encrypted keys are refused.
bool is_pem_pair(std::string_view certificate, std::string_view key);

}  // namespace k8s_sd::inline v0::detail
