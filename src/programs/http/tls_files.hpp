#pragma once

#include "http/secrets.hpp"

#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace http {

/// Paths of PEM files.
struct TlsFiles {
    std::string cert;       ///< of the server, with intermediate certificates
    std::string key;        ///< without a password
    std::string client_ca;  ///< CA of client certificates; empty: none are requested
    /// A client's certificate must have one of these names: its common name, or an alternative name
    /// of type DNS name, URI or e-mail address. Empty: any name is accepted.
    std::vector<std::string> client_names{};
};

/// The certificate of a server, renewable while in use. TLS 1.2 or later.
class RenewedTls {
 public:
    /// \throws std::runtime_error in words
    explicit RenewedTls(TlsFiles);

    /// The context for new connections.
    SSL_CTX* context() const { return context_->native_handle(); }
    /// Expiry of the certificate in use, in seconds since 1970.
    std::int64_t valid_until() const;
    /// Warnings about the validity of the certificates in use, in words: expired, or expiring
    /// within 7 days or a quarter of their lifetime; and about broken certificates of clients' CAs.
    /// \param now  seconds since 1970
    std::vector<std::string> notes(std::int64_t now) const;
    /// Recommended improvements of the certificates in use, in words; empty: none.
    std::string advice() const;
    /// Reads the files again. A set of related files is adopted as a whole or not at all.
    /// \returns the event, in words; empty: none
    std::string refresh();

 private:
    /// \param seen  hashes of the files' content
    void load(std::vector<Digest>& seen);

    const TlsFiles files_;
    std::shared_ptr<boost::asio::ssl::context> context_;
    std::string broken_;        // a warning about broken certificates
    std::vector<Digest> seen_;  // including unusable content
    std::string problem_;       // the known problem
};

}  // namespace http
