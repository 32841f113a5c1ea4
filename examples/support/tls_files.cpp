#include "support/tls_files.hpp"

#include "k8s_sd/error_text.hpp"

#include <boost/asio/buffer.hpp>
#include <openssl/ssl.h>
#include <ctime>
#include <exception>
#include <stdexcept>
#include <utility>

namespace support {

namespace asio = boost::asio;
namespace ssl = asio::ssl;

namespace {

struct TlsTexts {
    std::string cert;
    std::string key;
    std::string client_ca;

    explicit TlsTexts(const TlsFiles& files)
        : cert(read_small_file(files.cert)),
          key(read_small_file(files.key)),
          client_ca(files.client_ca.empty() ? std::string() : read_small_file(files.client_ca)) {}
    ~TlsTexts() { forget(key); }
    TlsTexts(const TlsTexts&) = delete;
    TlsTexts& operator=(const TlsTexts&) = delete;
};

/// Does it, and says what could not be done.
template <class Step>
void step(const std::string& failure, Step do_it) {
    boost::system::error_code ec;
    do_it(ec);
    if (ec) throw std::runtime_error(failure + ": " + k8s_sd::in_words(ec));
}

std::shared_ptr<ssl::context> context_of(const TlsFiles& files, const TlsTexts& texts) {
    using boost::system::error_code;
    const auto made = std::make_shared<ssl::context>(ssl::context::tls_server);
    ssl::context& context = *made;
    SSL_CTX* native = context.native_handle();
    SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
    // Each connection is verified by itself, so that no ticket outlives a certificate.
    context.set_options(SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                        SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_num_tickets(native, 0);
    SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(native, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                 SSL_MODE_RELEASE_BUFFERS);
    // Nobody is there to be asked for it.
    const auto has_password = std::make_shared<bool>(false);
    context.set_password_callback([has_password](std::size_t, ssl::context::password_purpose) {
        *has_password = true;
        return "";
    });
    step(files.cert + " holds no usable certificate",
         [&](error_code& ec) { context.use_certificate_chain(asio::buffer(texts.cert), ec); });
    step(files.key + " holds no usable key, or not that of " + files.cert, [&](error_code& ec) {
        context.use_private_key(asio::buffer(texts.key), ssl::context::pem, ec);
        if (*has_password) throw std::runtime_error(files.key + " must have no password");
    });
    if (SSL_CTX_check_private_key(native) != 1) {
        throw std::runtime_error(files.key + " is not the key of " + files.cert);
    }
    if (!files.client_ca.empty()) {
        step(files.client_ca + " holds no usable certificate", [&](error_code& ec) {
            context.add_certificate_authority(asio::buffer(texts.client_ca), ec);
            const auto* found = X509_STORE_get0_objects(SSL_CTX_get_cert_store(native));
            if (!ec && sk_X509_OBJECT_num(found) == 0) ec = asio::error::not_found;
        });
        context.set_verify_mode(ssl::verify_peer);
    }
    return made;
}

}  // namespace

RenewedTls::RenewedTls(TlsFiles files) : files_(std::move(files)) { load(seen_); }

void RenewedTls::load(std::vector<Digest>& seen) {
    const TlsTexts texts(files_);
    std::vector<Digest> now{digest_of(texts.cert), digest_of(texts.key),
                            digest_of(texts.client_ca)};
    if (now == seen) return;
    seen = std::move(now);
    context_ = context_of(files_, texts);
}

std::int64_t RenewedTls::valid_until() const {
    std::tm time{};
    ASN1_TIME_to_tm(X509_get0_notAfter(SSL_CTX_get0_certificate(context())), &time);
    return timegm(&time);
}

std::string RenewedTls::look() {
    const auto used = context_;
    const auto seen = seen_;
    const std::string known = std::exchange(problem_, {});
    try {
        load(seen_);
    } catch (const std::exception& e) {
        problem_ = e.what();
        if (seen_ == seen && problem_ == known) return {};
        return "the certificates in use stay: " + problem_;
    }
    if (context_ == used) return {};
    return "new connections get the renewed certificate of " + files_.cert;
}

}  // namespace support
