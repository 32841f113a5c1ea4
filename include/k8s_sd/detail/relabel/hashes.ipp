#include "k8s_sd/detail/relabel/hashes.hpp"

#include <openssl/err.h>
#include <array>
#include <stdexcept>

#define XXH_INLINE_ALL  // header-only
#include <xxhash.h>

namespace k8s_sd::inline v0::detail {

Md5::Md5() {
    EVP_MD* algorithm = EVP_MD_fetch(nullptr, "MD5", nullptr);
    if (!algorithm) {
        ERR_clear_error();
        throw std::runtime_error("needs MD5, which OpenSSL does not offer here");
    }
    algorithm_.reset(algorithm, EVP_MD_free);
}

std::uint64_t Md5::operator()(std::string_view text) const {
    std::array<unsigned char, 16> digest{};
    if (EVP_Digest(text.data(), text.size(), digest.data(), nullptr, algorithm_.get(), nullptr) !=
        1) {
        ERR_clear_error();
        throw std::runtime_error("OpenSSL has failed to compute an MD5");
    }
    std::uint64_t number = 0;
    for (std::size_t i = 8; i < digest.size(); ++i) number = number << 8 | digest[i];
    return number;
}

std::uint64_t xxh64(std::string_view text) noexcept { return XXH64(text.data(), text.size(), 0); }

}  // namespace k8s_sd::inline v0::detail
