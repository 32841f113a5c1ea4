#include "http/http_fields.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>

namespace http {

namespace {

std::string_view without_blanks(std::string_view text) {
    constexpr std::string_view blanks = " \t";
    const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
    text.remove_prefix(begin);
    return text.substr(0, text.find_last_not_of(blanks) + 1);
}

}  // namespace

std::vector<std::string_view> list_items(std::string_view list) {
    std::vector<std::string_view> items;
    for (std::size_t begin = 0; begin < list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        const std::string_view item = without_blanks(list.substr(begin, end - begin));
        if (!item.empty()) items.push_back(item);
        begin = end + 1;
    }
    return items;
}

bool is_host_and_port(std::string_view text) {
    constexpr std::string_view address = "0123456789ABCDEFabcdef:.";
    constexpr std::string_view name =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=%";
    const bool in_brackets = text.starts_with('[');
    if (in_brackets) text.remove_prefix(1);
    const std::size_t end =
        std::min(text.find_first_not_of(in_brackets ? address : name), text.size());
    if (end == 0) return false;
    text.remove_prefix(end);
    if (in_brackets) {
        if (!text.starts_with(']')) return false;
        text.remove_prefix(1);
    }
    if (text.empty()) return true;
    return text.starts_with(':') && text.find_first_not_of("0123456789", 1) == text.npos;
}

std::string http_date(std::time_t time) {
    constexpr const char* days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    std::tm utc{};
    gmtime_r(&time, &utc);
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                  days[utc.tm_wday], utc.tm_mday, months[utc.tm_mon], utc.tm_year + 1900,
                  utc.tm_hour, utc.tm_min, utc.tm_sec);
    return text.data();
}

std::string http_date_now() { return http_date(std::time(nullptr)); }

}  // namespace http
