#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Hosts and ports as texts. An IPv6 literal is in brackets in a URL or before a port.
namespace k8s_sd::inline v0::detail {

/// A host without a port is an IPv6 literal if it has a colon.
constexpr bool is_ipv6(std::string_view host) noexcept {
    return host.find(':') != std::string_view::npos;
}

/// "[v6]" for an IPv6 literal; any other host unchanged.
inline std::string in_brackets(std::string_view host) {
    return is_ipv6(host) ? '[' + std::string(host) + ']' : std::string(host);
}

/// "host:port" or "[v6]:port".
inline std::string join_host_port(std::string_view host, std::string_view port) {
    const bool brackets = is_ipv6(host);
    std::string joined;
    // Reserve no more: most results fit into the string's inline buffer.
    joined.reserve(host.size() + port.size() + (brackets ? 3 : 1));
    if (brackets) joined += '[';
    joined += host;
    joined += brackets ? "]:" : ":";
    return joined += port;
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

}  // namespace k8s_sd::inline v0::detail
