#include "cli/terminal_text.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace cli {

namespace {

/// One character: its bytes and its code. Bytes of invalid UTF-8 are single characters with the
/// code 0xFFFD.
struct Character {
    std::string_view bytes;
    std::uint32_t code;
};

constexpr std::uint32_t no_character = 0xFFFD;

/// \param text  not empty
Character first_of(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return {text.substr(0, 1), lead};
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    const Character bad{text.substr(0, 1), no_character};
    if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return bad;
    std::uint32_t code = lead & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) return bad;
        code = code << 6U | (byte(i) & 0x3FU);
    }
    constexpr std::uint32_t min_code[] = {0x80, 0x800, 0x10000};
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (code < min_code[length - 2] || code > 0x10FFFF || surrogate) return bad;
    return {text.substr(0, length), code};
}

using Range = std::pair<std::uint32_t, std::uint32_t>;

template <std::size_t n>
bool in_any(const Range (&ranges)[n], std::uint32_t code) noexcept {
    return std::any_of(ranges, ranges + n, [&](const Range& range) {
        return code >= range.first && code <= range.second;
    });
}

/// One-byte and two-byte controls, line separators, and controls of the writing direction.
bool moves_text(std::uint32_t code) noexcept {
    static constexpr Range ranges[] = {{0x00, 0x1F},     {0x7F, 0x9F},     {0x061C, 0x061C},
                                       {0x200E, 0x200F}, {0x2028, 0x202E}, {0x2066, 0x2069}};
    return in_any(ranges, code);
}

/// Combining marks and joiners take no column, East Asian characters and emoji two.
std::size_t columns_of(std::uint32_t code) noexcept {
    static constexpr Range none[] = {
        {0x0300, 0x036F}, {0x200B, 0x200D}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}};
    static constexpr Range two[] = {{0x1100, 0x115F}, {0x2E80, 0xA4CF},   {0xAC00, 0xD7A3},
                                    {0xF900, 0xFAFF}, {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
                                    {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};
    if (in_any(none, code)) return 0;
    return in_any(two, code) ? 2 : 1;
}

/// The longest beginning of the text with at most this number of columns.
std::string_view start_of(std::string_view text, std::size_t max_columns) noexcept {
    std::size_t end = 0;
    std::size_t taken = 0;
    while (end < text.size()) {
        const Character character = first_of(text.substr(end));
        taken += columns_of(character.code);
        if (taken > max_columns) break;
        end += character.bytes.size();
    }
    return text.substr(0, end);
}

/// SGR parameters supported by all terminals.
std::string_view colour_of(Tone tone) noexcept {
    switch (tone) {
        case Tone::plain: return {};
        case Tone::added: return "32";
        case Tone::removed: return "31";
        case Tone::changed: return "33";
        case Tone::note: return "36";
        case Tone::faint: return "2";
        case Tone::heading: return "1";
        case Tone::warning: return "1;33";
    }
    return {};
}

void append(std::string& line, std::string_view text, Tone tone, bool colours) {
    const std::string_view colour = colours ? colour_of(tone) : std::string_view();
    if (text.empty()) return;
    if (colour.empty()) {
        line += text;
    } else {
        (((line += "\x1b[") += colour) += 'm') += text;
        line += "\x1b[0m";
    }
}

}  // namespace

std::string printable(std::string_view text, std::size_t max_size) {
    std::string result;
    while (!text.empty()) {
        const Character character = first_of(text);
        if (result.size() + character.bytes.size() > max_size) return result += "...";
        text.remove_prefix(character.bytes.size());
        if (moves_text(character.code)) {
            result += ' ';
        } else if (character.code == no_character && character.bytes.size() == 1) {
            result += '?';
        } else {
            result += character.bytes;
        }
    }
    return result;
}

std::string first_lines(std::string text, std::size_t max_size) {
    if (text.size() <= max_size) return text;
    const std::size_t end = text.rfind('\n', max_size - 1) + 1;  // 0: the first line is longer
    const auto rest = text.begin() + static_cast<std::ptrdiff_t>(end);
    const auto others = std::count(rest, text.end(), '\n') + (text.back() == '\n' ? 0 : 1);
    text.resize(end);
    return text + "and " + std::to_string(others) + " more lines\n";
}

std::string counted(std::size_t number, std::string_view noun) {
    return std::to_string(number) + " " + std::string(noun) + (number == 1 ? "" : "s");
}

std::size_t columns(std::string_view text) noexcept {
    std::size_t count = 0;
    while (!text.empty()) {
        const Character character = first_of(text);
        count += columns_of(character.code);
        text.remove_prefix(character.bytes.size());
    }
    return count;
}

StyledLine& StyledLine::add(std::string_view text, Tone tone) {
    pieces_.push_back({std::string(text), tone});
    return *this;
}

std::string StyledLine::text(std::size_t width, bool colours) const {
    std::size_t needed = 0;
    for (const Piece& piece : pieces_) needed += columns(piece.text);
    const bool cut = width > 0 && needed > width;
    std::size_t left = cut ? width - 1 : needed;
    std::string line;
    for (const Piece& piece : pieces_) {
        const std::string_view start = start_of(piece.text, left);
        append(line, start, piece.tone, colours);
        left -= columns(start);
        if (start.size() < piece.text.size()) break;
    }
    if (cut) append(line, "…", Tone::faint, colours);
    return line;
}

}  // namespace cli
