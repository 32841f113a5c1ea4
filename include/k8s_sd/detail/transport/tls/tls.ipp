#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/text/utf8.hpp"
#include "k8s_sd/detail/transport/tls/tls.hpp"
#include "k8s_sd/detail/transport/tls/tls_peer.hpp"
#include "k8s_sd/tls_trust.hpp"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

namespace {

template <auto Free>
struct Deleter {
    template <class T>
    void operator()(T* object) const noexcept {
        Free(object);
    }
};
using Bio = std::unique_ptr<BIO, Deleter<&BIO_free>>;
using Certificate = std::unique_ptr<X509, Deleter<&X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Deleter<&EVP_PKEY_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, Deleter<&EVP_MD_CTX_free>>;

/// OpenSSL's text for its last failure.
std::string openssl_reason() {
    const char* reason = ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
    return reason ? reason : "unknown reason";
}

void require(bool ok, const std::string& problem) {
    if (!ok) throw TlsError(problem + ": " + openssl_reason());
}

/// PEM text and its name for messages.
struct Pem {
    std::string_view text;
    std::string name;
};

Pem load(const std::string& what, const std::string& text, const std::string& file,
         const FileContent& content) {
    if (file.empty()) return {text, "the inline " + what};
    Pem pem{view(content.bytes), what + " file " + file};
    if (!content.problem.empty()) {
        throw TlsError("cannot read " + pem.name + ": " + content.problem);
    }
    return pem;
}

Bio open(const Pem& pem) {
    ERR_clear_error();
    // OpenSSL rejects a null pointer even for an empty text.
    const std::string_view text = without_byte_order_mark(pem.text);
    Bio bio(BIO_new_mem_buf(text.empty() ? "" : text.data(), static_cast<int>(text.size())));
    if (!bio) throw std::bad_alloc();
    return bio;
}

/// The parts of a PEM text starting with a line "-----BEGIN …".
std::vector<std::string_view> pem_blocks(std::string_view text) {
    constexpr std::string_view begin = "-----BEGIN ";
    std::vector<std::string_view> blocks;
    std::size_t start = std::string_view::npos;
    for (std::size_t at = 0; (at = text.find(begin, at)) != text.npos; at += begin.size()) {
        if (at > 0 && text[at - 1] != '\n') continue;
        if (start != text.npos) blocks.push_back(text.substr(start, at - start));
        start = at;
    }
    if (start != text.npos) blocks.push_back(text.substr(start));
    return blocks;
}

struct Certificates {
    std::vector<Certificate> good;
    std::size_t broken = 0;
    std::string reason;  ///< of the first broken one
};

/// Skips anything between certificates.
Certificates read_certificates(const Pem& pem) {
    Certificates result;
    for (const std::string_view block : pem_blocks(without_byte_order_mark(pem.text))) {
        const Bio bio = open({block, pem.name});
        if (Certificate next{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
            result.good.push_back(std::move(next));
            continue;
        }
        const auto error = ERR_peek_last_error();
        const bool is_another =
            ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
        std::string reason = openssl_reason();
        if (!is_another && ++result.broken == 1) result.reason = std::move(reason);
    }
    if (result.good.empty() && result.broken == 0) {
        throw TlsError(pem.name + " holds no certificate");
    }
    return result;
}

[[noreturn]] void refuse_broken(const Pem& pem, const std::string& reason) {
    throw TlsError(pem.name + " holds a broken certificate: " + reason);
}

/// Every certificate of a chain must be valid.
std::vector<Certificate> certificate_chain(const Pem& pem) {
    Certificates read = read_certificates(pem);
    if (read.broken > 0) refuse_broken(pem, read.reason);
    return std::move(read.good);
}

/// As in Go, broken certificates do not affect the valid ones.
std::vector<Certificate> authorities(const Pem& pem, std::string* warning) {
    Certificates read = read_certificates(pem);
    if (read.good.empty()) refuse_broken(pem, read.reason);
    if (read.broken > 0 && warning) {
        *warning = pem.name + ": " + std::to_string(read.broken) + " of " +
                   std::to_string(read.broken + read.good.size()) +
                   " certificates cannot be read, so they are not trusted (" + read.reason +
                   "); the others are";
    }
    return std::move(read.good);
}

/// Replaces OpenSSL's default, a prompt on the terminal.
int no_password(char*, int, int, void*) { return -1; }

Key private_key(const Pem& pem) {
    const Bio bio = open(pem);
    Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, &no_password, nullptr));
    if (!key && ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_BAD_PASSWORD_READ) {
        ERR_clear_error();
        throw TlsError(pem.name + " is encrypted; it must have no password");
    }
    require(key != nullptr, pem.name + " holds no usable private key");
    return key;
}

void trust(SSL_CTX* context, const Pem& pem, std::string* warning) {
    X509_STORE* store = SSL_CTX_get_cert_store(context);
    for (const Certificate& certificate : authorities(pem, warning)) {
        require(X509_STORE_add_cert(store, certificate.get()) == 1, "cannot use " + pem.name);
    }
    // As in Go, and so in Prometheus, every configured certificate is a trust anchor, self-signed
    // or not.
    X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
}

void trust(SSL_CTX* context, const TlsConfig& config, const FileContent& content,
           TrustStore trusted, std::string* warning) {
    const bool is_configured = !config.ca.empty() || !config.ca_file.empty();
    if (!is_configured || trusted == TrustStore::and_system) {
        require(SSL_CTX_set_default_verify_paths(context) == 1, "no system trust store");
    }
    if (is_configured) trust(context, load("CA", config.ca, config.ca_file, content), warning);
}

struct LoadedIdentity {
    std::vector<Certificate> chain;
    Key key;
};

LoadedIdentity load_identity(const Pem& cert_pem, const Pem& key_pem) {
    LoadedIdentity identity{certificate_chain(cert_pem), private_key(key_pem)};
    require(X509_check_private_key(identity.chain.front().get(), identity.key.get()) == 1,
            cert_pem.name + " and " + key_pem.name + " do not belong together");
    return identity;
}

void identify(SSL_CTX* context, const TlsConfig& config, const ForTlsFiles<FileContent>& contents) {
    if (config.cert.empty() && config.cert_file.empty()) return;
    const Pem cert_pem = load("client certificate", config.cert, config.cert_file, contents.cert);
    const Pem key_pem = load("client key", config.key, config.key_file, contents.key);
    // Check the pair first: SSL_CTX_use_PrivateKey would silently drop a certificate with another
    // key.
    const auto [chain, key] = load_identity(cert_pem, key_pem);
    require(SSL_CTX_use_certificate(context, chain.front().get()) == 1,
            "cannot use " + cert_pem.name);
    for (std::size_t i = 1; i < chain.size(); ++i) {
        require(SSL_CTX_add1_chain_cert(context, chain[i].get()) == 1,
                "cannot use " + cert_pem.name);
    }
    require(SSL_CTX_use_PrivateKey(context, key.get()) == 1, "cannot use " + key_pem.name);
}

using SecurityCallback = int (*)(const SSL*, const SSL_CTX*, int, int, int, void*, void*);

/// Accepts certificate keys of sufficient size; all other questions go to OpenSSL.
int check_security(const SSL* ssl, const SSL_CTX* context, int question, int bits, int nid,
                   void* other, void* default_check) {
    const int about = question & ~SSL_SECOP_PEER;
    const bool is_key = about == SSL_SECOP_EE_KEY || about == SSL_SECOP_CA_KEY;
    if (is_key && bits >= min_key_security_bits) return 1;
    return reinterpret_cast<SecurityCallback>(default_check)(ssl, context, question, bits, nid,
                                                             other, nullptr);
}

/// Accepts RSA keys of 1024 bits, as Go does. Level 2, the default of most systems, requires 2048.
/// Signatures, ciphers and key exchanges keep the level's rules; a higher configured level stays in
/// force.
void allow_small_keys(SSL_CTX* context) {
    if (SSL_CTX_get_security_level(context) > max_relaxed_level) return;
    SSL_CTX_set0_security_ex_data(context,
                                  reinterpret_cast<void*>(SSL_CTX_get_security_callback(context)));
    SSL_CTX_set_security_callback(context, check_security);
}

/// A minimum below 1.2 means 1.2. Such a maximum is refused before.
int version_number(TlsVersion version) noexcept {
    return version == TlsVersion::tls_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION;
}

struct ContextWithTickets {
    asio::ssl::context context{asio::ssl::context::tls_client};
    TlsTickets tickets{context.native_handle()};
};

}  // namespace

std::string describe_trust(const TlsConfig& config, TrustStore trusted) {
    static constexpr const char* system = "the system's trust store";
    if (config.ca.empty() && config.ca_file.empty()) return system;
    const std::string own = config.ca_file.empty() ? "the inline CA" : "CA file " + config.ca_file;
    return trusted == TrustStore::configured ? own : own + " and " + system;
}

ForTlsFiles<std::string> files_of(const TlsConfig& config) {
    ForTlsFiles<std::string> files{config.ca_file, config.cert_file, config.key_file};
    if (config.insecure_skip_verify) files.ca.clear();
    return files;
}

std::shared_ptr<asio::ssl::context> make_client_context(const TlsConfig& config,
                                                        const ForTlsFiles<FileContent>& contents,
                                                        TrustStore trusted, std::string* warning) {
    const auto made = std::make_shared<ContextWithTickets>();
    const std::shared_ptr<asio::ssl::context> result(made, &made->context);
    SSL_CTX* const context = result->native_handle();
    SSL_CTX_set_min_proto_version(context, version_number(config.min_version));
    SSL_CTX_set_max_proto_version(context, version_number(config.max_version));
    static constexpr unsigned char alpn[] = "\x08http/1.1";
    SSL_CTX_set_alpn_protos(context, alpn, sizeof alpn - 1);
    result->set_verify_mode(config.insecure_skip_verify ? asio::ssl::verify_none
                                                        : asio::ssl::verify_peer);
    if (!config.insecure_skip_verify) trust(context, config, contents.ca, trusted, warning);
    allow_small_keys(context);
    identify(context, config, contents);
    return result;
}

void check_identity(const ClientIdentity& identity, const std::string& certificate_name,
                    const std::string& key_name) {
    load_identity({view(identity.certificate), certificate_name}, {view(identity.key), key_name});
}

Sha256 sha256(std::initializer_list<std::string_view> parts) {
    Sha256 result{};
    const DigestContext context(EVP_MD_CTX_new());
    bool ok = context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
    for (const std::string_view part : parts) {
        const std::size_t size = part.size();
        ok = ok && EVP_DigestUpdate(context.get(), &size, sizeof size) == 1 &&
             EVP_DigestUpdate(context.get(), part.data(), size) == 1;
    }
    if (!ok || EVP_DigestFinal_ex(context.get(), result.data(), nullptr) != 1) {
        throw TlsError("cannot compute SHA-256: " + openssl_reason());
    }
    return result;
}

}  // namespace k8s_sd::inline v0::detail

namespace k8s_sd::inline v0 {

std::string trust_certificates(ssl_ctx_st* context, std::string_view pem, const std::string& name) {
    std::string warning;
    detail::trust(context, {pem, name}, &warning);
    return warning;
}

}  // namespace k8s_sd::inline v0
