#include "k8s_sd/detail/watch/stream_record.hpp"

#include <catch2/catch_test_macros.hpp>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;

struct Record : StreamRecord {
    void stream(Duration life, int events = 0) {
        begin(now);
        for (int i = 0; i < events; ++i) on_event(true);
        end(now += life);
    }
    TimePoint now{1h};
};

TEST_CASE("StreamRecord: what has not begun does not end") {
    Record r;
    CHECK_FALSE(r.end(r.now));
    CHECK(r.last().is_short());
    r.stream(1min);
    CHECK_FALSE(r.end(r.now));
}

TEST_CASE("StreamRecord: a stream is short that brings nothing within five seconds") {
    Record r;
    r.stream(4999ms);
    CHECK(r.rows().short_ones == 1);
    r.stream(0s);
    CHECK(r.rows().short_ones == 2);
    r.stream(0s, 1);
    CHECK(r.rows().short_ones == 0);
    r.stream(0s);
    r.stream(5s);
    CHECK(r.rows().short_ones == 0);
}

TEST_CASE("StreamRecord: a stream has proven to work after half a minute, or a second with news") {
    Record r;
    r.stream(29s);
    CHECK_FALSE(r.last().proven());
    r.stream(30s);
    CHECK(r.last().proven());
    r.stream(1s, 1);
    CHECK(r.last().proven());
    r.stream(999ms, 1);
    CHECK_FALSE(r.last().proven());
    r.begin(r.now);
    r.on_event(false);  // the known version
    r.end(r.now += 2s);
    CHECK_FALSE(r.last().proven());
}

TEST_CASE("StreamRecord: silence is counted in a row, and not behind an event") {
    Record r;
    r.stream(5min);
    r.on_silence();
    r.stream(5min);
    r.on_silence();
    CHECK(r.rows().silent == 2);
    r.stream(5min, 1);
    r.on_silence();
    CHECK(r.rows().silent == 0);
}

}  // namespace
}  // namespace k8s_sd::detail
