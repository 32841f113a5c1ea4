#include "k8s_sd/detail/base/base64.hpp"
#include "k8s_sd/detail/base/printable.hpp"
#include "k8s_sd/detail/base/text.hpp"
#include "k8s_sd/detail/net/redaction.hpp"
#include "k8s_sd/detail/net/secret_file.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::size_t part_size = 12;
/// A shorter secret would be found in any text, so it has to be a word of its own.
constexpr std::size_t least_substring = 4;
constexpr std::size_t longest_redacted = 64 * 1024;

using Positions = std::vector<std::uint32_t>;

/// A text as it was before it was escaped, in lower case and without control characters.
struct PlainText {
    CleansedBytes chars;
    Positions begins, ends;  ///< where each character stands in the text
};

/// The character that `digits` name in hexadecimal; -1 without one of a single byte.
int hex_character(std::string_view digits) {
    unsigned value = 0;
    for (const char c : digits) {
        if (hex_value(c) > 15 || value > 15) return -1;
        value = value * 16 + hex_value(c);
    }
    return static_cast<int>(value);
}

struct Unescaped {
    char character;
    std::size_t size;  ///< of its escape sequence
};

Unescaped unescape(std::string_view text) {
    const char first = text[0];
    if (first == '%' && text.size() >= 3) {
        const int c = hex_character(text.substr(1, 2));
        if (c >= 0) return {static_cast<char>(c), 3};
    }
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

PlainText plain_text(std::string_view text) {
    PlainText plain;
    plain.chars.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        const auto [c, size] = unescape(text.substr(i));
        if (!is_control(c)) {
            plain.chars.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
            plain.begins.push_back(static_cast<std::uint32_t>(i));
            plain.ends.push_back(static_cast<std::uint32_t>(i + size));
        }
        i += size;
    }
    return plain;
}

CleansedBytes lower_case_copy(std::string_view secret) {
    CleansedBytes result;
    append(result, secret);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

/// Marks what of a text is to go.
class Echoes {
 public:
    explicit Echoes(const PlainText& plain)
        : text_(view(plain.chars)), marked_(plain.chars.size(), false) {}

    void find(std::string_view secret) {
        if (secret.empty()) return;
        secret.size() < part_size ? find_whole(secret) : find_parts(secret);
    }
    bool any() const noexcept { return any_; }
    bool marked(std::size_t i) const { return marked_[i]; }

 private:
    void mark(std::size_t begin, std::size_t size) {
        std::fill_n(marked_.begin() + static_cast<std::ptrdiff_t>(begin), size, true);
        any_ = true;
    }
    bool is_word(std::size_t begin, std::size_t size) const {
        const bool before = begin > 0 && is_alphanumeric(text_[begin - 1]);
        const bool after = begin + size < text_.size() && is_alphanumeric(text_[begin + size]);
        return !before && !after;
    }
    void find_whole(std::string_view secret) {
        for (std::size_t i = text_.find(secret); i != std::string_view::npos;
             i = text_.find(secret, i + 1)) {
            if (secret.size() >= least_substring || is_word(i, secret.size())) {
                mark(i, secret.size());
            }
        }
    }
    void find_parts(std::string_view secret) {
        const auto part = [secret](std::uint32_t at) { return secret.substr(at, part_size); };
        Positions sorted(secret.size() - part_size + 1);
        for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = static_cast<std::uint32_t>(i);
        std::sort(sorted.begin(), sorted.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return part(a) < part(b); });
        for (std::size_t i = 0; i + part_size <= text_.size(); ++i) {
            const std::string_view here = text_.substr(i, part_size);
            const auto found = std::lower_bound(
                sorted.begin(), sorted.end(), here,
                [&](std::uint32_t at, std::string_view wanted) { return part(at) < wanted; });
            if (found != sorted.end() && part(*found) == here) mark(i, part_size);
        }
    }

    std::string_view text_;
    std::vector<bool> marked_;
    bool any_ = false;
};

}  // namespace

std::vector<CleansedBytes> secrets_of(const CleansedBytes& authorization) {
    std::vector<CleansedBytes> secrets;
    const auto add = [&](std::string_view secret) {
        if (!secret.empty()) append(secrets.emplace_back(), secret);
    };
    std::string_view value = view(authorization).substr(0, longest_redacted);
    const std::string_view scheme = value.substr(0, value.find(' '));
    if (scheme.size() < value.size()) value.remove_prefix(scheme.size() + 1);
    add(value);
    if (scheme != "Basic") return secrets;
    CleansedBytes memory(base64_room(value.size()));
    const std::string_view plain(memory.data(), decode_base64(value, memory.data()).value_or(0));
    add(plain);
    const std::size_t colon = plain.find(':');
    if (colon != std::string_view::npos) add(plain.substr(colon + 1));
    return secrets;
}

std::string redact(std::string text, const std::vector<CleansedBytes>& secrets) {
    if (secrets.empty() || text.empty()) return text;
    const std::string_view kept = std::string_view(text).substr(0, longest_redacted);
    const PlainText plain = plain_text(kept);
    Echoes echoes(plain);
    for (const CleansedBytes& secret : secrets) {
        echoes.find(view(lower_case_copy(view(secret))));
        // A secret that looks escaped is unescaped in the text as well.
        echoes.find(view(plain_text(view(secret)).chars));
    }
    if (!echoes.any() && kept.size() == text.size()) return text;
    std::string result;
    std::size_t copied = 0;
    for (std::size_t i = 0; i < plain.chars.size();) {
        std::size_t end = i;
        while (end < plain.chars.size() && echoes.marked(end)) ++end;
        if (end == i) {
            ++i;
            continue;
        }
        (result += kept.substr(copied, plain.begins[i] - copied)) += "<redacted>";
        copied = plain.ends[end - 1];
        i = end;
    }
    result += kept.substr(copied);
    cleanse(text.data(), text.size());
    return result;
}

}  // namespace k8s_sd::inline v0::detail
