#include "cli/json_text.hpp"

#include <cstddef>
#include <cstdint>

namespace cli {

namespace {

/// A character of UTF-8; `size` 0: the text does not begin with a valid one.
struct Character {
    std::uint32_t code = 0;
    std::size_t size = 0;
};

constexpr std::uint32_t min_of_size[] = {0, 0, 0x80, 0x800, 0x10000};

Character longer_character(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const std::size_t size = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
    if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < size) return {};
    std::uint32_t code = byte(0) & (0x7FU >> size);
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) return {};
        code = code << 6U | (byte(i) & 0x3FU);
    }
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (code < min_of_size[size] || code > 0x10FFFF || surrogate) return {};
    return {code, size};
}

/// Control characters of ISO 8859, further line breaks, the byte order mark and noncharacters.
bool troubles_yaml(std::uint32_t code) {
    return (code >= 0x7F && code <= 0x9F) || code == 0x2028 || code == 0x2029 || code == 0xFEFF ||
           code == 0xFFFE || code == 0xFFFF;
}

void append_escaped(std::string& out, std::uint32_t code) {
    constexpr char digits[] = "0123456789abcdef";
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out += digits[code >> shift & 0xFU];
}

void append_ascii(std::string& out, char c, char next) {
    switch (c) {
        case '"': out += "\\\""; return;
        case '\\': out += "\\\\"; return;
        case '\b': out += "\\b"; return;
        case '\f': out += "\\f"; return;
        case '\n': out += "\\n"; return;
        case '\r': out += "\\r"; return;
        case '\t': out += "\\t"; return;
        default: break;
    }
    const bool variable = c == '%' && next == '{';
    if (c >= 0x20 && c != 0x7F && !variable) {
        out += c;
    } else {
        append_escaped(out, static_cast<unsigned char>(c));
    }
}

bool is_plain(char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\' && c != '%'; }

}  // namespace

void append_json(std::string& out, std::string_view text) {
    out += '"';
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at;
        while (end < text.size() && is_plain(text[end])) ++end;
        out.append(text, at, end - at);
        at = end;
        if (at == text.size()) break;
        if (static_cast<unsigned char>(text[at]) < 0x80) {
            append_ascii(out, text[at], at + 1 < text.size() ? text[at + 1] : '\0');
            ++at;
            continue;
        }
        const Character character = longer_character(text.substr(at));
        if (character.size == 0) {
            out += "\xEF\xBF\xBD";
            ++at;
        } else if (troubles_yaml(character.code)) {
            append_escaped(out, character.code);
            at += character.size;
        } else {
            out.append(text, at, character.size);
            at += character.size;
        }
    }
    out += '"';
}

std::string json_string(std::string_view text) {
    std::string out;
    append_json(out, text);
    return out;
}

void write_json(LineWriter& out, std::string_view text) { out << json_string(text); }

void write_json(LineWriter& out, const k8s_sd::LabelMap& labels) {
    out << "{";
    const char* separator = "";
    for (const auto& [name, value] : labels) {
        out << separator;
        write_json(out, name);
        out << ":";
        write_json(out, value);
        separator = ",";
    }
    out << "}";
}

}  // namespace cli
