#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Upper bound of the decoded size of `size` base64 symbols.
constexpr std::size_t base64_room(std::size_t size) noexcept { return size / 4 * 3 + size % 4; }

inline constexpr std::string_view base64_alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The values of the symbols; 64 for every other character.
constexpr std::array<std::uint8_t, 256> base64_values() noexcept {
    std::array<std::uint8_t, 256> values{};
    values.fill(64);
    for (std::size_t i = 0; i < base64_alphabet.size(); ++i) {
        values[static_cast<unsigned char>(base64_alphabet[i])] = static_cast<std::uint8_t>(i);
    }
    return values;
}

/// Base64 with padding. `Bytes` is the result type: CleansedBytes for a secret.
template <class Bytes = std::string>
Bytes encode_base64(std::string_view bytes) {
    const auto byte = [&](std::size_t i) -> unsigned {
        return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U;
    };
    Bytes result;
    result.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const unsigned bits = byte(i) << 16U | byte(i + 1) << 8U | byte(i + 2);
        for (std::size_t j = 0; j < 4; ++j) {
            const bool padding = i + j > bytes.size();
            result.push_back(padding ? '=' : base64_alphabet[bits >> (18 - 6 * j) & 63U]);
        }
    }
    return result;
}

/// Decodes base64 (RFC 4648, with padding) into `out`, a buffer of base64_room(text.size()) bytes.
/// Skips line breaks and blanks. \returns the decoded size; nullopt if the text is not base64
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
