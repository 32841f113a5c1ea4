#include "k8s_sd/detail/transport/http2/http2_pause.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>

namespace k8s_sd::detail {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const TimePoint start{seconds(1'000)};
const TimePoint end = start + seconds(30);

struct DemandedPause : Http2Pause {
    DemandedPause() { demand(start); }
};

}  // namespace

TEST_CASE_METHOD(DemandedPause, "HTTP/2 pause: requests follow at an interval after it") {
    Slot a;
    Slot b;
    CHECK(next(start, a) == end);
    CHECK(next(start, b) == end + milliseconds(10));
    CHECK_FALSE(next(end, a));
    CHECK(next(end, b) == end + milliseconds(10));
    CHECK_FALSE(next(end + milliseconds(10), b));
}

TEST_CASE_METHOD(DemandedPause, "HTTP/2 pause: late requests follow at the interval, too") {
    Slot a;
    Slot b;
    next(start, a);
    next(start, b);
    const TimePoint late = end + seconds(2);
    CHECK_FALSE(next(late, a));
    CHECK(next(late, b) == late + milliseconds(10));
    CHECK_FALSE(next(late + milliseconds(10), b));
}

TEST_CASE_METHOD(DemandedPause, "HTTP/2 pause: whoever has sent may send again at any time") {
    Slot slot;
    next(start, slot);
    CHECK_FALSE(next(end, slot));
    CHECK_FALSE(next(end + seconds(5), slot));
    demand(end + seconds(6));
    CHECK(next(end + seconds(7), slot) == end + seconds(36));
}

}  // namespace k8s_sd::detail
