#include "k8s_sd/detail/hosts/resource_search.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>

namespace k8s_sd::detail {

using namespace std::chrono_literals;

TEST_CASE("SearchPacing: the pauses of searches in a row grow from 1 s to 64 s") {
    SearchPacing pacing;
    TimePoint now{1h};
    for (const Duration expected : {0s, 0s, 0s, 1s, 2s, 4s, 8s, 16s, 32s, 64s, 64s}) {
        CHECK(pacing.next(now) == expected);
        now += 4min;
    }
}

TEST_CASE("SearchPacing: after five minutes without a search there is no pause") {
    SearchPacing pacing;
    TimePoint now{1h};
    for (int i = 0; i < 6; ++i) pacing.next(now);
    CHECK(pacing.next(now + 5min) == 0s);
}

}  // namespace k8s_sd::detail
