#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/text/base64.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/redaction.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::size_t part_size = 12;
/// A shorter secret occurs inside ordinary words, so only whole words match it.
constexpr std::size_t min_substring_size = 8;
constexpr std::size_t max_redacted_size = 64 * 1024;

using Positions = std::vector<std::uint32_t>;

/// Control characters count as blanks, because printable() replaces them with blanks.
enum class Blanks : bool { dropped, kept };
enum class Escapes : bool { decoded, kept };

/// An unescaped text in lower case, with the position of each character.
struct PlainText {
    CleansedBytes chars;
    Positions begins, ends;  ///< in the original text
};

struct Unescaped {
    char character;
    std::size_t size;  ///< of the escape sequence
};

/// Decodes hexadecimal digits; -1 if invalid or beyond one byte.
int hex_character(std::string_view digits) {
    unsigned value = 0;
    for (const char c : digits) {
        if (hex_value(c) > 15 || value > 15) return -1;
        value = value * 16 + hex_value(c);
    }
    return static_cast<int>(value);
}

/// Decodes &amp; and its like, &#39; and &#x27;. `text` begins with the ampersand.
Unescaped unescape_html(std::string_view text) {
    struct Named {
        std::string_view name;
        char character;
    };
    static constexpr Named names[] = {
        {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    constexpr std::size_t max_size = 8;
    const Unescaped none{'&', 1};
    const std::size_t end = text.substr(0, max_size).find(';');
    if (end == std::string_view::npos) return none;
    std::string_view name = text.substr(1, end - 1);
    for (const Named& named : names) {
        if (name == named.name) return {named.character, end + 1};
    }
    if (name.size() < 2 || name[0] != '#') return none;
    name.remove_prefix(1);
    if (name[0] == 'x' || name[0] == 'X') {
        const int c = name.size() > 1 ? hex_character(name.substr(1)) : -1;
        return c >= 0 ? Unescaped{static_cast<char>(c), end + 1} : none;
    }
    unsigned value = 0;
    const auto [last, ec] = std::from_chars(name.data(), name.data() + name.size(), value);
    if (ec != std::errc() || last != name.data() + name.size() || value > 255) return none;
    return {static_cast<char>(value), end + 1};
}

Unescaped unescape(std::string_view text) {
    const char first = text[0];
    if (first == '%' && text.size() >= 3) {
        const int c = hex_character(text.substr(1, 2));
        if (c >= 0) return {static_cast<char>(c), 3};
    }
    if (first == '&') return unescape_html(text);
    if (first != '\\' || text.size() < 2) return {first, 1};
    switch (text[1]) {
        case 'b':
        case 'f':
        case 'n':
        case 'r':
        case 't': return {'\n', 2};
        case 'u': break;
        default: return {text[1], 2};
    }
    const int c = text.size() >= 6 ? hex_character(text.substr(2, 4)) : -1;
    return c >= 0 ? Unescaped{static_cast<char>(c), 6} : Unescaped{first, 1};
}

PlainText plain_text(std::string_view text, Blanks blanks, Escapes escapes) {
    PlainText plain;
    plain.chars.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        const auto [c, size] =
            escapes == Escapes::decoded ? unescape(text.substr(i)) : Unescaped{text[i], 1};
        const bool blank = c == ' ' || is_control(c);
        if (!blank || blanks == Blanks::kept) {
            const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
            plain.chars.push_back(blank ? ' ' : lower);
            plain.begins.push_back(static_cast<std::uint32_t>(i));
            plain.ends.push_back(static_cast<std::uint32_t>(i + size));
        }
        i += size;
    }
    return plain;
}

/// Marks the characters of a text to redact.
class Echoes {
 public:
    explicit Echoes(std::string_view text)
        : words_(plain_text(text, Blanks::kept, Escapes::decoded)),
          run_(plain_text(text, Blanks::dropped, Escapes::decoded)),
          marked_(text.size(), false) {}

    void find(std::string_view secret, Escapes escapes) {
        const PlainText run = plain_text(secret, Blanks::dropped, escapes);
        if (run.chars.size() >= part_size) return find_parts(view(run.chars));
        find_whole(view(plain_text(secret, Blanks::kept, escapes).chars));
    }
    /// The end of the mark at `begin`; `begin` if there is none.
    std::size_t end_of_mark(std::size_t begin) const {
        const auto from = marked_.begin() + static_cast<std::ptrdiff_t>(begin);
        return static_cast<std::size_t>(std::find(from, marked_.end(), false) - marked_.begin());
    }
    /// The start of the next mark; the size of the text if there is none.
    std::size_t next_mark(std::size_t begin) const {
        const auto from = marked_.begin() + static_cast<std::ptrdiff_t>(begin);
        return static_cast<std::size_t>(std::find(from, marked_.end(), true) - marked_.begin());
    }

 private:
    void mark(const PlainText& in, std::size_t begin, std::size_t size) {
        std::fill(marked_.begin() + in.begins[begin], marked_.begin() + in.ends[begin + size - 1],
                  true);
    }
    /// Keeps blanks, because short secrets would match across word boundaries.
    void find_whole(std::string_view secret) {
        if (secret.empty()) return;
        const std::string_view text = view(words_.chars);
        const auto is_word = [&](std::size_t begin) {
            const std::size_t end = begin + secret.size();
            const bool before = begin > 0 && is_alphanumeric(text[begin - 1]);
            return !before && (end == text.size() || !is_alphanumeric(text[end]));
        };
        for (std::size_t i = text.find(secret); i != std::string_view::npos;
             i = text.find(secret, i + 1)) {
            if (secret.size() >= min_substring_size || is_word(i)) mark(words_, i, secret.size());
        }
    }
    void find_parts(std::string_view secret) {
        const std::string_view text = view(run_.chars);
        const auto part = [secret](std::uint32_t at) { return secret.substr(at, part_size); };
        Positions sorted(secret.size() - part_size + 1);
        for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = static_cast<std::uint32_t>(i);
        std::sort(sorted.begin(), sorted.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return part(a) < part(b); });
        for (std::size_t i = 0; i + part_size <= text.size(); ++i) {
            const std::string_view here = text.substr(i, part_size);
            const auto found = std::lower_bound(
                sorted.begin(), sorted.end(), here,
                [&](std::uint32_t at, std::string_view wanted) { return part(at) < wanted; });
            if (found != sorted.end() && part(*found) == here) mark(run_, i, part_size);
        }
    }

    const PlainText words_;  ///< with blanks
    const PlainText run_;    ///< without blanks
    std::vector<bool> marked_;
};

/// Whether a character occurs in tokens: base64, base64url, and separators of token parts.
bool is_of_token(char c) noexcept {
    return is_alphanumeric(c) || std::string_view("-_+/=.~%").find(c) != std::string_view::npos;
}

/// Words with dots and slashes may also be names or paths.
bool holds_token(std::string_view word) {
    constexpr std::size_t min_mixed_size = 20;
    constexpr std::size_t min_any_size = 32;
    while (!word.empty()) {
        const std::size_t end = std::min(word.find_first_of("./"), word.size());
        const std::string_view part = word.substr(0, end);
        const bool digits = std::any_of(part.begin(), part.end(), is_digit);
        if (part.size() >= (digits ? min_mixed_size : min_any_size)) return true;
        word.remove_prefix(std::min(end + 1, word.size()));
    }
    return false;
}

}  // namespace

std::vector<CleansedBytes> secrets_of(const CleansedBytes& authorization) {
    std::vector<CleansedBytes> secrets;
    const auto add = [&](std::string_view secret) {
        if (!secret.empty()) append(secrets.emplace_back(), secret);
    };
    std::string_view value = view(authorization).substr(0, max_redacted_size);
    const std::string_view scheme = value.substr(0, value.find(' '));
    if (scheme.size() < value.size()) value.remove_prefix(scheme.size() + 1);
    add(value);
    if (scheme != "Basic") return secrets;
    CleansedBytes memory(base64_room(value.size()));
    const std::string_view plain(memory.data(), decode_base64(value, memory.data()).value_or(0));
    const std::string_view name = plain.substr(0, plain.find(':'));
    const std::string_view password = plain.substr(std::min(name.size() + 1, plain.size()));
    add(password);
    // The user name is no secret, and essential in texts about permissions. Without a password,
    // some servers accept it as a key.
    if (password.empty()) add(name);
    return secrets;
}

std::vector<CleansedBytes> secrets_of_headers(const CleansedBytes& lines) {
    std::vector<CleansedBytes> secrets;
    std::string_view rest = view(lines);
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find("\r\n"), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 2, rest.size()));
        const std::string_view value =
            trim(line.substr(std::min(line.find(':'), line.size() - 1) + 1));
        if (!may_be_secret(value)) continue;
        append(secrets.emplace_back(), value.substr(0, max_redacted_size));
    }
    return secrets;
}

std::string redact_tokens(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        std::size_t size = 0;
        while (size < text.size() && is_of_token(text[size])) ++size;
        const std::string_view word = text.substr(0, size);
        result += holds_token(word) ? std::string_view("<redacted>") : word;
        text.remove_prefix(size);
        if (text.empty()) break;
        result += text[0];
        text.remove_prefix(1);
    }
    return result;
}

std::string redact(std::string text, const std::vector<CleansedBytes>& secrets) {
    if (secrets.empty() || text.empty()) return text;
    const std::string_view kept = std::string_view(text).substr(0, max_redacted_size);
    Echoes echoes(kept);
    for (const CleansedBytes& secret : secrets) {
        // An apparently escaped secret is compared with the unescaped text as well.
        for (const Escapes e : {Escapes::kept, Escapes::decoded}) echoes.find(view(secret), e);
    }
    std::string result;
    for (std::size_t i = 0; i < kept.size();) {
        const std::size_t mark = echoes.next_mark(i);
        result += kept.substr(i, mark - i);
        if (mark < kept.size()) result += "<redacted>";
        i = echoes.end_of_mark(mark);
    }
    cleanse(text.data(), text.size());
    return result;
}

}  // namespace k8s_sd::inline v0::detail
