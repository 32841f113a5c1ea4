#pragma once

#include <openssl/evp.h>
#include <cstdint>
#include <memory>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Prometheus' hash for hashmod: the last eight bytes of MD5, as a big-endian number.
class Md5 {
 public:
    /// \throws std::runtime_error if OpenSSL lacks MD5, as in FIPS mode
    Md5();
    std::uint64_t operator()(std::string_view text) const;

 private:
    std::shared_ptr<const EVP_MD> algorithm_;
};

}  // namespace k8s_sd::inline v0::detail
