#pragma once

#include "k8s_sd/cleansing.hpp"

#include <optional>
#include <string>
#include <string_view>

/// Tokens, passwords and private keys.
namespace k8s_sd::detail {

inline std::string_view view(const Secret& secret) noexcept {
    return {secret.data(), secret.size()};
}

inline void append(Secret& secret, std::string_view text) {
    secret.insert(secret.end(), text.begin(), text.end());
}

/// The content of a file of at most 4 MiB, without a copy of it in a stream's buffer.
/// \param problem  set when there is no result: the reason, without the path
std::optional<Secret> read_secret_file(const std::string& path, std::string& problem);

}  // namespace k8s_sd::detail
