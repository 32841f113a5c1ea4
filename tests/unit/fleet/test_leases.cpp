#include "k8s_sd/detail/fleet/lease_keeper.hpp"
#include "k8s_sd/detail/fleet/leases.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/parse.hpp>
#include <chrono>
#include <string>
#include <vector>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;
using Step = LeasePlan::Step;
using Next = LeasePlan::Next;

TEST_CASE("LeasePlan: a Lease is created, and then updated without a read") {
    LeasePlan plan;
    CHECK(plan.step() == Step::create);
    CHECK(plan.on_answer(201, "7") == Next::done);
    CHECK(plan.step() == Step::update);
    CHECK(plan.version() == "7");
    CHECK(plan.on_answer(200, "9") == Next::done);
    CHECK(plan.version() == "9");
}

TEST_CASE("LeasePlan: one that is there already is read and taken over") {
    LeasePlan plan;
    CHECK(plan.on_answer(409, "") == Next::again);
    CHECK(plan.step() == Step::read);
    CHECK(plan.on_answer(200, "5") == Next::again);
    CHECK(plan.step() == Step::update);
    CHECK(plan.version() == "5");
}

TEST_CASE("LeasePlan: one that somebody has changed is read, one that is gone is created again") {
    LeasePlan plan;
    plan.on_answer(201, "1");
    CHECK(plan.on_answer(409, "") == Next::again);
    CHECK(plan.step() == Step::read);
    plan.on_answer(200, "2");
    CHECK(plan.on_answer(404, "") == Next::again);
    CHECK(plan.step() == Step::create);
    CHECK(plan.on_answer(201, "3") == Next::done);
    plan.on_answer(409, "");
    CHECK(plan.on_answer(404, "") == Next::again);
    CHECK(plan.step() == Step::create);
}

TEST_CASE("LeasePlan: whatever the server says, a few steps in a row are enough") {
    for (const unsigned status : {200U, 404U, 409U}) {
        LeasePlan plan;
        int steps = 1;
        while (plan.on_answer(status, "") == Next::again) ++steps;
        CHECK(steps <= 5);
    }
    LeasePlan plan;
    int steps = 1;
    while (plan.on_answer(plan.step() == Step::read ? 200U : 409U,
                          plan.step() == Step::read ? "1" : "") == Next::again) {
        ++steps;
    }
    CHECK(steps <= 5);
}

TEST_CASE("LeasePlan: a failure changes nothing but the time") {
    LeasePlan plan;
    plan.on_answer(201, "7");
    for (const unsigned status : {0U, 401U, 403U, 422U, 429U, 500U, 200U, 201U}) {
        CHECK(plan.on_answer(status, "") == Next::later);
        CHECK(plan.step() == Step::update);
        CHECK(plan.version() == "7");
    }
}

TEST_CASE("lease_text: is what the API server takes") {
    LeaseRecord record{.fleet = "agents",
                       .ns = "monitoring",
                       .member = "agent-0",
                       .state = MemberState::active,
                       .duration = 30s,
                       .pod_uid = "u-1"};
    const auto at = std::chrono::system_clock::time_point(1'767'323'045'678'901us);
    const boost::json::value lease = boost::json::parse(lease_text(record, "12", at));
    const boost::json::value expected = boost::json::parse(R"({
      "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
      "metadata": {"name": "agents.agent-0", "namespace": "monitoring",
                   "labels": {"k8s-sd/fleet": "agents"}, "annotations": {"k8s-sd/state": "active"},
                   "resourceVersion": "12",
                   "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "agent-0",
                                        "uid": "u-1"}]},
      "spec": {"holderIdentity": "agent-0", "leaseDurationSeconds": 30,
               "renewTime": "2026-01-02T03:04:05.678901Z"}})");
    CHECK(lease == expected);

    record.pod_uid.clear();
    record.duration = 1ms;
    const boost::json::value first = boost::json::parse(lease_text(record, "", at));
    CHECK_FALSE(first.at("metadata").as_object().contains("resourceVersion"));
    CHECK_FALSE(first.at("metadata").as_object().contains("ownerReferences"));
    CHECK(first.at("spec").at("leaseDurationSeconds") == 1);
}

TEST_CASE(
    "read_lease_answer: the version of a Lease, the message of a Status, nothing of all else") {
    CHECK(read_lease_answer(R"({"kind":"Lease","metadata":{"resourceVersion":"4"}})").version ==
          "4");
    const LeaseAnswer status =
        read_lease_answer(R"({"kind":"Status","message":"no","metadata":{"resourceVersion":"4"}})");
    CHECK(status.version.empty());
    CHECK(status.message == "no");
    const std::string long_text(1 << 16, 'x');
    const std::string foreign =
        read_lease_answer(R"({"kind":"Status","message":"a\u001b[2J\n)" + long_text + "\"}")
            .message;
    CHECK(foreign.size() < 2000);
    CHECK(foreign.find_first_of("\x1b\n") == foreign.npos);
    for (const char* body :
         {"", "{", "[]", "null", "\"Lease\"", R"({"kind":"Lease"})", R"({"kind":1,"metadata":[]})",
          R"({"kind":"Lease","metadata":{"resourceVersion":4}})", "{\"kind\":\"Lease\"", "\xff"}) {
        CHECK(read_lease_answer(body).version.empty());
    }
}

Generic lease_object(const char* spec) {
    Generic lease;
    lease.content = boost::json::parse(spec).as_object();
    return lease;
}

TEST_CASE("read_lease: hostile values count as absent, and no duration is long") {
    CHECK(read_lease(lease_object("{}")).member.empty());
    CHECK(read_lease(lease_object(R"({"spec":7})")).member.empty());
    const LeaseSight odd = read_lease(lease_object(
        R"({"spec":{"holderIdentity":["a"],"leaseDurationSeconds":"30","renewTime":{}}})"));
    CHECK(odd.member.empty());
    CHECK(odd.duration == Duration{});
    const LeaseSight ever = read_lease(lease_object(
        R"({"spec":{"holderIdentity":"a","leaseDurationSeconds":9223372036854775807}})"));
    CHECK(ever.duration == 1h);
    const LeaseSight never =
        read_lease(lease_object(R"({"spec":{"holderIdentity":"a","leaseDurationSeconds":-5}})"));
    CHECK(never.duration == Duration{});
}

LeaseSight sight_of(const std::string& member, MemberState state = MemberState::active) {
    return {.member = member, .state = state, .duration = 30s, .renewed = ""};
}

TEST_CASE("LeaseSights: a Lease expires when it has not changed for its duration") {
    LeaseSights sights("a");
    const TimePoint now{1h};
    sights.put("l-a", sight_of("a"), true, now);
    sights.put("l-b", sight_of("b", MemberState::joining), true, now + 10s);
    CHECK(sights.members(now + 29s) ==
          std::vector<FleetMember>{{"a", MemberState::active}, {"b", MemberState::joining}});
    CHECK(sights.next_expiry(now + 10s) == now + 30s);
    CHECK(sights.members(now + 30s) == std::vector<FleetMember>{{"b", MemberState::joining}});
    CHECK(sights.sees_itself(now + 29s));
    CHECK_FALSE(sights.sees_itself(now + 30s));
    CHECK(sights.next_expiry(now + 30s) == now + 40s);
    CHECK_FALSE(sights.next_expiry(now + 40s));
    sights.begin_again(now + 1h);
    CHECK(sights.members(now + 1h + 29s).size() == 2);
    sights.remove("l-a");
    CHECK_FALSE(sights.sees_itself(now + 1h));
}

TEST_CASE("LeaseSights: what expired before sight was lost is not alive when it is back") {
    LeaseSights sights("a");
    const TimePoint now{1h};
    sights.put("l-a", sight_of("a"), true, now);
    sights.put("l-dead", sight_of("dead"), true, now);
    sights.put("l-a", sight_of("a"), true, now + 29s);
    sights.expire(now + 31s);
    sights.begin_again(now + 10min);
    CHECK(sights.members(now + 10min) == std::vector<FleetMember>{{"a", MemberState::active}});
    sights.put("l-dead", sight_of("dead"), true, now + 11min);
    CHECK(sights.members(now + 11min).size() == 1);
}

TEST_CASE("LeaseSights: of the first list nothing is known before it is renewed, or has expired") {
    LeaseSights sights("a");
    const TimePoint now{1h};
    sights.put("l-b", sight_of("b"), false, now);
    sights.put("l-dead", sight_of("dead"), false, now);
    sights.put("l-a", sight_of("a"), true, now);
    CHECK_FALSE(sights.is_whole(now));
    sights.put("l-b", sight_of("b"), true, now + 9s);
    CHECK_FALSE(sights.is_whole(now + 29s));
    CHECK(sights.is_whole(now + 30s));
}

TEST_CASE("LeaseSights: a released Lease has no member") {
    LeaseSights sights("a");
    sights.put("l", sight_of(""), true, TimePoint(1h));
    CHECK(sights.members(TimePoint(1h)).empty());
}

}  // namespace
}  // namespace k8s_sd::detail
