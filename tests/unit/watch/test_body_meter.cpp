#include "k8s_sd/detail/watch/exchange_times.hpp"

#include <catch2/catch_test_macros.hpp>

namespace k8s_sd::detail {

using namespace std::chrono_literals;

TEST_CASE("BodyMeter: the time between two parts counts, that of processing does not") {
    BodyMeter meter;
    meter.on_head(TimePoint{1s});
    meter.begin_read(10, TimePoint{5s});  // the server's time
    CHECK(meter.total().wait == 0s);
    meter.end_read(TimePoint{8s});
    meter.begin_read(20, TimePoint{10s});
    CHECK(meter.arrived() == TimePoint{10s});
    CHECK(meter.total().bytes == 30);
    CHECK(meter.total().wait == 2s);
}

TEST_CASE("BodyMeter: a streamed list ends with its last object") {
    BodyMeter meter;
    meter.on_head(TimePoint{1s});
    meter.begin_read(10, TimePoint{1s});
    meter.on_listed();
    meter.end_read(TimePoint{1s});
    meter.begin_read(5, TimePoint{4s});
    CHECK(meter.listed().bytes == 10);
    CHECK(meter.listed().wait == 0s);
    meter.on_listed();
    CHECK(meter.listed().bytes == 15);
    CHECK(meter.listed().wait == 3s);
}

TEST_CASE("BodyMeter: of a watch it knows the arrival of its parts only") {
    BodyMeter meter;
    meter.on_head(TimePoint{1s});
    meter.begin_read(10, TimePoint{1s});
    meter.on_watch();
    meter.end_read(TimePoint{2s});
    meter.begin_read(5, TimePoint{4s});
    CHECK(meter.arrived() == TimePoint{4s});
    CHECK(meter.total().bytes == 0);
}

}  // namespace k8s_sd::detail
