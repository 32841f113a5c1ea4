#include "k8s_sd/detail/text/url_text.hpp"

#include <catch2/catch_test_macros.hpp>

namespace k8s_sd::detail {
namespace {

TEST_CASE("join_host_port: an IPv6 literal is put in brackets") {
    CHECK(join_host_port("10.0.0.1", 80) == "10.0.0.1:80");
    CHECK(join_host_port("fd00::1", 80) == "[fd00::1]:80");
    CHECK(join_host_port("host", "https") == "host:https");
    CHECK(join_host_port("::1", "443") == "[::1]:443");
    CHECK(join_host_port("", 0) == ":0");
    CHECK(join_host_port("a", -1) == "a:-1");
}

TEST_CASE("in_brackets: only an IPv6 literal has them") {
    CHECK(in_brackets("::1") == "[::1]");
    CHECK(in_brackets("10.0.0.1") == "10.0.0.1");
    CHECK(in_brackets("") == "");
}

}  // namespace
}  // namespace k8s_sd::detail
