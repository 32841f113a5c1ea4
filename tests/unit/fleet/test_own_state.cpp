#include "k8s_sd/detail/fleet/fleet_gauges.hpp"
#include "k8s_sd/detail/fleet/hold_report.hpp"
#include "k8s_sd/detail/fleet/own_state.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace k8s_sd::detail {

using namespace std::chrono_literals;

TEST_CASE("OwnState: a member is ready once it has synced and the members have been seen") {
    OwnState own;
    own.set_synced(true);
    CHECK_FALSE(own.note_readiness());
    own.on_seen();
    CHECK(own.is_ready());
    CHECK(own.note_readiness());
    CHECK_FALSE(own.note_readiness());
    REQUIRE(own.begin_announcing());
    CHECK(own.next() == MemberState::active);
    CHECK_FALSE(own.next());
}

TEST_CASE("OwnState: changes are announced in order, by one caller at a time") {
    OwnState own;
    own.on_seen();
    own.set_synced(true);
    CHECK(own.note_readiness());
    REQUIRE(own.begin_announcing());
    CHECK(own.next() == MemberState::active);
    own.set_synced(false);
    CHECK(own.note_readiness());
    CHECK_FALSE(own.begin_announcing());
    CHECK(own.next() == MemberState::joining);
    CHECK_FALSE(own.next());
    CHECK(own.begin_announcing());
}

TEST_CASE("OwnState: a member that has left announces nothing more") {
    OwnState own;
    CHECK(own.leave());
    CHECK_FALSE(own.leave());
    own.on_seen();
    own.set_synced(true);
    CHECK_FALSE(own.note_readiness());
    REQUIRE(own.begin_announcing());
    CHECK(own.next() == MemberState::leaving);
    CHECK_FALSE(own.next());
}

TEST_CASE("HoldReport: an alarm is logged at most once a minute, however often it comes") {
    HoldReport report;
    CHECK_FALSE(report.is_to_log(ViewHold::unknown, true, TimePoint{0s}));
    CHECK(report.is_to_log(ViewHold::half_missing, true, TimePoint{1s}));
    CHECK_FALSE(report.is_to_log(ViewHold::half_missing, true, TimePoint{90s}));
    CHECK_FALSE(report.is_to_log(ViewHold::none, true, TimePoint{91s}));
    CHECK(report.is_to_log(ViewHold::half_missing, true, TimePoint{92s}));
    CHECK_FALSE(report.is_to_log(ViewHold::none, true, TimePoint{93s}));
    CHECK_FALSE(report.is_to_log(ViewHold::half_missing, true, TimePoint{120s}));
    CHECK(report.is_to_log(ViewHold::empty, true, TimePoint{121s}));
}

TEST_CASE("HoldReport: a source that has not answered yet is no news, one that fails is") {
    HoldReport report;
    CHECK_FALSE(report.is_to_log(ViewHold::away, false, TimePoint{1s}));
    report.set_reason("no permission");
    CHECK(report.is_to_log(ViewHold::away, false, TimePoint{2s}));
    CHECK(report.words(ViewHold::away) == "the members cannot be listed at present: no permission");
    CHECK(report.words(ViewHold::none).empty());
}

TEST_CASE("FleetGauges: two memberships add up, and one that ends takes its part with it") {
    const auto metrics = std::make_shared<Metrics>();
    FleetGauges first(metrics);
    first.on_hold(true);
    {
        FleetGauges second(metrics);
        second.on_hold(true);
        second.on_view(FleetView({"a", "b"}));
        CHECK(metrics->fleet_alarms == 2);
        CHECK(metrics->fleet_members == 2);
        CHECK(metrics->fleet_memberships == 2);
    }
    CHECK(metrics->fleet_memberships == 1);
    CHECK(metrics->fleet_alarms == 1);
    CHECK(metrics->fleet_members == 0);
    CHECK(metrics->fleet_views == 1);
    first.on_hold(false);
    CHECK(metrics->fleet_alarms == 0);
}

}  // namespace k8s_sd::detail
