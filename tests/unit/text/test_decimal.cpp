#include "k8s_sd/detail/text/decimal.hpp"

#include <catch2/catch_test_macros.hpp>
#include <locale>
#include <string_view>

using k8s_sd::detail::parse_decimal;

TEST_CASE("parse_decimal: decimals, with an exponent or without") {
    CHECK(parse_decimal("0") == 0);
    CHECK(parse_decimal("16.0") == 16);
    CHECK(parse_decimal("-1.5") == -1.5);
    CHECK(parse_decimal(".5") == .5);
    CHECK(parse_decimal("1e3") == 1000);
    CHECK(parse_decimal("25E-1") == 2.5);
    CHECK(parse_decimal("0.1") == 0.1);
    CHECK(parse_decimal("18446744073709551616") == 0x1p64);
}

TEST_CASE("parse_decimal: nothing else is a number") {
    for (const std::string_view text :
         {"", ".", "-", "+1", "1e", "e1", "1.5.5", "1-2", "1,5", " 1", "1 ", "0x10", "0x1p3", "inf",
          "nan", "1k", "1e999", "1\n"}) {
        INFO('"' << text << '"');
        CHECK_FALSE(parse_decimal(text));
    }
}

TEST_CASE("parse_decimal: the locale of the host changes nothing") {
    struct Comma : std::numpunct<char> {
        char do_decimal_point() const override { return ','; }
    };
    const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Comma));
    const auto value = parse_decimal("1.5");
    std::locale::global(before);
    CHECK(value == 1.5);
}
