#include "http/http_message.hpp"

#include <boost/beast/core/string.hpp>
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <system_error>

namespace http {

namespace {

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

/// Removes the text before the separator, and returns it.
std::string_view take_until(std::string_view& text, char separator) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
}

/// "q=0", "q=0.000": not acceptable.
bool is_refused(std::string_view parameter) {
    parameter = trimmed(parameter);
    if (!parameter.starts_with("q=") && !parameter.starts_with("Q=")) return false;
    return parameter.substr(2).find_first_not_of("0.") == std::string_view::npos;
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_blank) {
    std::string result;
    result.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%') {
            unsigned char byte = 0;
            const char* begin = text.data() + i + 1;
            const char* end = text.data() + std::min(i + 3, text.size());
            const auto [last, error] = std::from_chars(begin, end, byte, 16);
            if (error != std::errc{} || last != begin + 2) return std::nullopt;
            result += static_cast<char>(byte);
            i += 2;
        } else {
            result += plus_is_blank && text[i] == '+' ? ' ' : text[i];
        }
    }
    return result;
}

std::string query_escaped(std::string_view text) {
    constexpr char digits[] = "0123456789ABCDEF";
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (plain.find(c) != plain.npos) {
            out += c;
        } else if (c == ' ') {
            out += '+';
        } else {
            out += '%';
            out += digits[byte >> 4U];
            out += digits[byte & 0xFU];
        }
    }
    return out;
}

std::optional<Query> parse_query(std::string_view text) {
    Query query;
    while (!text.empty()) {
        std::string_view value = take_until(text, '&');
        if (value.empty()) continue;
        auto decoded_name = percent_decoded(take_until(value, '='), true);
        auto decoded_value = percent_decoded(value, true);
        if (!decoded_name || !decoded_value) return std::nullopt;
        query.emplace_back(std::move(*decoded_name), std::move(*decoded_value));
    }
    return query;
}

bool accepts_coding(std::string_view accept_encoding, std::string_view coding) {
    while (!accept_encoding.empty()) {
        std::string_view parameters = take_until(accept_encoding, ',');
        const std::string_view name = trimmed(take_until(parameters, ';'));
        if (boost::beast::iequals(name, coding)) return !is_refused(parameters);
    }
    return false;
}

bool matches_tag(std::string_view if_none_match, std::string_view tag) {
    while (!if_none_match.empty()) {
        std::string_view one = trimmed(take_until(if_none_match, ','));
        if (one == "*") return true;
        if (one.starts_with("W/")) one.remove_prefix(2);
        if (one == tag) return true;
    }
    return false;
}

std::optional<std::chrono::seconds> preferred_wait(std::string_view prefer) {
    while (!prefer.empty()) {
        std::string_view parameters = take_until(prefer, ',');
        std::string_view value = trimmed(take_until(parameters, ';'));
        if (!boost::beast::iequals(trimmed(take_until(value, '=')), "wait")) continue;
        value = trimmed(value);
        std::uint32_t seconds = 0;
        const char* end = value.data() + value.size();
        const auto [last, error] = std::from_chars(value.data(), end, seconds);
        if (last != end || error == std::errc::invalid_argument) return std::nullopt;
        const bool is_huge = error == std::errc::result_out_of_range;
        return std::chrono::seconds(is_huge ? std::numeric_limits<std::uint32_t>::max() : seconds);
    }
    return std::nullopt;
}

}  // namespace http
