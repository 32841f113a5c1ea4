#pragma once

#include "k8s_sd/error.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Strips the byte order mark. Some programs, most of them on Windows, write it before UTF-8.
constexpr std::string_view without_byte_order_mark(std::string_view text) noexcept {
    constexpr std::string_view mark = "\xef\xbb\xbf";
    if (text.starts_with(mark)) text.remove_prefix(mark.size());
    return text;
}

/// U+FFFD: replaces a byte outside well-formed UTF-8.
inline constexpr std::string_view replacement_character = "\xef\xbf\xbd";

/// Length of the first character; 0 if these bytes are not well-formed UTF-8 (RFC 3629: no
/// surrogates, no overlong forms, nothing above U+10FFFF) or the text is empty.
constexpr std::size_t utf8_length(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (text.empty()) return 0;
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    const std::size_t length = lead < 0xc2   ? 0
                               : lead < 0xe0 ? 2
                               : lead < 0xf0 ? 3
                               : lead < 0xf5 ? 4
                                             : 0;
    if (text.size() < length) return 0;
    for (std::size_t k = 1; k < length; ++k) {
        unsigned low = 0x80, high = 0xbf;
        if (k == 1 && lead == 0xe0) low = 0xa0;
        if (k == 1 && lead == 0xed) high = 0x9f;
        if (k == 1 && lead == 0xf0) low = 0x90;
        if (k == 1 && lead == 0xf4) high = 0x8f;
        if (byte(k) < low || byte(k) > high) return 0;
    }
    return length;
}

/// Offset of the first byte outside well-formed UTF-8, or the size of the text.
inline std::size_t find_invalid_utf8(std::string_view text) noexcept {
    std::size_t i = 0;
    while (i < text.size()) {
        // Nearly all texts are ASCII: eight characters at a time.
        std::uint64_t eight = 0;
        if (text.size() - i >= sizeof eight) {
            std::memcpy(&eight, text.data() + i, sizeof eight);
            if ((eight & 0x8080808080808080) == 0) {
                i += sizeof eight;
                continue;
            }
        }
        const std::size_t length = utf8_length(text.substr(i));
        if (length == 0) return i;
        i += length;
    }
    return i;
}

/// Fast for short texts as well: nearly all labels are short.
inline bool is_ascii(std::string_view text) noexcept {
    const auto load = [&]<class Word>(Word word, std::size_t at) {
        std::memcpy(&word, text.data() + at, sizeof word);
        return std::uint64_t{word};
    };
    constexpr std::uint64_t high_bits = 0x8080808080808080;
    std::uint64_t all = 0;
    if (text.size() >= 8) {
        for (std::size_t at = 0; at + 8 < text.size(); at += 8) all |= load(std::uint64_t{}, at);
        all |= load(std::uint64_t{}, text.size() - 8);  // may overlap
    } else if (text.size() >= 4) {
        all = load(std::uint32_t{}, 0) | load(std::uint32_t{}, text.size() - 4);
    } else {
        for (const char c : text) all |= static_cast<unsigned char>(c);
    }
    return (all & high_bits) == 0;
}

inline bool is_utf8(std::string_view text) noexcept {
    return is_ascii(text) || find_invalid_utf8(text) == text.size();
}

/// Calls `take` with the parts of the text in order, with a replacement character for each byte
/// outside well-formed UTF-8, as Go does.
template <class Take>
void for_each_utf8_part(std::string_view text, const Take& take) {
    while (!text.empty()) {
        const std::size_t bad = find_invalid_utf8(text);
        take(text.substr(0, bad));
        if (bad == text.size()) return;
        take(replacement_character);
        text.remove_prefix(bad + 1);
    }
}

/// Decodes one character as delimited by utf8_length().
constexpr std::uint32_t decode_utf8(std::string_view character) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
    if (character.size() == 1) return byte(0);
    std::uint32_t code = byte(0) & (0x7fu >> character.size());
    for (std::size_t k = 1; k < character.size(); ++k) code = code << 6 | (byte(k) & 0x3fu);
    return code;
}

/// Appends a code point. \pre UTF-8 can represent it
template <class String>
constexpr void append_utf8(String& text, std::uint32_t code) {
    const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
        put(0xc0 | code >> 6);
    } else {
        if (code < 0x10000) {
            put(0xe0 | code >> 12);
        } else {
            put(0xf0 | code >> 18);
            put(0x80 | (code >> 12 & 0x3f));
        }
        put(0x80 | (code >> 6 & 0x3f));
    }
    put(0x80 | (code & 0x3f));
}

/// Forwards UTF-8 in chunks of any size, without the byte order mark at its start, if any.
class ByteOrderMarkFilter {
 public:
    /// Starts a text.
    void begin() noexcept {
        matched_ = 0;
        at_start_ = true;
    }
    /// \param next  receives the text; an error ends the call
    template <class Next>
    error_code feed(std::string_view bytes, const Next& next) {
        if (at_start_) {
            while (matched_ < mark.size() && bytes.starts_with(mark[matched_])) {
                bytes.remove_prefix(1);
                ++matched_;
            }
            if (bytes.empty()) return {};
            if (const error_code ec = finish(next)) return ec;
        }
        return next(bytes);
    }
    /// No text has been forwarded yet.
    bool at_start() const noexcept { return at_start_; }
    /// At the end of the text: forwards an incomplete mark, which is no mark.
    template <class Next>
    error_code finish(const Next& next) {
        const bool incomplete = std::exchange(at_start_, false) && matched_ < mark.size();
        return incomplete && matched_ > 0 ? next(mark.substr(0, matched_)) : error_code();
    }

 private:
    static constexpr std::string_view mark = "\xef\xbb\xbf";

    std::size_t matched_ = 0;  // bytes of the mark
    bool at_start_ = true;
};

}  // namespace k8s_sd::inline v0::detail
