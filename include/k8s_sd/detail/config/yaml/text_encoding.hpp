#pragma once

#include "k8s_sd/detail/text/utf8.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

inline constexpr char not_utf8 = '\xff';

/// \param high  the index of the higher byte in a pair
inline std::string from_utf16(std::string_view bytes, std::size_t high) {
    const auto unit = [&](std::size_t i) {
        const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(bytes[k]); };
        return std::uint32_t{byte(i + high)} << 8U | byte(i + 1 - high);
    };
    const auto half = [](std::uint32_t code) { return code >> 10U; };
    std::string text;
    std::size_t i = 0;
    for (; i + 2 <= bytes.size(); i += 2) {
        const std::uint32_t code = unit(i);
        if (half(code) == 0xd800U >> 10U && i + 4 <= bytes.size() &&
            half(unit(i + 2)) == 0xdc00U >> 10U) {
            i += 2;
            append_utf8(text, 0x10000U + ((code & 0x3ffU) << 10U | (unit(i) & 0x3ffU)));
        } else if (code >> 11U == 0xd800U >> 11U) {
            text += not_utf8;
        } else {
            append_utf8(text, code);
        }
    }
    if (i != bytes.size()) text += not_utf8;
    return text;
}

/// Converts a text file to UTF-8 without byte order mark: from UTF-8, or from UTF-16 with such a
/// mark, as written by some Windows programs. Malformed UTF-16 becomes malformed UTF-8.
inline std::string text_of_file(std::string_view bytes) {
    if (bytes.starts_with("\xff\xfe")) return from_utf16(bytes.substr(2), 1);
    if (bytes.starts_with("\xfe\xff")) return from_utf16(bytes.substr(2), 0);
    return std::string(without_byte_order_mark(bytes));
}

}  // namespace k8s_sd::inline v0::detail
