#pragma once

#include "k8s_sd/detail/text/text.hpp"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Parts of URLs. An IPv6 literal is in brackets in a URL or before a port.
namespace k8s_sd::inline v0::detail {

/// A host without a port is an IPv6 literal if it has a colon.
constexpr bool is_ipv6(std::string_view host) noexcept {
    return host.find(':') != std::string_view::npos;
}

/// "[v6]" for an IPv6 literal; any other host unchanged.
inline std::string in_brackets(std::string_view host) {
    return is_ipv6(host) ? '[' + std::string(host) + ']' : std::string(host);
}

/// Appends "host:port" or "[v6]:port".
inline void append_host_port(std::string& out, std::string_view host, std::string_view port) {
    const bool brackets = is_ipv6(host);
    // Reserve no more: most results fit into the string's inline buffer.
    out.reserve(out.size() + host.size() + port.size() + (brackets ? 3 : 1));
    if (brackets) out += '[';
    out += host;
    out += brackets ? "]:" : ":";
    out += port;
}

inline std::string join_host_port(std::string_view host, std::string_view port) {
    std::string joined;
    append_host_port(joined, host, port);
    return joined;
}

inline std::string join_host_port(std::string_view host, std::int64_t port) {
    return join_host_port(host, std::string_view(std::to_string(port)));
}

/// nullopt unless the text is a decimal number below 65536.
inline std::optional<std::uint16_t> port_number(std::string_view text) noexcept {
    std::uint16_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [last, ec] = std::from_chars(text.data(), end, number);
    if (ec != std::errc() || last != end) return std::nullopt;
    return number;
}

// --- percent-encoding like Go's net/url ---

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
