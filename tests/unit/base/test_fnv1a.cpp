#include "k8s_sd/detail/base/hash.hpp"

#include <catch2/catch_test_macros.hpp>

using k8s_sd::detail::fnv1a64;

TEST_CASE("fnv1a64: gives the values that its authors publish") {
    STATIC_REQUIRE(fnv1a64("") == 0xcbf29ce484222325U);
    STATIC_REQUIRE(fnv1a64("a") == 0xaf63dc4c8601ec8cU);
    CHECK(fnv1a64("b") == 0xaf63df4c8601f1a5U);
    CHECK(fnv1a64("foobar") == 0x85944171f73967e8U);
}

TEST_CASE("fnv1a64: bytes above 127 count as what they are") {
    CHECK(fnv1a64("\xff") == 0xaf64724c8602eb6eU);
}
