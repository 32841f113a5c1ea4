#include "k8s_sd/detail/base/small_count.hpp"

#include <catch2/catch_test_macros.hpp>

namespace k8s_sd::detail {

TEST_CASE("SmallCount: counts up to its maximum, and stays there until it is reset") {
    SmallCount count;
    CHECK(count == 0);
    CHECK(++count == 1);
    for (int i = 0; i < 1000; ++i) ++count;
    CHECK(count == 255);
    count.reset();
    CHECK(count == 0);
    CHECK(sizeof(SmallCount) == 1);
}

}  // namespace k8s_sd::detail
