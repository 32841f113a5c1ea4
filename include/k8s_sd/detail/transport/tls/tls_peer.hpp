#pragma once

#include "k8s_sd/error.hpp"

#include <openssl/ssl.h>
#include <string>

/// Verification of a TLS server by a client, and its error messages.
namespace k8s_sd::inline v0::detail {

/// Sets the expected certificate name and, unless `name` is an IP literal, SNI.
/// RFC 9110 4.3.4, RFC 9525: subject alternative names only, no partial wildcards.
/// \return whether `name` is verifiable at all
bool expect_peer(SSL*, std::string name);

/// Minimum key strength. OpenSSL rates an RSA key of 1024 bits at 80.
inline constexpr int min_key_security_bits = 80;
/// The highest OpenSSL security level at which smaller keys than required by it are accepted.
inline constexpr int max_relaxed_level = 2;

/// Whether Go, and so kubectl and Prometheus, accepts the current certificate of `context` despite
/// OpenSSL's rejection: for any use (anyExtendedKeyUsage), with a small key, or for an IPv4-mapped
/// IPv6 address.
bool is_taken_by_go(X509_STORE_CTX* context);

/// The expected server, for messages.
struct ExpectedPeer {
    std::string name;   ///< the expected name in the certificate
    std::string trust;  ///< the trusted certificates, from describe_trust()
    bool is_proxy = false;
};

/// Explains OpenSSL's rejection of the current certificate of `context`: the reason, the
/// certificate's content, and advice. One sentence without control characters, up to about a
/// kilobyte.
std::string explain_rejection(X509_STORE_CTX* context, const ExpectedPeer&);

/// The client's TLS versions, such as "1.3" or "1.2 to 1.3".
std::string versions_of(const SSL*);

/// Explains an OpenSSL error, with advice, as the rest of a sentence with the peer as its subject.
/// In TLS 1.3 the rejection of a client certificate arrives with the first read.
/// \param shows_certificate  whether the client has one
/// \param versions  of the client; empty: unknown
/// \return empty if the error concerns something else
std::string explain_tls_error(const error_code&, bool shows_certificate,
                              const std::string& versions = {});

}  // namespace k8s_sd::inline v0::detail
