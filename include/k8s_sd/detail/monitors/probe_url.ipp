#include "k8s_sd/detail/monitors/probe_url.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/system/error_code.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

namespace k8s_sd::inline v0::detail {

namespace {

bool is_prober_host_label(std::string_view label) {
    constexpr std::size_t max_label = 63;
    return !label.empty() && label.size() <= max_label && label[0] != '-' &&
           std::all_of(label.begin(), label.end(), [](char c) { return is_word(c) || c == '-'; });
}

bool is_prober_host_name(std::string_view host) {
    constexpr std::size_t max_name = 255;
    if (host.size() - static_cast<std::size_t>(std::count(host.begin(), host.end(), '.')) >
        max_name) {
        return false;
    }
    if (host.ends_with('.')) host.remove_suffix(1);
    for (;;) {
        const std::size_t dot = host.find('.');
        if (!is_prober_host_label(host.substr(0, dot))) return false;
        if (dot == std::string_view::npos) return true;
        host.remove_prefix(dot + 1);
    }
}

bool is_prober_host(std::string_view host) {
    boost::system::error_code error;
    boost::asio::ip::make_address(std::string(host), error);
    if (!error && host.find('%') == std::string_view::npos) return true;
    return is_prober_host_name(host);
}

bool is_prober_port(std::string_view port) {
    constexpr std::uint32_t max_port = 65535;
    std::uint32_t number = 0;
    const char* end = port.data() + port.size();
    const auto [last, error] = std::from_chars(port.data(), end, number);
    return error == std::errc{} && last == end && number >= 1 && number <= max_port;
}

struct ProberHostAndPort {
    std::string_view host;
    std::string_view port;
};

/// Splits "host:port" and "[v6]:port"; nullopt for every other form.
std::optional<ProberHostAndPort> split_prober_url(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    std::string_view host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
    } else if (host.find(':') != std::string_view::npos) {
        return std::nullopt;
    }
    if (host.find_first_of("[]") != std::string_view::npos) return std::nullopt;
    return ProberHostAndPort{host, text.substr(colon + 1)};
}

}  // namespace

bool is_prober_url(std::string_view text) {
    const auto parts = split_prober_url(text);
    if (!parts) return is_prober_host(text);
    return is_prober_host(parts->host) && is_prober_port(parts->port);
}

}  // namespace k8s_sd::inline v0::detail
