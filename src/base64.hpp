#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::detail {

/// Decodes base64 (RFC 4648, with padding); line breaks and blanks are skipped.
/// Anything else that is not base64 gives nullopt.
inline std::optional<std::string> decode_base64(std::string_view text) {
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string result;
    unsigned bits = 0;
    std::size_t symbols = 0;
    std::size_t padding = 0;
    for (const char c : text) {
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n') continue;
        ++symbols;
        const std::size_t value = alphabet.find(c);
        if (c == '=') {
            ++padding;
            continue;
        }
        if (value == std::string_view::npos || padding > 0) return std::nullopt;
        bits = (bits << 6) | static_cast<unsigned>(value);
        // Every symbol but the first of a quartet completes a byte.
        const std::size_t position = (symbols - 1) % 4;
        if (position > 0) {
            result += static_cast<char>((bits >> (6 - 2 * position)) & 0xffU);
        }
    }
    const bool whole = symbols % 4 == 0 && padding <= 2;
    return whole ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace k8s_sd::detail
