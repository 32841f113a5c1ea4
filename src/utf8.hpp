#pragma once

#include <cstddef>
#include <string_view>

namespace k8s_sd::detail {

/// Offset of the first byte that is not part of well-formed UTF-8 (RFC 3629: no surrogates, no
/// overlong forms, nothing above U+10FFFF), or the size of the text.
constexpr std::size_t find_invalid_utf8(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    std::size_t i = 0;
    while (i < text.size()) {
        const unsigned lead = byte(i);
        const std::size_t length = lead < 0x80   ? 1
                                   : lead < 0xc2 ? 0
                                   : lead < 0xe0 ? 2
                                   : lead < 0xf0 ? 3
                                   : lead < 0xf5 ? 4
                                                 : 0;
        if (length == 0 || text.size() - i < length) return i;
        for (std::size_t k = 1; k < length; ++k) {
            unsigned low = 0x80, high = 0xbf;
            if (k == 1 && lead == 0xe0) low = 0xa0;
            if (k == 1 && lead == 0xed) high = 0x9f;
            if (k == 1 && lead == 0xf0) low = 0x90;
            if (k == 1 && lead == 0xf4) high = 0x8f;
            if (byte(i + k) < low || byte(i + k) > high) return i;
        }
        i += length;
    }
    return i;
}

}  // namespace k8s_sd::detail
