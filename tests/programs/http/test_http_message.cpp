#include "http/http_message.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <string>

using http::accepts_coding;
using http::matches_tag;
using http::parse_query;
using http::percent_decoded;
using http::Query;

TEST_CASE("percent_decoded: once, and only what is a byte") {
    CHECK(percent_decoded("serviceMonitor%2Fns%2fx%2F0") == "serviceMonitor/ns/x/0");
    CHECK(percent_decoded("a%252Fb") == "a%2Fb");
    CHECK(percent_decoded("a+b") == "a+b");
    CHECK(percent_decoded("a+b%2B", true) == "a b+");
    CHECK(percent_decoded("%00") == std::string(1, '\0'));
    for (const char* bad : {"%", "%2", "%g0", "%0g", "a%-1"}) CHECK_FALSE(percent_decoded(bad));
}

TEST_CASE("parse_query: names and values in their order") {
    CHECK(parse_query("") == Query{});
    CHECK(parse_query("a=1&b=x%26y&&c&d=e=f") ==
          Query{{"a", "1"}, {"b", "x&y"}, {"c", ""}, {"d", "e=f"}});
    CHECK_FALSE(parse_query("a=%zz"));
    CHECK_FALSE(parse_query("%=1"));
}

TEST_CASE("accepts_coding: a coding is taken if it is named and not refused") {
    for (const char* yes : {"gzip", "GZIP", "br, gzip;q=0.5", "deflate,gzip ; q=1"})
        CHECK(accepts_coding(yes, "gzip"));
    for (const char* no : {"", "br", "gzip;q=0", "gzip; q=0.000", "xgzip", "*", "identity"})
        CHECK_FALSE(accepts_coding(no, "gzip"));
}

TEST_CASE("matches_tag: weak tags and lists match, too") {
    for (const char* yes : {"\"a\"", "W/\"a\"", "\"b\", \"a\"", "*", "\"b\" ,W/\"a\""})
        CHECK(matches_tag(yes, "\"a\""));
    for (const char* no : {"", "a", "\"b\"", "\"aa\"", "\"a"})
        CHECK_FALSE(matches_tag(no, "\"a\""));
}

TEST_CASE("preferred_wait: is found among other preferences, and is a whole number of seconds") {
    using std::chrono::seconds;
    CHECK(http::preferred_wait("wait=10") == seconds(10));
    CHECK(http::preferred_wait("respond-async, Wait = 7 ; x=y") == seconds(7));
    for (const char* huge : {"wait=4294967295", "wait=4294967296", "wait=99999999999999999999"}) {
        INFO(huge);
        CHECK(http::preferred_wait(huge) == seconds(4'294'967'295));
    }
    for (const char* none : {"", "respond-async", "wait", "wait=", "wait=-1", "wait=1.5",
                             "wait=10s", "wait=4294967296s", "await=3", ",;,=,"}) {
        INFO(none);
        CHECK_FALSE(http::preferred_wait(none));
    }
}
