#include "k8s_sd/detail/watch/failure.hpp"

#include <catch2/catch_test_macros.hpp>

namespace k8s_sd::detail {

namespace {

Failure failure_with(errc error, Proof over_with = Proof::life) { return {error, {}, over_with}; }

}  // namespace

TEST_CASE("PastFailures: alternating errors are logged once each until the watch works") {
    PastFailures failures;
    CHECK(failures.add(failure_with(errc::forbidden), false));
    CHECK(failures.add(failure_with(errc::server_error), false));
    CHECK_FALSE(failures.add(failure_with(errc::forbidden), false));
    CHECK_FALSE(failures.add(failure_with(errc::server_error), false));
    failures = {};
    CHECK(failures.add(failure_with(errc::forbidden), false));
}

TEST_CASE("PastFailures: the strongest required evidence counts, whatever failed last") {
    PastFailures failures;
    CHECK(failures.over_with() == Proof::life);
    failures.add(failure_with(errc::server_error, Proof::long_life), true);
    failures.add(failure_with(errc::server_error, Proof::steady_life), false);
    CHECK(failures.over_with() == Proof::long_life);
    CHECK(failures.of_watch());
    failures = {};
    CHECK(failures.over_with() == Proof::life);
    CHECK_FALSE(failures.of_watch());
}

}  // namespace k8s_sd::detail
