#include "k8s_sd/detail/text/decimal.hpp"

#include <array>
#include <charconv>
#include <locale>
#include <sstream>
#include <string>

namespace k8s_sd::inline v0::detail {

// std::from_chars() reads a double only from version 20 of libc++.
std::optional<double> parse_decimal(std::string_view text) {
    if (text.find_first_not_of("0123456789.eE+-") != text.npos || text.starts_with('+')) {
        return std::nullopt;
    }
    std::istringstream stream{std::string(text)};
    stream.imbue(std::locale::classic());
    double value = 0;
    if (!(stream >> value) || stream.peek() != std::istringstream::traits_type::eof()) {
        return std::nullopt;
    }
    return value;
}

std::string decimal_text(double number) {
    std::array<char, 32> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    return {text.data(), end};
}

}  // namespace k8s_sd::inline v0::detail
