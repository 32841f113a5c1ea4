#pragma once

#include "k8s_sd/detail/relabel/case_table.hpp"
#include "k8s_sd/detail/text/utf8.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

inline std::uint32_t map_case(std::uint32_t code, std::span<const CaseRange> ranges) {
    const auto range =
        std::lower_bound(ranges.begin(), ranges.end(), code,
                         [](const CaseRange& r, std::uint32_t c) { return r.last < c; });
    if (range == ranges.end() || code < range->first) return code;
    if ((code - range->first) % range->step != 0) return code;
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(code) + range->delta);
}

inline void append_mapped(std::string& result, std::string_view text,
                          std::span<const CaseRange> ranges) {
    result.reserve(result.size() + text.size());
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0) {
            result += replacement_character;
        } else {
            append_utf8(result, map_case(decode_utf8(text.substr(0, length)), ranges));
        }
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
}

/// Appends the text in upper (lower) case, as Go's strings.ToUpper (ToLower): simple case mapping
/// character by character, independent of the locale; each invalid UTF-8 byte becomes U+FFFD.
inline void append_upper(std::string& result, std::string_view text) {
    append_mapped(result, text, to_upper_ranges);
}

inline void append_lower(std::string& result, std::string_view text) {
    append_mapped(result, text, to_lower_ranges);
}

}  // namespace k8s_sd::inline v0::detail
