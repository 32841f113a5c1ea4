#include "k8s_sd/detail/relabel/go_regex.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/text/utf8.hpp"

#include <algorithm>
#include <stdexcept>

namespace k8s_sd::inline v0::detail {

namespace {

class Translator {
 public:
    explicit Translator(std::string_view regex) : rest_(regex) {}

    std::string run() {
        while (!rest_.empty()) {
            if (rest_[0] == '\\') {
                escape();
            } else if (rest_[0] == '[') {
                character_class();
            } else if (rest_.starts_with("(?<") || rest_.starts_with("(?P<")) {
                group();
            } else {
                copy(1);
            }
        }
        return std::move(result_);
    }

 private:
    void copy(std::size_t n) {
        n = std::min(n, rest_.size());
        result_ += rest_.substr(0, n);
        rest_.remove_prefix(n);
    }

    void escape() {
        if (rest_.starts_with("\\C")) throw std::invalid_argument("\\C is not supported");
        if (!rest_.starts_with("\\Q")) return copy(2);
        const std::size_t end = rest_.find("\\E");
        copy(end == std::string_view::npos ? end : end + 2);
    }

    void character_class() {
        copy(1);
        if (rest_.starts_with('^')) copy(1);
        if (rest_.starts_with(']')) copy(1);
        while (!rest_.empty() && rest_[0] != ']') {
            const std::size_t named_end =
                rest_.starts_with("[:") ? rest_.find(":]", 2) : std::string_view::npos;
            if (named_end != std::string_view::npos) {
                copy(named_end + 2);
            } else {
                copy(rest_[0] == '\\' ? 2 : 1);
            }
        }
        copy(1);
    }

    void group() {
        const std::size_t begin = rest_.find('<') + 1;
        // RE2 rejects this look-behind itself.
        if (rest_.substr(begin).starts_with('=') || rest_.substr(begin).starts_with('!')) {
            return copy(begin);
        }
        const std::size_t end = rest_.find('>', begin);
        const std::string_view name = rest_.substr(begin, end - begin);
        const bool valid = end != std::string_view::npos && !name.empty() &&
                           std::all_of(name.begin(), name.end(), [](char c) { return is_word(c); });
        if (!valid) {
            throw std::invalid_argument("the name of a group has letters, digits and '_' only");
        }
        result_ += "(?P<";
        rest_.remove_prefix(begin);
        copy(name.size() + 1);
    }

    std::string_view rest_;
    std::string result_;
};

}  // namespace

bool means_dot_star(std::string_view regex) noexcept {
    const auto cut_front = [&](std::string_view text) {
        const bool cut = regex.starts_with(text);
        if (cut) regex.remove_prefix(text.size());
        return cut;
    };
    const auto cut_back = [&](std::string_view text) {
        const bool cut = regex.ends_with(text);
        if (cut) regex.remove_suffix(text.size());
        return cut;
    };
    while (regex != ".*") {
        // Parentheses are only removed in pairs around ".*".
        const bool cut =
            cut_front("^") || cut_front("\\A") || cut_front("(?s)") || cut_front("(?i)") ||
            cut_back("$") || cut_back("\\z") ||
            (regex.ends_with(')') &&
             (cut_front("(?:") || cut_front("(?s:") || cut_front("(?i:") || cut_front("(")) &&
             cut_back(")"));
        if (!cut) return false;
    }
    return true;
}

std::string translate_go_regex(std::string_view regex) { return Translator(regex).run(); }

GoText::GoText(std::string_view text) : text_(text), characters_(text) {
    const std::size_t bad = find_invalid_utf8(text);
    if (bad == text.size()) return;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = utf8_length(text.substr(i));
        const std::string_view character =
            length == 0 ? replacement_character : text.substr(i, length);
        repaired_ += character;
        offsets_.insert(offsets_.end(), character.size(), i);
        i += std::max<std::size_t>(length, 1);
    }
    offsets_.push_back(text.size());
    characters_ = repaired_;
}

std::string_view GoText::original(std::string_view part) const noexcept {
    if (offsets_.empty() || part.data() == nullptr) return part;
    const auto begin = static_cast<std::size_t>(part.data() - repaired_.data());
    return text_.substr(offsets_[begin], offsets_[begin + part.size()] - offsets_[begin]);
}

}  // namespace k8s_sd::inline v0::detail
