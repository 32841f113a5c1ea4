#pragma once

#include "k8s_sd/detail/text/text.hpp"

#include <string>
#include <string_view>

/// Percent-encoding like Go's net/url.
namespace k8s_sd::inline v0::detail {

/// Keeps letters, digits, "-_.~" and the characters of `plain` unescaped.
inline void append_escaped(std::string& out, std::string_view text, std::string_view plain) {
    static constexpr std::string_view hex = "0123456789ABCDEF";
    static constexpr std::string_view unreserved = "-_.~";
    for (const char c : text) {
        if (is_alphanumeric(c) || unreserved.find(c) != std::string_view::npos ||
            plain.find(c) != std::string_view::npos) {
            out += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            ((out += '%') += hex[byte >> 4U]) += hex[byte & 15U];
        }
    }
}

/// Appends a name or value of a query, like url.QueryEscape.
inline void append_query_text(std::string& out, std::string_view text) {
    std::size_t begin = 0;
    for (std::size_t space = 0; (space = text.find(' ', begin)) != std::string_view::npos;) {
        append_escaped(out, text.substr(begin, space - begin), {});
        out += '+';
        begin = space + 1;
    }
    append_escaped(out, text.substr(begin), {});
}

/// Appends "?name=value" or "&name=value".
inline void append_query(std::string& target, std::string_view name, std::string_view value) {
    target += target.find('?') == std::string::npos ? '?' : '&';
    append_query_text(target, name);
    target += '=';
    append_query_text(target, value);
}

}  // namespace k8s_sd::inline v0::detail
