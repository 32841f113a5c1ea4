#include "http/tls_files.hpp"

#include "http/http_fields.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/tls_trust.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/verify_context.hpp>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <algorithm>
#include <ctime>
#include <exception>
#include <limits>
#include <stdexcept>
#include <utility>

namespace http {

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

/// Runs a step, and reports its failure.
template <class Step>
void step(const std::string& failure, Step do_it) {
    boost::system::error_code ec;
    do_it(ec);
    if (ec) throw std::runtime_error(failure + ": " + k8s_sd::in_words(ec));
}

std::vector<std::string> common_names_of(const X509* certificate) {
    std::vector<std::string> names;
    const X509_NAME* subject = X509_get_subject_name(certificate);
    for (int i = -1; (i = X509_NAME_get_index_by_NID(subject, NID_commonName, i)) >= 0;) {
        unsigned char* text = nullptr;
        const int size =
            ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, i)));
        if (size < 0) continue;
        names.emplace_back(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
        OPENSSL_free(text);
    }
    return names;
}

/// The alternative names of a text type.
std::vector<std::string> alternative_names_of(const X509* certificate) {
    std::vector<std::string> names;
    auto* all = static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
    for (int i = 0; i < sk_GENERAL_NAME_num(all); ++i) {
        int type = 0;
        const void* value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(all, i), &type);
        if (type != GEN_DNS && type != GEN_URI && type != GEN_EMAIL) continue;
        const auto* text = static_cast<const ASN1_IA5STRING*>(value);
        names.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                           static_cast<std::size_t>(ASN1_STRING_length(text)));
    }
    GENERAL_NAMES_free(all);
    return names;
}

/// Refuses a certificate with the server's own key as a client's: its owner is this server, or
/// another one with the same key, but not a client of the lists.
bool may_be_client(X509_STORE_CTX* verification, const std::vector<std::string>& wanted) {
    const X509* certificate = X509_STORE_CTX_get_current_cert(verification);
    const auto* ssl = static_cast<const SSL*>(
        X509_STORE_CTX_get_ex_data(verification, SSL_get_ex_data_X509_STORE_CTX_idx()));
    if (EVP_PKEY_eq(X509_get0_pubkey(certificate), X509_get0_pubkey(SSL_get_certificate(ssl))) ==
        1) {
        return false;
    }
    if (wanted.empty()) return true;
    std::vector<std::string> names = common_names_of(certificate);
    for (std::string& name : alternative_names_of(certificate)) names.push_back(std::move(name));
    return std::find_first_of(names.begin(), names.end(), wanted.begin(), wanted.end()) !=
           names.end();
}

void verify_clients(ssl::context& context, const std::vector<std::string>& names) {
    context.set_verify_mode(ssl::verify_peer);
    context.set_verify_callback([names](bool is_verified, ssl::verify_context& verification) {
        X509_STORE_CTX* native = verification.native_handle();
        if (!is_verified || X509_STORE_CTX_get_error_depth(native) != 0) return is_verified;
        if (may_be_client(native, names)) return true;
        X509_STORE_CTX_set_error(native, X509_V_ERR_CERT_REJECTED);
        return false;
    });
}

/// Seconds since 1970.
std::int64_t seconds_of(const ASN1_TIME* time) {
    std::tm parts{};
    return ASN1_TIME_to_tm(time, &parts) == 1 ? timegm(&parts) : 0;
}

/// The common validity of certificates used together.
struct Validity {
    std::int64_t begin = std::numeric_limits<std::int64_t>::min();
    std::int64_t end = std::numeric_limits<std::int64_t>::max();

    void restrict_to(const X509* certificate) {
        begin = std::max(begin, seconds_of(X509_get0_notBefore(certificate)));
        end = std::min(end, seconds_of(X509_get0_notAfter(certificate)));
    }
};

/// The intermediate certificates.
STACK_OF(X509) * chain_of(SSL_CTX* context) {
    STACK_OF(X509)* chain = nullptr;
    SSL_CTX_get_extra_chain_certs(context, &chain);
    return chain;
}

Validity validity_of(SSL_CTX* context) {
    Validity validity;
    validity.restrict_to(SSL_CTX_get0_certificate(context));
    const STACK_OF(X509)* chain = chain_of(context);
    for (int i = 0; i < sk_X509_num(chain); ++i) validity.restrict_to(sk_X509_value(chain, i));
    return validity;
}

/// The validity of the CA with the latest expiry: one valid CA suffices.
Validity validity_of_authorities(SSL_CTX* context) {
    Validity latest{0, 0};
    const STACK_OF(X509_OBJECT)* all = X509_STORE_get0_objects(SSL_CTX_get_cert_store(context));
    for (int i = 0; i < sk_X509_OBJECT_num(all); ++i) {
        const X509* certificate = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(all, i));
        if (!certificate) continue;
        Validity validity;
        validity.restrict_to(certificate);
        if (validity.end > latest.end) latest = validity;
    }
    return latest;
}

/// \param name         name of the file
/// \param consequence  the consequence for clients
std::string note_on(const Validity& validity, std::int64_t now, const std::string& name,
                    const std::string& consequence) {
    constexpr std::int64_t week = 7 * 24 * 60 * 60;
    const std::int64_t early = std::min(week, (validity.end - validity.begin) / 4);
    const std::string text = "the certificate of " + name;
    if (now < validity.begin) {
        return text + " is not valid before " + http_date(validity.begin) + ": " + consequence;
    }
    if (now > validity.end) {
        return text + " has expired at " + http_date(validity.end) + ": " + consequence;
    }
    if (validity.end - now < early) {
        return text + " expires at " + http_date(validity.end) + ", then " + consequence;
    }
    return {};
}

/// Whether the server's certificate could be used by a client.
bool does_for_clients(SSL_CTX* context) {
    const std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)> verification(
        X509_STORE_CTX_new(), X509_STORE_CTX_free);
    return verification &&
           X509_STORE_CTX_init(verification.get(), SSL_CTX_get_cert_store(context),
                               SSL_CTX_get0_certificate(context), chain_of(context)) == 1 &&
           X509_STORE_CTX_set_purpose(verification.get(), X509_PURPOSE_SSL_CLIENT) == 1 &&
           X509_verify_cert(verification.get()) == 1;
}

/// \param broken  receives a warning about broken certificates
std::shared_ptr<ssl::context> context_of(const TlsFiles& files, const TlsTexts& texts,
                                         std::string& broken) {
    using boost::system::error_code;
    const auto made = std::make_shared<ssl::context>(ssl::context::tls_server);
    ssl::context& context = *made;
    SSL_CTX* native = context.native_handle();
    SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
    // Each connection is verified by itself, so no session ticket outlives a certificate.
    context.set_options(SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                        SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_num_tickets(native, 0);
    SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(native, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                 SSL_MODE_RELEASE_BUFFERS);
    // There is no user to ask for a password.
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
        broken = k8s_sd::trust_certificates(native, texts.client_ca, files.client_ca);
        verify_clients(context, files.client_names);
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
    std::string broken;
    context_ = context_of(files_, texts, broken);
    broken_ = std::move(broken);
}

std::int64_t RenewedTls::valid_until() const {
    return seconds_of(X509_get0_notAfter(SSL_CTX_get0_certificate(context())));
}

std::vector<std::string> RenewedTls::notes(std::int64_t now) const {
    std::vector<std::string> notes{
        note_on(validity_of(context()), now, files_.cert, "clients refuse it")};
    if (!files_.client_ca.empty()) {
        notes.push_back(note_on(validity_of_authorities(context()), now, files_.client_ca,
                                "no certificate of a client is accepted"));
    }
    notes.push_back(broken_);
    std::erase(notes, std::string());
    return notes;
}

std::string RenewedTls::advice() const {
    if (files_.client_ca.empty() || !files_.client_names.empty() || !does_for_clients(context())) {
        return {};
    }
    return "another server with a certificate like " + files_.cert + " may ask as a client, for " +
           files_.client_ca +
           " vouches for it; use a CA of its own for clients, certificates of servers with "
           "extendedKeyUsage=serverAuth, or --tls-client-name";
}

std::string RenewedTls::refresh() {
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

}  // namespace http
