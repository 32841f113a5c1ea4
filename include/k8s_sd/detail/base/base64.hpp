#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The longest text that `size` symbols of base64 can stand for.
constexpr std::size_t base64_room(std::size_t size) noexcept { return size / 4 * 3 + size % 4; }

/// The values of the symbols; 64 for everything else.
constexpr std::array<std::uint8_t, 256> base64_values() noexcept {
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::array<std::uint8_t, 256> values{};
    values.fill(64);
    for (std::size_t i = 0; i < alphabet.size(); ++i) {
        values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
    }
    return values;
}

/// Decodes base64 (RFC 4648, with padding) to `out`, which has base64_room(text.size()) bytes.
/// Line breaks and blanks are skipped. \returns the size; nullopt for what is not base64
inline std::optional<std::size_t> decode_base64(std::string_view text, char* out) noexcept {
    static constexpr auto values = base64_values();
    unsigned bits = 0;
    std::size_t symbols = 0;
    std::size_t padding = 0;
    std::size_t size = 0;
    for (const char c : text) {
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n') continue;
        ++symbols;
        if (c == '=') {
            ++padding;
            continue;
        }
        const unsigned value = values[static_cast<unsigned char>(c)];
        if (value == 64 || padding > 0) return std::nullopt;
        bits = (bits << 6U) | value;
        // Every symbol but the first of a quartet completes a byte.
        const std::size_t position = (symbols - 1) % 4;
        if (position > 0) out[size++] = static_cast<char>((bits >> (6 - 2 * position)) & 0xffU);
    }
    if (symbols % 4 != 0 || padding > 2) return std::nullopt;
    return size;
}

inline std::optional<std::string> decode_base64(std::string_view text) {
    std::string result(base64_room(text.size()), '\0');
    const auto size = decode_base64(text, result.data());
    if (!size) return std::nullopt;
    result.resize(*size);
    return result;
}

}  // namespace k8s_sd::inline v0::detail
