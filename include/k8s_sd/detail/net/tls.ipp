#include "k8s_sd/detail/base/text.hpp"
#include "k8s_sd/detail/net/secret_file.hpp"
#include "k8s_sd/detail/net/tls.hpp"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <chrono>
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

/// What OpenSSL says about its last failure.
std::string openssl_reason() {
    const char* reason = ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
    return reason ? reason : "unknown reason";
}

void require(bool ok, const std::string& problem) {
    if (!ok) throw TlsError(problem + ": " + openssl_reason());
}

/// PEM text and what to call it in messages.
struct Pem {
    CleansedBytes text;
    std::string name;
};

Pem load(const std::string& what, const std::string& text, const std::string& file) {
    Pem pem{{}, file.empty() ? "the inline " + what : what + " file " + file};
    if (file.empty()) {
        append(pem.text, text);
        return pem;
    }
    std::string problem;
    auto content = read_secret_file(file, problem);
    if (!content) throw TlsError("cannot read " + pem.name + ": " + problem);
    pem.text.swap(*content);
    return pem;
}

Bio open(const Pem& pem) {
    ERR_clear_error();
    Bio bio(BIO_new_mem_buf(pem.text.data(), static_cast<int>(pem.text.size())));
    if (!bio) throw std::bad_alloc();
    return bio;
}

/// All certificates; anything between them is skipped.
std::vector<Certificate> certificates(const Pem& pem) {
    const Bio bio = open(pem);
    std::vector<Certificate> result;
    while (Certificate next{PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)}) {
        result.push_back(std::move(next));
    }
    const auto error = ERR_peek_last_error();
    const bool at_end =
        ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
    require(at_end, pem.name + " holds a broken certificate");
    ERR_clear_error();
    if (result.empty()) throw TlsError(pem.name + " holds no certificate");
    return result;
}

/// Instead of OpenSSL's default, which asks on the terminal.
int no_password(char*, int, int, void*) { return -1; }

Key private_key(const Pem& pem) {
    const Bio bio = open(pem);
    Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, &no_password, nullptr));
    if (!key && ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_BAD_PASSWORD_READ) {
        ERR_clear_error();
        throw TlsError(pem.name + " is encrypted; encrypted keys are not supported");
    }
    require(key != nullptr, pem.name + " holds no usable private key");
    return key;
}

std::array<const std::string*, 3> files_of(const TlsConfig& config) {
    return {&config.ca_file, &config.cert_file, &config.key_file};
}

void trust(SSL_CTX* context, const TlsConfig& config) {
    if (config.ca.empty() && config.ca_file.empty()) {
        require(SSL_CTX_set_default_verify_paths(context) == 1, "no system trust store");
        return;
    }
    const Pem pem = load("CA", config.ca, config.ca_file);
    X509_STORE* store = SSL_CTX_get_cert_store(context);
    for (const Certificate& certificate : certificates(pem)) {
        require(X509_STORE_add_cert(store, certificate.get()) == 1, "cannot use " + pem.name);
    }
    // As in Go, and so in Prometheus: every configured certificate is an anchor, whether or not
    // it is self-signed.
    X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
}

void identify(SSL_CTX* context, const TlsConfig& config) {
    if (config.cert.empty() && config.cert_file.empty()) return;
    const Pem cert_pem = load("client certificate", config.cert, config.cert_file);
    const Pem key_pem = load("client key", config.key, config.key_file);
    const auto chain = certificates(cert_pem);
    const Key key = private_key(key_pem);
    // Checked before the context sees the key: SSL_CTX_use_PrivateKey would silently drop a
    // certificate that does not belong to it.
    require(X509_check_private_key(chain.front().get(), key.get()) == 1,
            cert_pem.name + " and " + key_pem.name + " do not belong together");
    require(SSL_CTX_use_certificate(context, chain.front().get()) == 1,
            "cannot use " + cert_pem.name);
    for (std::size_t i = 1; i < chain.size(); ++i) {
        require(SSL_CTX_add1_chain_cert(context, chain[i].get()) == 1,
                "cannot use " + cert_pem.name);
    }
    require(SSL_CTX_use_PrivateKey(context, key.get()) == 1, "cannot use " + key_pem.name);
}

}  // namespace

std::shared_ptr<asio::ssl::context> make_client_context(const TlsConfig& config) {
    auto result = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client);
    SSL_CTX* const context = result->native_handle();
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    static constexpr unsigned char alpn[] = "\x08http/1.1";
    SSL_CTX_set_alpn_protos(context, alpn, sizeof alpn - 1);
    result->set_verify_mode(config.insecure_skip_verify ? asio::ssl::verify_none
                                                        : asio::ssl::verify_peer);
    if (!config.insecure_skip_verify) trust(context, config);
    identify(context, config);
    return result;
}

std::shared_ptr<asio::ssl::context> TlsContexts::get(const TlsConfig& config, TimePoint now) {
    constexpr Duration look_interval = std::chrono::seconds(1);
    constexpr Duration keep_unused = std::chrono::hours(1);
    const std::lock_guard lock(mutex_);
    std::erase_if(entries_, [&](const auto& e) { return now - e.second.used_at > keep_unused; });
    const auto [position, added] =
        entries_.try_emplace(digest(config), Entry{{}, {}, now, now, {}});
    Entry& entry = position->second;
    entry.used_at = now;
    if (!added && now - entry.looked_at < look_interval) return entry.context;
    entry.looked_at = now;
    try {
        renew(entry, config);
        report(entry, config, {});
    } catch (const TlsError& error) {
        if (added) {
            entries_.erase(position);
            throw;
        }
        report(entry, config, error.what());
    }
    return entry.context;
}

void TlsContexts::report(Entry& entry, const TlsConfig& config, std::string problem) const {
    if (entry.problem == problem) return;
    entry.problem = std::move(problem);
    if (!entry.problem.empty()) {
        return logger_.log(LogLevel::warning,
                           entry.problem + "; going on with what was read before");
    }
    std::vector<std::string> files;
    for (const std::string* file : files_of(config)) {
        if (!file->empty()) files.push_back(*file);
    }
    logger_.log(LogLevel::warning, join(files) + ": usable again");
}

/// Unlike the context, the stamps are taken before the files are read, so that a change in
/// between is noticed next time.
void TlsContexts::renew(Entry& entry, const TlsConfig& config) {
    auto stamps = look_at_files(config);
    if (entry.context && entry.stamps == stamps) return;
    entry.context = make_client_context(config);
    entry.stamps = std::move(stamps);
}

std::vector<TlsContexts::FileStamp> TlsContexts::look_at_files(const TlsConfig& config) {
    std::vector<FileStamp> result;
    for (const std::string* file : files_of(config)) {
        std::error_code missing;
        FileStamp& stamp = result.emplace_back();
        if (file->empty()) continue;
        stamp.size = std::filesystem::file_size(*file, missing);
        stamp.modified = std::filesystem::last_write_time(*file, missing);
    }
    return result;
}

TlsContexts::Digest TlsContexts::digest(const TlsConfig& config) {
    Digest result{};
    const DigestContext context(EVP_MD_CTX_new());
    bool ok = context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
    const std::string_view skip_verify = config.insecure_skip_verify ? "1" : "0";
    for (const std::string_view part :
         {std::string_view(config.ca), std::string_view(config.ca_file),
          std::string_view(config.cert), std::string_view(config.cert_file),
          std::string_view(config.key), std::string_view(config.key_file), skip_verify}) {
        // With the length in front, different configurations never give equal bytes.
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
