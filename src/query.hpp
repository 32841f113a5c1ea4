#pragma once

#include <string>
#include <string_view>

namespace k8s_sd::detail {

/// Appends "?name=value" or "&name=value", form-encoded as Go's url.QueryEscape does.
inline void append_query(std::string& target, std::string_view name, std::string_view value) {
    static constexpr std::string_view hex = "0123456789ABCDEF";
    target += target.find('?') == std::string::npos ? '?' : '&';
    (target += name) += '=';
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
        if (plain) {
            target += c;
        } else if (c == ' ') {
            target += '+';
        } else {
            ((target += '%') += hex[byte >> 4U]) += hex[byte & 15U];
        }
    }
}

}  // namespace k8s_sd::detail
