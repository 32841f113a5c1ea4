#include "k8s_sd/detail/watch/pacing.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace std::chrono_literals;
using k8s_sd::Duration;
using k8s_sd::detail::ApiAbsence;

TEST_CASE("ApiAbsence: one 404 may come from a proxy, the second in a row is believed") {
    ApiAbsence absence(1);
    CHECK_FALSE(absence.on_absent());
    CHECK(absence.on_absent());
    CHECK(absence.on_absent());
    absence.reset();
    CHECK_FALSE(absence.on_absent());
}

TEST_CASE("ApiAbsence: a custom kind may be defined at any time: its pauses stay below a minute") {
    ApiAbsence absence(1, true);
    for (int i = 0; i < 20; ++i) CHECK(absence.pause() <= std::chrono::minutes(1));
    CHECK(absence.pause() >= std::chrono::seconds(30));
    // Each request of a watch may ask for the versions.
    CHECK(ApiAbsence::max_query_pause(true) <= std::chrono::seconds(30));
    CHECK(ApiAbsence::max_query_pause(false) == std::chrono::minutes(5));
}

TEST_CASE("ApiAbsence: its pauses grow from 5 s to five minutes, until a watch works") {
    ApiAbsence absence(1);
    for (const Duration d : {5s, 10s, 20s, 40s, 80s, 150s, 150s}) {
        const Duration pause = absence.pause();
        CHECK(pause >= d);
        CHECK(pause <= 2 * d);
    }
    absence.reset();
    CHECK(absence.pause() <= 10s);
}
