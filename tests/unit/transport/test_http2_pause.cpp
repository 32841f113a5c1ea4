#include "k8s_sd/detail/transport/http2/http2_pause.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>

namespace k8s_sd::detail {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct DemandedPause : Http2Pause {
    const TimePoint now{seconds(1'000)};
    const TimePoint end_of_pause = now + seconds(30);

    DemandedPause() { demand(now); }
};

}  // namespace

TEST_CASE_METHOD(DemandedPause, "HTTP/2 pause: requests follow at an interval after it") {
    Slot a;
    Slot b;
    CHECK(next(now, a) == end_of_pause);
    CHECK(next(now, b) == end_of_pause + milliseconds(10));
    CHECK_FALSE(next(end_of_pause, a));
    CHECK(next(end_of_pause, b) == end_of_pause + milliseconds(10));
    CHECK_FALSE(next(end_of_pause + milliseconds(10), b));
}

TEST_CASE_METHOD(DemandedPause, "HTTP/2 pause: late requests follow at the interval, too") {
    Slot a;
    Slot b;
    next(now, a);
    next(now, b);
    const TimePoint late = end_of_pause + seconds(2);
    CHECK_FALSE(next(late, a));
    CHECK(next(late, b) == late + milliseconds(10));
    CHECK_FALSE(next(late + milliseconds(10), b));
}

TEST_CASE_METHOD(DemandedPause, "HTTP/2 pause: whoever has sent may send again at any time") {
    Slot slot;
    next(now, slot);
    CHECK_FALSE(next(end_of_pause, slot));
    CHECK_FALSE(next(end_of_pause + seconds(5), slot));
    demand(end_of_pause + seconds(6));
    CHECK(next(end_of_pause + seconds(7), slot) == end_of_pause + seconds(36));
}

}  // namespace k8s_sd::detail
