#pragma once

#include "support/secrets.hpp"

#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace support {

/// Paths of PEM files.
struct TlsFiles {
    std::string cert;       ///< of the server, with those between it and its CA
    std::string key;        ///< without a password
    std::string client_ca;  ///< who vouches for clients; empty: certificates are not asked for
    /// Of which a client's certificate must have one: its common name, or an alternative name that
    /// is a DNS name, a URI or an e-mail address. Empty: any name will do.
    std::vector<std::string> client_names{};
};

/// The certificate of a server, which may be renewed while it is in use. TLS 1.2 or later.
class RenewedTls {
 public:
    /// \throws std::runtime_error in words
    explicit RenewedTls(TlsFiles);

    /// For connections to come.
    SSL_CTX* context() const { return context_->native_handle(); }
    /// When the certificate in use ends, in seconds since 1970.
    std::int64_t valid_until() const;
    /// What is wrong with the times of the certificates in use, in words: they have ended, or will
    /// within 7 days or a quarter of their time. \param now  seconds since 1970
    std::vector<std::string> notes(std::int64_t now) const;
    /// What had better be otherwise about the certificates in use, in words; empty: nothing.
    std::string advice() const;
    /// Reads the files again. What belongs together is taken at once or not at all.
    /// \returns what has happened, in words; empty: nothing
    std::string look();

 private:
    /// \param seen  what the files say
    void load(std::vector<Digest>& seen);

    const TlsFiles files_;
    std::shared_ptr<boost::asio::ssl::context> context_;
    std::vector<Digest> seen_;  // also what could not be used
    std::string problem_;       // that is known
};

}  // namespace support
