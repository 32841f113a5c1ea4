#include "k8s_sd/detail/watch/probe_plan.hpp"

#include <catch2/catch_test_macros.hpp>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;

/// A plan with an owed probe and a doubt.
ProbePlan doubtful(ListReason reason) {
    ProbePlan plan;
    plan.owe();
    plan.doubt(reason);
    return plan;
}

TEST_CASE("ProbePlan: a successful probe pays the debt, and its doubt leads to one list") {
    ProbePlan plan = doubtful(ListReason::failing_watch);
    CHECK(plan.is_owed());
    CHECK(plan.on_success() == ListReason::failing_watch);
    CHECK_FALSE(plan.is_owed());
    CHECK_FALSE(plan.on_success());
}

TEST_CASE("ProbePlan: a failed probe removes each doubt but a silence, and stays owed") {
    for (const ListReason reason : {ListReason::failing_watch, ListReason::polling}) {
        ProbePlan plan = doubtful(reason);
        plan.on_failure(true, false);
        CHECK(plan.is_owed());
        CHECK_FALSE(plan.on_success());
    }
    ProbePlan plan = doubtful(ListReason::silence);
    plan.on_failure(true, false);
    CHECK(plan.on_success() == ListReason::silence);
}

TEST_CASE("ProbePlan: every second failed probe leads to a watch, and each denied one") {
    ProbePlan plan;
    for (int i = 0; i < 3; ++i) {
        CHECK_FALSE(plan.on_failure(true, false));
        CHECK(plan.on_failure(true, false));
    }
    CHECK(plan.on_failure(true, true));
    CHECK_FALSE(plan.on_failure(true, false));
    plan.on_success();
    CHECK_FALSE(plan.on_failure(true, false));
}

TEST_CASE("ProbePlan: a probe that was not sent proves nothing") {
    ProbePlan plan;
    for (int i = 0; i < 10; ++i) CHECK_FALSE(plan.on_failure(false, false));
}

TEST_CASE(
    "ProbePlan: if the server rejects probes, the list itself decides, unless it would poll") {
    ProbePlan silent = doubtful(ListReason::silence);
    CHECK(silent.on_rejection() == ListReason::silence);
    CHECK_FALSE(silent.on_rejection());
    CHECK(silent.is_owed());
    ProbePlan denied = doubtful(ListReason::polling);
    CHECK_FALSE(denied.on_rejection());
    CHECK(denied.on_success() == ListReason::polling);
}

TEST_CASE("ProbePlan: an old object is doubted once an hour, and always while a probe is owed") {
    const TimePoint now{24h};
    ProbePlan plan;
    CHECK(plan.doubts_old_objects(now));
    plan.on_old_object(now);
    CHECK(plan.is_owed());
    CHECK(plan.doubts_old_objects(now));
    CHECK(plan.on_success() == ListReason::silence);
    CHECK_FALSE(plan.doubts_old_objects(now + 1h - 1ns));
    CHECK(plan.doubts_old_objects(now + 1h));
    plan.owe();
    CHECK(plan.doubts_old_objects(now + 1min));
}

TEST_CASE("ProbePlan: a new beginning removes the doubt, another server the debt as well") {
    ProbePlan plan = doubtful(ListReason::silence);
    plan.forget_doubt();
    CHECK(plan.is_owed());
    CHECK_FALSE(plan.on_success());
    plan = doubtful(ListReason::silence);
    plan.on_other_server();
    CHECK_FALSE(plan.is_owed());
    CHECK_FALSE(plan.on_success());
}

}  // namespace
}  // namespace k8s_sd::detail
