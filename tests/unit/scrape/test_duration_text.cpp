#include "k8s_sd/scrape/duration_text.hpp"
#include "support/config_fixtures.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace k8s_sd;
using namespace std::chrono_literals;
using k8s_sd::test::config_error;

TEST_CASE("parse_duration: reads what Prometheus reads") {
    CHECK(parse_duration("0") == 0ms);
    CHECK(parse_duration("0s") == 0ms);
    CHECK(parse_duration("15s") == 15s);
    CHECK(parse_duration("1m30s") == 90s);
    CHECK(parse_duration("1s500ms") == 1500ms);
    CHECK(parse_duration("2h") == 2h);
    CHECK(parse_duration("1d") == 24h);
    CHECK(parse_duration("2w") == 24h * 14);
    CHECK(parse_duration("1y1w1d1h1m1s1ms") == 24h * 373 + 1h + 1min + 1s + 1ms);
    CHECK(parse_duration("00100ms") == 100ms);
}

TEST_CASE("parse_duration: says what is wrong") {
    const auto problem = [](const char* text) {
        return config_error([&] { parse_duration(text); });
    };
    CHECK(problem("") == "duration: is empty");
    for (const char* text :
         {"s", "abc", "-1s", "+1s", " 1s", "1 s", "\xff", "s1", "-0s", "-0d30s", "1m-0s"}) {
        INFO(text);
        CHECK_FALSE(problem(text).empty());
    }
    CHECK(problem("1") == "duration: lacks a unit; allowed are y, w, d, h, m, s, ms");
    CHECK(problem("2notseconds") ==
          "duration: has an unknown unit; allowed are y, w, d, h, m, s, ms");
    CHECK(problem("1S").find("unknown unit") != std::string::npos);
    CHECK(problem("1.5s").find("unknown unit") != std::string::npos);
    CHECK(problem("1s1m") == "duration: must name its units from long to short, once each");
    CHECK(problem("1s1s") == "duration: must name its units from long to short, once each");
    CHECK(problem("99999999999999999999s") == "duration: is too long");
    CHECK(problem("300y") == "duration: is too long");
    CHECK(problem("292y365d") == "duration: is too long");
    CHECK(problem("9223372036855ms") == "duration: is too long");
    CHECK(problem("9223372036854ms").empty());
}

TEST_CASE("parse_duration: vmagent's dialect also takes fractions, any order and bare seconds") {
    const auto parse = [](const char* text) {
        return parse_duration(text, LabelDialect::victoriametrics);
    };
    CHECK(parse("1.5s") == 1500ms);
    CHECK(parse("1.05s") == 1050ms);
    CHECK(parse("1.23456789123456789s") == 1234ms);
    CHECK(parse("1.5h") == 90min);
    CHECK(parse("0.5ms") == 0ms);
    CHECK(parse("1s1m") == 61s);
    CHECK(parse("30") == 30s);
    CHECK(parse("1h0m0s") == 1h);
    CHECK(parse("90.") == 90s);
    CHECK(parse(".5") == 500ms);
    CHECK(parse("1.s") == 1s);
    CHECK(parse("1e3") == 1000s);
    CHECK(parse("+5") == 5s);
    CHECK(parse("1.001s") == 1s);  // the result of double multiplication
    for (const char* text : {"", ".", ".5s", "1.5.5s", "1,5s", "1x", "300y", "1e3s", "--1s", "+1s",
                             "1 s", "s", "-", "1e400", "inf", "nan", "1inf", "-s", "+-5"}) {
        INFO(text);
        CHECK_FALSE(config_error([&] { parse(text); }).empty());
    }
}

TEST_CASE("parse_duration: vmagent's dialect takes upper case, but M is no minute") {
    const auto parse = [](const char* text) {
        return parse_duration(text, LabelDialect::victoriametrics);
    };
    CHECK(parse("10S") == 10s);
    CHECK(parse("1H") == 1h);
    CHECK(parse("500MS") == 500ms);
    CHECK(parse("500Ms") == 500ms);
    CHECK(parse("1D1W") == 24h * 8);
    for (const char* text : {"1M", "1Mi", "1mi", "1mb", "1MB", "1m30", "1h30"}) {
        INFO(text);
        CHECK_FALSE(config_error([&] { parse(text); }).empty());
    }
}

TEST_CASE("parse_duration: vmagent's dialect takes what is not above 0") {
    const auto parse = [](const char* text) {
        return parse_duration(text, LabelDialect::victoriametrics);
    };
    CHECK(parse("-1s") == -1s);
    CHECK(parse("-5") == -5s);
    CHECK(parse("-.5s") == -500ms);
    CHECK(parse("-1h30m") == -90min);  // the sign applies to all parts
    CHECK(parse("1h-30m") == 30min);
    CHECK(parse("2i") == 0ms);  // query steps, which do not exist here
    CHECK(parse("1s2i") == 1s);
}

TEST_CASE("format_duration: writes as Prometheus does") {
    const auto text = [](std::chrono::milliseconds value) { return format_duration(value); };
    CHECK(text(0ms) == "0s");
    CHECK(text(1min) == "1m");
    CHECK(text(1500ms) == "1s500ms");
    CHECK(text(90s) == "1m30s");
    CHECK(text(24h) == "1d");
    CHECK(text(24h * 7) == "1w");
    CHECK(text(24h * 8) == "8d");
    CHECK(text(24h * 365) == "1y");
    CHECK(text(24h * 365 + 1ms) == "365d1ms");
    CHECK(text(25h + 1s) == "1d1h1s");
}

TEST_CASE("format_duration: writes as Go does in vmagent's dialect") {
    const auto text = [](std::chrono::milliseconds value) {
        return format_duration(value, LabelDialect::victoriametrics);
    };
    CHECK(text(0ms) == "0s");
    CHECK(text(500ms) == "500ms");
    CHECK(text(1500ms) == "1.5s");
    CHECK(text(1050ms) == "1.05s");
    CHECK(text(30s) == "30s");
    CHECK(text(1min) == "1m0s");
    CHECK(text(1h) == "1h0m0s");
    CHECK(text(25h + 30s) == "25h0m30s");
}

TEST_CASE("durations survive being written and read") {
    for (std::int64_t i = 1; i < 4'000'000'000; i = i * 3 + 7) {
        const std::chrono::milliseconds value(i);
        CHECK(parse_duration(format_duration(value)) == value);
        constexpr auto go = LabelDialect::victoriametrics;
        CHECK(parse_duration(format_duration(value, go), go) == value);
    }
}
