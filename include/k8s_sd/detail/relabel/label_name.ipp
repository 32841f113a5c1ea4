#include "k8s_sd/detail/relabel/label_name.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/text/utf8.hpp"

#include <algorithm>

namespace k8s_sd::inline v0::detail {

namespace {

bool is_legacy_name(std::string_view name) noexcept {
    return !name.empty() && !is_digit(name[0]) && std::all_of(name.begin(), name.end(), is_word);
}

std::size_t word_length(std::string_view text) noexcept {
    const auto* end = std::find_if_not(text.begin(), text.end(), is_word);
    return static_cast<std::size_t>(end - text.begin());
}

/// Length of the `$name` or `${name}` at the start of the text; 0 if none.
std::size_t reference_length(std::string_view text) noexcept {
    if (!text.starts_with('$')) return 0;
    const bool braces = text.substr(1).starts_with('{');
    const std::size_t begin = braces ? 2 : 1;
    const std::size_t length = word_length(text.substr(begin));
    if (length == 0) return 0;
    if (!braces) return begin + length;
    return text.substr(begin + length).starts_with('}') ? begin + length + 1 : 0;
}

bool is_legacy_template(std::string_view text) noexcept {
    if (text.empty() || is_digit(text[0])) return false;
    while (!text.empty()) {
        const std::size_t length = is_word(text[0]) ? word_length(text) : reference_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

}  // namespace

bool is_label_name(std::string_view name, NameValidation scheme) noexcept {
    if (scheme == NameValidation::legacy) return is_legacy_name(name);
    return !name.empty() && is_utf8(name);
}

bool is_label_name_template(std::string_view text, NameValidation scheme) noexcept {
    if (scheme == NameValidation::legacy) return is_legacy_template(text);
    return !text.empty() && is_utf8(text);
}

}  // namespace k8s_sd::inline v0::detail
