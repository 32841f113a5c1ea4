#include "k8s_sd/detail/scrape/target_url.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <boost/asio/ip/address_v6.hpp>
#include <algorithm>
#include <optional>

namespace k8s_sd::inline v0::detail {

namespace {

bool is_control_byte(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
bool is_hex_digit(char c) { return hex_value(c) < 16; }

/// Characters allowed unescaped in a host; other ASCII characters are not allowed at all.
bool is_plain_in_host(char c) {
    return is_alphanumeric(c) || static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view("-_.~!$&'()*+,;=:[]<>\"").find(c) != std::string_view::npos;
}

/// Whether two hexadecimal digits follow each '%'.
bool has_sound_escapes(std::string_view text) {
    for (std::size_t i = text.find('%'); i != std::string_view::npos; i = text.find('%', i + 3)) {
        if (i + 2 >= text.size() || !is_hex_digit(text[i + 1]) || !is_hex_digit(text[i + 2])) {
            return false;
        }
    }
    return true;
}

/// In a host, only non-ASCII bytes may be escaped, and the '%' before a zone.
bool is_sound_host(std::string_view host) {
    if (!has_sound_escapes(host)) return false;
    for (std::size_t i = 0; i < host.size(); ++i) {
        if (host[i] == '%') {
            if (hex_value(host[i + 1]) < 8 && host.substr(i, 3) != "%25") return false;
            i += 2;
        } else if (!is_plain_in_host(host[i])) {
            return false;
        }
    }
    return true;
}

/// In an IPv6 zone, host characters, spaces and '%' may be escaped.
bool is_sound_zone(std::string_view zone) {
    if (!has_sound_escapes(zone)) return false;
    for (std::size_t i = 0; i < zone.size(); ++i) {
        if (zone[i] == '%') {
            const auto byte =
                static_cast<char>(hex_value(zone[i + 1]) * 16 + hex_value(zone[i + 2]));
            const bool ascii = static_cast<unsigned char>(byte) < 0x80;
            if (byte != '%' && byte != ' ' && !(ascii && is_plain_in_host(byte))) return false;
            i += 2;
        } else if (!is_plain_in_host(zone[i])) {
            return false;
        }
    }
    return true;
}

bool is_optional_port(std::string_view text) {
    return text.empty() || (text[0] == ':' && std::all_of(text.begin() + 1, text.end(),
                                                          [](char c) { return is_digit(c); }));
}

/// Validates "[v6]" or "[v6%25zone]", perhaps with a port.
std::string bracket_problem(std::string_view host) {
    const std::size_t close = host.rfind(']');
    if (close == std::string_view::npos) return "a ']' is missing in the host";
    if (!is_optional_port(host.substr(close + 1))) return "the port must be a number";
    const std::string_view literal = host.substr(1, close - 1);
    const std::size_t zone = std::min(literal.find("%25"), literal.size());
    const std::string_view address = literal.substr(0, zone);
    boost::system::error_code error;
    boost::asio::ip::make_address_v6(std::string(address), error);
    const bool has_zone = zone < literal.size();
    const bool sound =
        !error && address.find('%') == std::string_view::npos &&
        (!has_zone || (literal.size() > zone + 3 && is_sound_zone(literal.substr(zone))));
    return sound ? "" : "the host in brackets is no IPv6 address";
}

std::string host_problem(std::string_view host) {
    const std::size_t open = host.rfind('[');
    if (open == 0) return bracket_problem(host);
    if (open != std::string_view::npos) return "a '[' stands inside of the host";
    const std::size_t colon = host.rfind(':');
    if (colon != std::string_view::npos && !is_optional_port(host.substr(colon))) {
        return "the port must be a number";
    }
    return is_sound_host(host) ? "" : "the host has an invalid character";
}

bool is_sound_user(std::string_view user) {
    const auto is_allowed = [](char c) {
        return is_alphanumeric(c) ||
               std::string_view("-._:~!$&'()*+,;=%@").find(c) != std::string_view::npos;
    };
    return has_sound_escapes(user) && std::all_of(user.begin(), user.end(), is_allowed);
}

std::string authority_problem(std::string_view authority) {
    const std::size_t at = authority.rfind('@');
    if (at == std::string_view::npos) return host_problem(authority);
    std::string problem = host_problem(authority.substr(at + 1));
    if (problem.empty() && !is_sound_user(authority.substr(0, at))) {
        problem = "the user before the host has an invalid character";
    }
    return problem;
}

struct SchemeAndRest {
    std::string_view scheme, rest;
};
/// nullopt: the scheme before a ':' is missing.
std::optional<SchemeAndRest> split_scheme(std::string_view url) {
    for (std::size_t i = 0; i < url.size(); ++i) {
        const char c = url[i];
        if (c == ':') {
            if (i == 0) return std::nullopt;
            return SchemeAndRest{url.substr(0, i), url.substr(i + 1)};
        }
        const bool letter = is_alphanumeric(c) && !is_digit(c);
        const bool other = is_digit(c) || c == '+' || c == '-' || c == '.';
        if (!letter && !(other && i > 0)) break;
    }
    return SchemeAndRest{{}, url};
}

}  // namespace

std::string go_url_problem(std::string_view url) {
    const std::size_t hash = std::min(url.find('#'), url.size());
    if (!has_sound_escapes(url.substr(hash))) return "a '%' is not followed by two digits";
    url = url.substr(0, hash);
    if (std::any_of(url.begin(), url.end(), is_control_byte)) return "it has a control character";
    const auto parts = split_scheme(url);
    if (!parts) return "the scheme is missing";
    std::string_view rest = parts->rest.substr(0, parts->rest.find('?'));
    if (!rest.starts_with('/')) {
        if (!parts->scheme.empty()) return {};
        const bool colon = rest.substr(0, rest.find('/')).find(':') != std::string_view::npos;
        if (colon) return "the scheme must begin with a letter";
    } else if (rest.starts_with("//") && (!parts->scheme.empty() || !rest.starts_with("///"))) {
        rest.remove_prefix(2);
        const std::size_t slash = std::min(rest.find('/'), rest.size());
        std::string problem = authority_problem(rest.substr(0, slash));
        if (!problem.empty()) return problem;
        rest.remove_prefix(slash);
    }
    return has_sound_escapes(rest) ? "" : "a '%' is not followed by two digits";
}

}  // namespace k8s_sd::inline v0::detail
