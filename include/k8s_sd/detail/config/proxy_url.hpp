#pragma once

#include "k8s_sd/detail/base/cleansed_bytes.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The parts of a proxy's URL.
struct ProxyUrl {
    enum class Scheme : std::uint8_t { http, https, socks5 };
    Scheme scheme = Scheme::http;
    std::string host;        ///< lower case; IPv6 without brackets
    std::string port;        ///< never empty: by default 80, 443 or 1080
    std::string username;    ///< percent-decoded
    CleansedBytes password;  ///< percent-decoded; empty together with the name: no credentials
};

/// Accepts "scheme://[user[:password]@]host[:port][/]", IPv6 in brackets; the scheme is http,
/// https, socks5 or socks5h.
/// \param where  the field, for the error
/// \throws ConfigError; its text never repeats the URL, because it may contain a password
ProxyUrl parse_proxy_url(std::string_view url, const std::string& where);

/// Removes user and password from an empty URL or one accepted by parse_proxy_url().
std::string without_user_info(std::string_view proxy_url);

}  // namespace k8s_sd::inline v0::detail
