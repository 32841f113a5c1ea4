#pragma once

#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/text/utf8.hpp"
#include "k8s_sd/relabel/relabeler.hpp"

#include <algorithm>
#include <string_view>

namespace k8s_sd::inline v0::detail {

inline bool is_legacy_name(std::string_view name) noexcept {
    return !name.empty() && !is_digit(name[0]) && std::all_of(name.begin(), name.end(), is_word);
}

inline std::size_t word_length(std::string_view text) noexcept {
    const auto* end = std::find_if_not(text.begin(), text.end(), is_word);
    return static_cast<std::size_t>(end - text.begin());
}

/// Length of the `$name` or `${name}` at the start of the text; 0 if none.
inline std::size_t reference_length(std::string_view text) noexcept {
    if (!text.starts_with('$')) return 0;
    const bool braces = text.substr(1).starts_with('{');
    const std::size_t begin = braces ? 2 : 1;
    const std::size_t length = word_length(text.substr(begin));
    if (length == 0) return 0;
    if (!braces) return begin + length;
    return text.substr(begin + length).starts_with('}') ? begin + length + 1 : 0;
}

inline bool is_legacy_template(std::string_view text) noexcept {
    if (text.empty() || is_digit(text[0])) return false;
    while (!text.empty()) {
        const std::size_t length = is_word(text[0]) ? word_length(text) : reference_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

inline bool is_label_name(std::string_view name, NameValidation scheme) noexcept {
    if (scheme == NameValidation::legacy) return is_legacy_name(name);
    return !name.empty() && is_utf8(name);
}

/// Whether a template with references such as `$1` may produce label names. The scheme `utf8`
/// requires valid UTF-8; `legacy` requires Prometheus' pattern: parts starting with a letter, `_`
/// or a complete `$name` or `${name}`, followed by these or digits.
inline bool is_label_name_template(std::string_view text, NameValidation scheme) noexcept {
    if (scheme == NameValidation::legacy) return is_legacy_template(text);
    return !text.empty() && is_utf8(text);
}

}  // namespace k8s_sd::inline v0::detail
