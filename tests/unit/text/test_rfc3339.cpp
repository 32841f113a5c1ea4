#include "k8s_sd/detail/text/rfc3339.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

using namespace k8s_sd::detail;

namespace {

long long seconds_of(std::string_view text) {
    const auto time = read_rfc3339(text);
    REQUIRE(time);
    return time->time_since_epoch().count();
}

}  // namespace

TEST_CASE("RFC 3339: times with and without fractions and offsets") {
    CHECK(seconds_of("1970-01-01T00:00:00Z") == 0);
    CHECK(seconds_of("2026-03-05T11:12:13Z") == 1772709133);
    CHECK(seconds_of("2026-03-05t11:12:13.999999999z") == 1772709133);
    CHECK(seconds_of("2026-03-05T12:42:13+01:30") == 1772709133);
    CHECK(seconds_of("2026-03-05T06:12:13-05:00") == 1772709133);
    CHECK(seconds_of("2016-12-31T23:59:60Z") == 1483228800);  // a leap second
    CHECK(seconds_of("0000-01-01T00:00:00Z") < 0);
    CHECK(seconds_of("9999-12-31T23:59:59Z") == 253402300799);
}

TEST_CASE("RFC 3339: Go's zero time, and nothing else, is no time for a Go program") {
    for (const char* text : {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z",
                             "0001-01-01T01:30:00+01:30", "0000-12-31T19:00:00-05:00"}) {
        INFO(text);
        CHECK(read_rfc3339(text) == go_zero_time);
        CHECK_FALSE(read_go_time(text));
    }
    for (const char* text : {"0001-01-01T00:00:01Z", "0000-01-01T00:00:00Z", "1970-01-01T00:00:00Z",
                             "2026-03-05T11:12:13,5Z"}) {
        INFO(text);
        CHECK(read_go_time(text));
        CHECK(read_go_time(text) == read_rfc3339(text));
    }
    CHECK_FALSE(read_go_time("never"));
}

TEST_CASE("RFC 3339: everything else is none") {
    for (const char* text : {"",
                             "Z",
                             "2026",
                             "2026-03-05",
                             "2026-03-05T11:12:13",
                             "2026-03-05T11:12Z",
                             "2026-3-5T11:12:13Z",
                             "2026-02-30T11:12:13Z",
                             "2026-13-01T11:12:13Z",
                             "2026-00-01T11:12:13Z",
                             "2026-01-00T11:12:13Z",
                             "2026-03-05T24:00:00Z",
                             "2026-03-05T11:60:13Z",
                             "2026-03-05T11:12:61Z",
                             "2026-03-05T11:12:13.Z",
                             "2026-03-05T11:12:13.5",
                             "2026-03-05T11:12:13+24:00",
                             "2026-03-05T11:12:13+01:60",
                             "2026-03-05T11:12:13+0100",
                             "2026-03-05T11:12:13Z ",
                             " 2026-03-05T11:12:13Z",
                             "-026-03-05T11:12:13Z",
                             "99999-03-05T11:12:13Z",
                             "2026-03-05T11:12:13ZZ",
                             "2026-03-05T-1:12:13Z",
                             "2026/03/05T11:12:13Z",
                             "1772709133",
                             "never"}) {
        INFO(text);
        CHECK_FALSE(read_rfc3339(text));
    }
}
