#include "k8s_sd/detail/watch/watch_failures.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace std::chrono_literals;
using k8s_sd::TimePoint;
using k8s_sd::detail::WatchProgress;

TEST_CASE("WatchProgress: it is missing after a quarter of an hour") {
    const TimePoint now{24h};
    WatchProgress progress;
    progress.on_progress(now);
    CHECK_FALSE(progress.is_missing(now + 15min - 1ns));
    CHECK(progress.is_missing(now + 15min));
    progress.on_progress(now + 15min);
    CHECK_FALSE(progress.is_missing(now + 16min));
}

TEST_CASE("WatchProgress: a bookmark of a known version is no progress") {
    const TimePoint now{24h};
    WatchProgress progress;
    progress.on_progress(now);
    progress.on_bookmark();
    CHECK(progress.is_missing(now + 15min));
}

TEST_CASE("WatchProgress: a quiet server begins a new period, and is doubted if it had bookmarks") {
    const TimePoint now{24h};
    WatchProgress progress;
    progress.on_progress(now);
    CHECK_FALSE(progress.on_quiet(now + 15min));
    CHECK_FALSE(progress.is_missing(now + 16min));
    progress.on_bookmark();
    CHECK(progress.on_quiet(now + 30min));
    CHECK(progress.on_quiet(now + 45min));
}
