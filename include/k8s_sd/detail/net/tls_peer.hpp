#pragma once

#include <openssl/ssl.h>
#include <string>

/// Whom a TLS client accepts, and why not.
namespace k8s_sd::inline v0::detail {

/// Sets what the certificate must be valid for and, for a name that is no IP literal, SNI.
/// RFC 9110 4.3.4, RFC 9525: subject alternative names only, no partial wildcards.
/// \return whether `name` can be verified at all
bool expect_peer(SSL*, std::string name);

/// Why OpenSSL rejects the current certificate of `context`: a sentence for people.
std::string explain_rejection(X509_STORE_CTX* context, const std::string& name);

}  // namespace k8s_sd::inline v0::detail
