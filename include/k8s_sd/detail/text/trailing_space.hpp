#pragma once

#include "k8s_sd/detail/text/utf8.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Without the white space at its end, that of Unicode: as TrimRightFunc() of Go with IsSpace().
constexpr std::string_view trim_trailing_space(std::string_view text) noexcept {
    const auto is_space = [](std::uint32_t c) {
        return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0xa0 || c == 0x1680 ||
               (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
               c == 0x205f || c == 0x3000;
    };
    const auto continues = [&](std::size_t i) {
        return (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80;
    };
    while (!text.empty()) {
        std::size_t last = text.size() - 1;
        while (last > 0 && text.size() - last < 4 && continues(last)) --last;
        const std::string_view character = text.substr(last);
        if (utf8_length(character) != character.size() || !is_space(decode_utf8(character))) break;
        text.remove_suffix(character.size());
    }
    return text;
}

}  // namespace k8s_sd::inline v0::detail
