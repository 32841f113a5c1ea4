#include "http/http_fields.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string_view>
#include <vector>

TEST_CASE("list_items: without blanks and empty items") {
    using Items = std::vector<std::string_view>;
    CHECK(http::list_items("").empty());
    CHECK(http::list_items(" , ,\t,").empty());
    CHECK(http::list_items("a") == Items{"a"});
    CHECK(http::list_items(" a ,b c,\t,d\t") == Items{"a", "b c", "d"});
}

TEST_CASE("is_host_and_port: a name or an address, and nothing besides a port") {
    for (const char* yes : {"a", "a.b:1", "a:", "1.2.3.4:80", "[::1]", "[::1]:80", "a_b-c~d!"}) {
        INFO(yes);
        CHECK(http::is_host_and_port(yes));
    }
    for (const char* no : {"", ":", ":80", "a:b", "a:1:2", "a@b", "a:1@b", "::1", "[", "[]", "[]:1",
                           "[::1", "[::1]1", "[a.b]x", "[x]", "a b", "a/", "a\\", "a\t"}) {
        INFO(no);
        CHECK_FALSE(http::is_host_and_port(no));
    }
}

TEST_CASE("http_date: the fixed form of HTTP, in any locale") {
    CHECK(http::http_date(784'111'777) == "Sun, 06 Nov 1994 08:49:37 GMT");
    CHECK(http::http_date(1'709'164'800) == "Thu, 29 Feb 2024 00:00:00 GMT");
    CHECK(http::http_date(253'402'300'799) == "Fri, 31 Dec 9999 23:59:59 GMT");
}
