#pragma once

#include "k8s_sd/detail/base/cleansed_bytes.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// Tokens, passwords and private keys.
namespace k8s_sd::inline v0::detail {

inline std::string_view view(const CleansedBytes& secret) noexcept {
    return {secret.data(), secret.size()};
}

inline void append(CleansedBytes& secret, std::string_view text) {
    secret.insert(secret.end(), text.begin(), text.end());
}

/// Reads a regular file without a copy in a stream's buffer.
/// \param problem  the reason of a failure, without the path
/// \param most     maximum size of the file
std::optional<CleansedBytes> read_secret_file(const std::string& path, std::string& problem,
                                              std::size_t most = std::size_t{4} << 20);

}  // namespace k8s_sd::inline v0::detail
