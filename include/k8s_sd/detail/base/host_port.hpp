#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// How an IPv6 literal stands in a URL or before a port: in brackets.
namespace k8s_sd::inline v0::detail {

/// A host without a port is an IPv6 literal if it has a colon.
constexpr bool is_ipv6(std::string_view host) noexcept {
    return host.find(':') != std::string_view::npos;
}

/// "[v6]" for an IPv6 literal, any other host as it is.
inline std::string in_brackets(std::string_view host) {
    return is_ipv6(host) ? '[' + std::string(host) + ']' : std::string(host);
}

/// "host:port" or "[v6]:port".
inline std::string join_host_port(std::string_view host, std::string_view port) {
    const bool brackets = is_ipv6(host);
    std::string joined;
    joined.reserve(host.size() + port.size() + 3);
    if (brackets) joined += '[';
    joined += host;
    joined += brackets ? "]:" : ":";
    return joined += port;
}

inline std::string join_host_port(std::string_view host, std::int64_t port) {
    return join_host_port(host, std::string_view(std::to_string(port)));
}

}  // namespace k8s_sd::inline v0::detail
