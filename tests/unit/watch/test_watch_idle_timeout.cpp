#include "k8s_sd/detail/watch/watch_idle_timeout.hpp"

#include <catch2/catch_test_macros.hpp>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;

/// The timeout policy, with the values learned from its server, and the time.
struct Timeouts {
    explicit Timeouts(Duration silence) { timeout.begin_watch(silence); }
    void bookmark_after(Duration wait) { timeout.on_bookmark(now += wait); }
    Duration allowed() const { return timeout.allowed(); }

    BookmarkCadence cadence;
    WatchIdleTimeout timeout{cadence};
    TimePoint now{1h};
};

TEST_CASE("WatchIdleTimeout: without bookmarks any silence up to that of the request is allowed") {
    CHECK(Timeouts(310s).allowed() == 310s);
    CHECK(Timeouts(0s).allowed() == 0s);
}

TEST_CASE("WatchIdleTimeout: one bookmark teaches nothing, the second one the interval") {
    Timeouts p(610s);
    p.bookmark_after(200s);
    CHECK(p.allowed() == 610s);
    p.bookmark_after(60s);
    CHECK(p.allowed() == 150s);
}

TEST_CASE("WatchIdleTimeout: what one watch of a server has learned serves the others, once they "
          "have a bookmark of their own") {
    Timeouts p(610s);
    p.bookmark_after(0s);
    p.bookmark_after(60s);
    WatchIdleTimeout other(p.cadence);
    other.begin_watch(610s);
    CHECK(other.allowed() == 610s);
    other.on_bookmark(p.now);
    CHECK(other.allowed() == 150s);
}

TEST_CASE("WatchIdleTimeout: one gap among many intervals changes nothing") {
    Timeouts p(610s);
    for (int i = 0; i < 5; ++i) p.bookmark_after(60s);
    p.bookmark_after(200s);
    CHECK(p.allowed() == 150s);
    for (int i = 0; i < 10; ++i) p.bookmark_after(60s);
    CHECK(p.allowed() == 150s);
}

TEST_CASE("WatchIdleTimeout: a server that changes its ways is understood after some intervals") {
    Timeouts p(1h);
    for (int i = 0; i < 20; ++i) p.bookmark_after(60s);
    for (int i = 0; i < 5; ++i) p.bookmark_after(200s);
    CHECK(p.allowed() == 500s);
    for (int i = 0; i < 5; ++i) p.bookmark_after(60s);
    CHECK(p.allowed() == 150s);
}

TEST_CASE("WatchIdleTimeout: it is 90 s at least, and never more than the request allows") {
    Timeouts p(1h);
    p.bookmark_after(0s);
    p.bookmark_after(0s);
    CHECK(p.allowed() == 90s);
    p.timeout.begin_watch(20s);
    CHECK(p.allowed() == 20s);
    p.timeout.begin_watch(0s);
    CHECK(p.allowed() == 90s);
}

TEST_CASE("WatchIdleTimeout: the time between two watches is no interval") {
    Timeouts p(1h);
    p.bookmark_after(0s);
    p.bookmark_after(60s);
    p.timeout.begin_watch(1h);
    CHECK(p.allowed() == 150s);
    p.bookmark_after(30min);
    CHECK(p.allowed() == 150s);
}

TEST_CASE("WatchIdleTimeout: silence does not make it forget; from the second time on it doubles") {
    Timeouts p(1h);
    p.bookmark_after(0s);
    p.bookmark_after(60s);
    p.timeout.on_silence();
    CHECK(p.allowed() == 150s);
    p.timeout.on_silence();
    CHECK(p.allowed() == 300s);
    p.timeout.on_silence();
    CHECK(p.allowed() == 600s);
    for (int i = 0; i < 40; ++i) p.timeout.on_silence();
    CHECK(p.allowed() == 1h);
    p.bookmark_after(1s);
    CHECK(p.allowed() == 150s);
}

}  // namespace
}  // namespace k8s_sd::detail
