#pragma once

#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Strips the byte order mark. Some programs, most of them on Windows, write it before UTF-8.
constexpr std::string_view without_byte_order_mark(std::string_view text) noexcept {
    constexpr std::string_view mark = "\xef\xbb\xbf";
    if (text.starts_with(mark)) text.remove_prefix(mark.size());
    return text;
}

}  // namespace k8s_sd::inline v0::detail
