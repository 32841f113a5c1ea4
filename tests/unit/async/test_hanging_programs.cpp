#include "k8s_sd/detail/async/hanging_programs.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstddef>

using namespace k8s_sd;
using namespace std::chrono_literals;
using detail::HangingPrograms;
using End = ProgramRunner::Result::End;

namespace {

constexpr TimePoint start{1h};

}  // namespace

TEST_CASE("HangingPrograms: a group belongs to them from a timeout to a run that ends by itself") {
    HangingPrograms hanging;
    CHECK_FALSE(hanging.contains(1, start));
    hanging.note(1, End::timed_out, start);
    CHECK(hanging.contains(1, start));
    CHECK_FALSE(hanging.contains(2, start));
    // These say nothing about the program.
    hanging.note(1, End::not_started, start);
    hanging.note(1, End::killed, start);
    CHECK(hanging.contains(1, start));
    hanging.note(1, End::exited, start);
    CHECK_FALSE(hanging.contains(1, start));
}

TEST_CASE("HangingPrograms: a group without a run for some minutes leaves them") {
    HangingPrograms hanging;
    hanging.note(1, End::timed_out, start);
    hanging.note(2, End::timed_out, start);
    // One waits in vain for a thread, the other one gets one and hangs again.
    hanging.note(1, End::not_started, start + 4min);
    hanging.note(2, End::timed_out, start + 4min);
    CHECK(hanging.contains(1, start + 5min - 1ns));
    CHECK_FALSE(hanging.contains(1, start + 5min));
    CHECK(hanging.contains(2, start + 6min));
}

TEST_CASE("HangingPrograms: many groups do not leave at the same time") {
    HangingPrograms hanging;
    for (std::size_t group = 0; group < 100; ++group) hanging.note(group, End::timed_out, start);
    std::size_t left = 0;
    for (std::size_t group = 0; group < 100; ++group)
        if (!hanging.contains(group, start + 10min)) ++left;
    CHECK(left == 1);
    CHECK_FALSE(hanging.contains(50, start + 10min + HangingPrograms::between_leaves));
    CHECK(hanging.contains(51, start + 10min + HangingPrograms::between_leaves));
}

TEST_CASE("HangingPrograms: above the maximum the oldest groups are forgotten") {
    HangingPrograms hanging;
    for (std::size_t group = 0; group < HangingPrograms::max_groups + 2; ++group)
        hanging.note(group, End::timed_out, start + Duration(group));
    CHECK_FALSE(hanging.contains(0, start));
    CHECK_FALSE(hanging.contains(1, start));
    CHECK(hanging.contains(2, start));
    CHECK(hanging.contains(HangingPrograms::max_groups + 1, start));
}
