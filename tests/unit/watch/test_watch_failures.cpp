#include "k8s_sd/detail/watch/watch_failures.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace std::chrono_literals;
using k8s_sd::TimePoint;
using k8s_sd::detail::WatchFailures;

TEST_CASE("WatchFailures: the fifth failure in a row is one too many") {
    const TimePoint now{24h};
    WatchFailures failures;
    CHECK_FALSE(failures.any());
    for (int i = 0; i < 4; ++i) failures.on_failure(true, now);
    CHECK(failures.any());
    CHECK_FALSE(failures.too_often(now));
    failures.on_failure(true, now);
    CHECK(failures.too_often(now));
    failures.forget();
    CHECK_FALSE(failures.any());
    CHECK_FALSE(failures.too_often(now));
}

TEST_CASE("WatchFailures: two minutes of failures are too long, even of a busy server") {
    const TimePoint begin{24h};
    WatchFailures failures;
    CHECK_FALSE(failures.too_often(begin));
    for (int i = 0; i < 10; ++i) failures.on_failure(false, begin + i * 1s);
    CHECK_FALSE(failures.any());
    CHECK_FALSE(failures.too_often(begin + 2min - 1ns));
    CHECK(failures.too_often(begin + 2min));
    failures.forget();
    failures.on_failure(false, begin + 2min);
    CHECK_FALSE(failures.too_often(begin + 3min));
}

TEST_CASE("WatchFailures: malformed watches count until one delivers a new version") {
    WatchFailures failures;
    CHECK(failures.on_malformed() == 1);
    failures.on_watching();
    failures.forget();
    CHECK(failures.on_malformed() == 2);
    CHECK(failures.on_malformed() == WatchFailures::max_malformed);
    failures.on_news();
    CHECK(failures.on_malformed() == 1);
}

TEST_CASE("WatchFailures: the second rejection or denial in a row counts, until a watch begins") {
    WatchFailures failures;
    CHECK_FALSE(failures.on_rejection());
    CHECK_FALSE(failures.on_denial());
    CHECK(failures.on_rejection());
    CHECK(failures.on_denial());
    failures.on_watching();
    CHECK_FALSE(failures.on_rejection());
    CHECK_FALSE(failures.on_denial());
}

TEST_CASE("WatchFailures: a list proves that lists are allowed, until a watch works") {
    WatchFailures failures;
    failures.on_watching();
    CHECK_FALSE(failures.lists_are_allowed());
    failures.on_list();
    CHECK(failures.lists_are_allowed());
    failures.on_watching();
    CHECK_FALSE(failures.lists_are_allowed());
}
