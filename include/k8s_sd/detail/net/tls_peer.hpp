#pragma once

#include "k8s_sd/error.hpp"

#include <openssl/ssl.h>
#include <string>

/// Whom a TLS client accepts, and why not.
namespace k8s_sd::inline v0::detail {

/// Sets what the certificate must be valid for and, for a name that is no IP literal, SNI.
/// RFC 9110 4.3.4, RFC 9525: subject alternative names only, no partial wildcards.
/// \return whether `name` can be verified at all
bool expect_peer(SSL*, std::string name);

/// Keys of less are never taken: an RSA key of 1024 bits has 80, as OpenSSL counts.
inline constexpr int min_key_security_bits = 80;
/// The highest security level of OpenSSL under which smaller keys than it asks for are taken.
inline constexpr int max_relaxed_level = 2;

/// Whether Go, and so kubectl and Prometheus, takes the current certificate of `context`, which
/// OpenSSL rejects: for any use (anyExtendedKeyUsage), with a small key, or for an address of IPv4
/// in its form of IPv6.
bool is_taken_by_go(X509_STORE_CTX* context);

/// For messages.
struct ExpectedPeer {
    std::string name;   ///< that its certificate must be for
    std::string trust;  ///< what certificates are trusted, as of describe_trust()
    bool is_proxy = false;
};

/// Why OpenSSL rejects the current certificate of `context`, what the certificate says, and what
/// to do: a sentence for people, without control characters and at most about a kilobyte long.
std::string explain_rejection(X509_STORE_CTX* context, const ExpectedPeer&);

/// That a client speaks, such as "1.3" or "1.2 to 1.3".
std::string versions_of(const SSL*);

/// What an error of OpenSSL says about the peer, and what to do: the rest of a sentence that begins
/// with its name. In TLS 1.3 the verdict about a client's certificate comes with the first read.
/// \param shows_certificate  whether the client has one
/// \param versions  that the client speaks; empty: unknown
/// \return empty if the error says nothing about it
std::string explain_tls_error(const error_code&, bool shows_certificate,
                              const std::string& versions = {});

}  // namespace k8s_sd::inline v0::detail
