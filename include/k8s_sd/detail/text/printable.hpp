#pragma once

#include "k8s_sd/detail/text/utf8.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The control characters of ASCII.
constexpr bool is_control(char c) noexcept {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// The start of the text, at most `max_size` bytes and not cut inside a character.
inline std::string_view start_of(std::string_view text, std::size_t max_size) noexcept {
    if (text.size() <= max_size) return text;
    std::size_t end = max_size;
    while (end + 3 > max_size && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    return text.substr(0, end);
}

/// Characters with an effect on the text around them: controls of two bytes (U+0080 to U+009F),
/// line and paragraph separators, and bidirectional controls.
inline bool moves_text(std::string_view character) noexcept {
    if (character.size() == 1) return is_control(character[0]);
    if (character.size() == 2) return character >= "\xc2\x80" && character <= "\xc2\x9f";
    return (character >= "\xe2\x80\xa8" && character <= "\xe2\x80\xae") ||
           (character >= "\xe2\x81\xa6" && character <= "\xe2\x81\xa9");
}

/// Foreign text in a message: one line of printable characters in UTF-8, not too long.
inline std::string printable(std::string_view text) {
    constexpr std::size_t max_size = 400;
    const auto is_plain = [](char c) { return c > ' ' && c <= '~'; };
    if (text.size() <= max_size && std::all_of(text.begin(), text.end(), is_plain)) {
        return std::string(text);
    }
    std::string out;
    for_each_utf8_part(start_of(text, max_size), [&](std::string_view part) {
        while (!part.empty()) {
            const std::string_view character = part.substr(0, utf8_length(part));
            part.remove_prefix(character.size());
            if (!moves_text(character)) {
                out += character;
            } else if (!out.empty() && out.back() != ' ') {
                out += ' ';
            }
        }
    });
    const bool cut = text.size() > max_size || out.size() > max_size;
    out.resize(start_of(out, max_size).size());
    while (!out.empty() && out.back() == ' ') out.pop_back();
    return cut ? out + "…" : out;
}

}  // namespace k8s_sd::inline v0::detail
