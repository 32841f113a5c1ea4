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

/// XXH64 with seed 0, as in vmagent's hashmod and sharding.
std::uint64_t xxh64(std::string_view text) noexcept;

}  // namespace k8s_sd::inline v0::detail
