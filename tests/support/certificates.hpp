#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

/// Certificates for TLS tests, generated on demand (EC P-256: a fraction of a millisecond).
namespace k8s_sd::test {

/// PEM texts.
struct Identity {
    std::string certificate;
    std::string key;
};

/// A self-signed certificate authority that signs certificates.
class CertificateAuthority {
 public:
    explicit CertificateAuthority(const std::string& name = "k8s_sd test CA")
        : key_(make_key()), own_(unsigned_certificate(name, *key_, 1, -1000)) {
        extend(*own_, NID_basic_constraints, "critical,CA:TRUE");
        extend(*own_, NID_key_usage, "critical,keyCertSign,cRLSign");
        sign(*own_);
    }

    /// PEM, the trust anchor of a client.
    std::string certificate() const { return pem(*own_); }

    /// \param names  DNS names and IP addresses; empty: no subject alternative name
    /// \param days   of validity from now; negative: expired that long ago
    /// \param first  day of validity from now
    /// \param name   the common name
    Identity server(const std::vector<std::string>& names, int days = 1, int first = -1000,
                    const std::string& name = "server") const {
        return issue(name, "serverAuth", names, days, first);
    }

    /// \param user  the common name: the user for Kubernetes
    Identity client(const std::string& user, int days = 1) const {
        return issue(user, "clientAuth", {}, days, -1000);
    }

    /// Properties of a server certificate, with the usual value of each.
    struct Special {
        std::string usage = "serverAuth";                     ///< extended; empty: none
        std::string key_usage{};                              ///< empty: none
        unsigned rsa_bits = 0;                                ///< 0: EC P-256
        std::vector<std::vector<unsigned char>> addresses{};  ///< their bytes
    };
    Identity special(const std::vector<std::string>& names, const Special& special) const {
        const KeyPtr key =
            special.rsa_bits == 0 ? make_key() : KeyPtr(EVP_RSA_gen(special.rsa_bits));
        require(key != nullptr, "EVP_RSA_gen");
        const X509Ptr certificate = unsigned_certificate("server", *key, 1, -1);
        if (!special.usage.empty()) extend(*certificate, NID_ext_key_usage, special.usage);
        if (!special.key_usage.empty()) extend(*certificate, NID_key_usage, special.key_usage);
        if (!names.empty() || !special.addresses.empty()) {
            add_names(*certificate, names, special.addresses);
        }
        sign(*certificate);
        return {pem(*certificate), pem(*key)};
    }

    /// A self-signed certificate for these names.
    static Identity self_signed(const std::vector<std::string>& names) {
        const KeyPtr key = make_key();
        const X509Ptr certificate = unsigned_certificate("self", *key, 1, -1);
        add_names(*certificate, names);
        X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get()));
        require(X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0, "X509_sign");
        return {pem(*certificate), pem(*key)};
    }

 private:
    template <auto Free>
    struct Deleter {
        template <class T>
        void operator()(T* object) const noexcept {
            Free(object);
        }
    };
    using X509Ptr = std::unique_ptr<X509, Deleter<&X509_free>>;
    using KeyPtr = std::unique_ptr<EVP_PKEY, Deleter<&EVP_PKEY_free>>;
    using NamesPtr = std::unique_ptr<GENERAL_NAMES, Deleter<&GENERAL_NAMES_free>>;
    using BioPtr = std::unique_ptr<BIO, Deleter<&BIO_free>>;

    static void require(bool ok, const char* what) {
        if (!ok) throw std::runtime_error(std::string("test certificates: ") + what);
    }

    static KeyPtr make_key() {
        KeyPtr key(EVP_EC_gen("P-256"));
        require(key != nullptr, "EVP_EC_gen");
        return key;
    }

    static X509Ptr unsigned_certificate(const std::string& name, EVP_PKEY& key, int days,
                                        int first) {
        constexpr long day = 24 * 60 * 60;
        X509Ptr result(X509_new());
        require(result != nullptr, "X509_new");
        long serial = 0;
        RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial / 2);
        X509_set_version(result.get(), X509_VERSION_3);
        ASN1_INTEGER_set(X509_get_serialNumber(result.get()), serial);
        X509_gmtime_adj(X509_getm_notBefore(result.get()), first * day);
        X509_gmtime_adj(X509_getm_notAfter(result.get()), days * day);
        X509_NAME_add_entry_by_txt(X509_get_subject_name(result.get()), "CN", MBSTRING_UTF8,
                                   reinterpret_cast<const unsigned char*>(name.data()),
                                   static_cast<int>(name.size()), -1, 0);
        require(X509_set_pubkey(result.get(), &key) == 1, "X509_set_pubkey");
        return result;
    }

    static void extend(X509& certificate, int nid, const std::string& value) {
        X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
        require(extension != nullptr, value.c_str());
        X509_add_ext(&certificate, extension, -1);
        X509_EXTENSION_free(extension);
    }

    void sign(X509& certificate) const {
        X509_set_issuer_name(&certificate, X509_get_subject_name(own_.get()));
        require(X509_sign(&certificate, key_.get(), EVP_sha256()) > 0, "X509_sign");
    }

    Identity issue(const std::string& name, const std::string& usage,
                   const std::vector<std::string>& names, int days, int first) const {
        const KeyPtr key = make_key();
        const X509Ptr certificate = unsigned_certificate(name, *key, days, first);
        extend(*certificate, NID_ext_key_usage, usage);
        if (!names.empty()) add_names(*certificate, names);
        sign(*certificate);
        return {pem(*certificate), pem(*key)};
    }

    /// Without OpenSSL's configuration syntax, because hostile names could escape from it.
    static void add_names(X509& certificate, const std::vector<std::string>& names,
                          const std::vector<std::vector<unsigned char>>& addresses = {}) {
        const NamesPtr list(GENERAL_NAMES_new());
        for (const std::vector<unsigned char>& bytes : addresses) {
            GENERAL_NAME* name = GENERAL_NAME_new();
            ASN1_OCTET_STRING* address = ASN1_OCTET_STRING_new();
            ASN1_OCTET_STRING_set(address, bytes.data(), static_cast<int>(bytes.size()));
            GENERAL_NAME_set0_value(name, GEN_IPADD, address);
            sk_GENERAL_NAME_push(list.get(), name);
        }
        for (const std::string& text : names) {
            GENERAL_NAME* name = GENERAL_NAME_new();
            if (ASN1_OCTET_STRING* address = a2i_IPADDRESS(text.c_str())) {
                GENERAL_NAME_set0_value(name, GEN_IPADD, address);
            } else {
                ASN1_IA5STRING* dns = ASN1_IA5STRING_new();
                ASN1_STRING_set(dns, text.data(), static_cast<int>(text.size()));
                GENERAL_NAME_set0_value(name, GEN_DNS, dns);
            }
            sk_GENERAL_NAME_push(list.get(), name);
        }
        require(X509_add1_ext_i2d(&certificate, NID_subject_alt_name, list.get(), 0, 0) == 1,
                "X509_add1_ext_i2d");
    }

    static std::string text(BIO& bio) {
        char* data = nullptr;
        const long size = BIO_get_mem_data(&bio, &data);
        return {data, static_cast<std::size_t>(size)};
    }
    static std::string pem(X509& certificate) {
        const BioPtr bio(BIO_new(BIO_s_mem()));
        require(PEM_write_bio_X509(bio.get(), &certificate) == 1, "PEM_write_bio_X509");
        return text(*bio);
    }
    static std::string pem(EVP_PKEY& key) {
        const BioPtr bio(BIO_new(BIO_s_mem()));
        require(PEM_write_bio_PrivateKey(bio.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) ==
                    1,
                "PEM_write_bio_PrivateKey");
        return text(*bio);
    }

    KeyPtr key_;
    X509Ptr own_;
};

/// The server's side of TLS.
/// \param client_ca  PEM; if not empty, clients must present a certificate signed by it
inline std::shared_ptr<boost::asio::ssl::context> server_context(
    const Identity& identity, const std::string& client_ca = {}) {
    namespace ssl = boost::asio::ssl;
    auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
    context->use_certificate_chain(boost::asio::buffer(identity.certificate));
    context->use_private_key(boost::asio::buffer(identity.key), ssl::context::pem);
    if (!client_ca.empty()) {
        context->add_certificate_authority(boost::asio::buffer(client_ca));
        context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
        // Without it, OpenSSL's servers fail handshakes with the tickets they have issued.
        static constexpr unsigned char name[] = "tests";
        SSL_CTX_set_session_id_context(context->native_handle(), name, sizeof name - 1);
    }
    return context;
}

}  // namespace k8s_sd::test
