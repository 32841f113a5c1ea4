#include "k8s_sd/detail/relabel/md5.hpp"

#include <openssl/err.h>
#include <array>
#include <stdexcept>

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

}  // namespace k8s_sd::inline v0::detail
