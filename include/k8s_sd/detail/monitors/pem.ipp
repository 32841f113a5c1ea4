#include "k8s_sd/detail/monitors/pem.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <limits>
#include <memory>

namespace k8s_sd::inline v0::detail {

namespace {

template <auto Free>
struct OpensslFree {
    template <class T>
    void operator()(T* object) const noexcept {
        Free(object);
    }
};
using BioPointer = std::unique_ptr<BIO, OpensslFree<BIO_free>>;
using X509Pointer = std::unique_ptr<X509, OpensslFree<X509_free>>;
using KeyPointer = std::unique_ptr<EVP_PKEY, OpensslFree<EVP_PKEY_free>>;

BioPointer bio_of(std::string_view text) {
    constexpr auto max = static_cast<std::size_t>(std::numeric_limits<int>::max());
    if (text.size() > max) return nullptr;
    return BioPointer(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

int refuse_password(char*, int, int, void*) { return -1; }

/// Our failures must not appear in the error queue of others.
struct OpensslErrorGuard {
    OpensslErrorGuard() { ERR_set_mark(); }
    ~OpensslErrorGuard() { ERR_pop_to_mark(); }
    OpensslErrorGuard(const OpensslErrorGuard&) = delete;
    OpensslErrorGuard& operator=(const OpensslErrorGuard&) = delete;
};

}  // namespace

bool is_pem_certificate(std::string_view text) {
    const OpensslErrorGuard guard;
    const BioPointer bio = bio_of(text);
    char* name = nullptr;
    char* header = nullptr;
    unsigned char* data = nullptr;
    long size = 0;
    if (!bio || PEM_read_bio(bio.get(), &name, &header, &data, &size) != 1) return false;
    const unsigned char* begin = data;
    const X509Pointer certificate(d2i_X509(nullptr, &begin, size));
    const bool complete = certificate != nullptr && begin == data + size;
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(data);
    return complete;
}

bool is_pem_pair(std::string_view certificate, std::string_view key) {
    const OpensslErrorGuard guard;
    const BioPointer certificate_bio = bio_of(certificate);
    const BioPointer key_bio = bio_of(key);
    if (!certificate_bio || !key_bio) return false;
    const X509Pointer x509(
        PEM_read_bio_X509(certificate_bio.get(), nullptr, refuse_password, nullptr));
    const KeyPointer private_key(
        PEM_read_bio_PrivateKey(key_bio.get(), nullptr, refuse_password, nullptr));
    return x509 && private_key && X509_check_private_key(x509.get(), private_key.get()) == 1;
}

}  // namespace k8s_sd::inline v0::detail
