#include "integration/fleet/fleet_fixture.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/fleet/membership.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/sim/builders.hpp"
#include "support/config_fixtures.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <boost/asio/detached.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("Membership: static members are there at once") {
    Simulation s;
    Agent agent(s, static_members(s.context.get_executor(), ordinal_members("agent-1", 3)),
                "agent-1");
    CHECK(agent.view() == "none");
    CHECK(agent.membership.share().is_shared());
    CHECK_FALSE(agent.membership.share().owns(1));
    CHECK(s.metrics->fleet_memberships == 1);
    CHECK(s.metrics->fleet_members == 0);
    s.settle();
    CHECK(agent.take() == Views{"agent-0 agent-1 agent-2"});
    CHECK(agent.hold() == "none");
    CHECK_FALSE(agent.membership.ready());
    agent.membership.set_synced();
    CHECK(agent.membership.ready());
    CHECK(agent.membership.status().ready);
    agent.membership.set_synced(false);
    CHECK_FALSE(agent.membership.ready());
    CHECK(s.metrics->fleet_members == 3);
    CHECK(s.metrics->fleet_views == 1);
}

TEST_CASE("Membership: the slices of a Service divide the targets between two members") {
    Pods s;
    s.put("agent-0", Pods::ready);
    s.put("agent-1", Pods::not_ready);
    Agent agent(s, s.source(), "agent-1");
    s.settle();
    CHECK(agent.take() == Views{"agent-0"});
    CHECK_FALSE(agent.membership.share().owns(1));
    agent.membership.set_synced();
    CHECK(agent.membership.ready());

    s.put("agent-1", Pods::ready);
    CHECK(agent.take().empty());
    CHECK(agent.hold() == "debounce");
    s.advance(2s);
    CHECK(agent.take() == Views{"agent-0 agent-1"});

    s.put("agent-0", Pods::terminating);
    s.advance(2s);
    CHECK(agent.take() == Views{"agent-1"});
    s.remove("agent-0");
    s.advance(1h);
    CHECK(agent.take().empty());
    CHECK(agent.membership.share().owns(1));
    CHECK(agent.membership.status().views == 3);
}

TEST_CASE("Membership: a published address alone makes no member active") {
    Pods s;
    s.publish_not_ready = true;
    s.put("agent-0", Pods::ready);
    s.put("agent-1", Pods::not_ready);
    s.put("agent-2", Pods::terminating);
    Agent agent(s, s.source(), "agent-0");
    s.settle();
    CHECK(agent.view() == "agent-0");
    CHECK(agent.membership.status().members ==
          std::vector<FleetMember>{{"agent-0", MemberState::active},
                                   {"agent-1", MemberState::joining},
                                   {"agent-2", MemberState::leaving}});
}

TEST_CASE("Membership: with dual stack, and in two slices, a pod is one member") {
    Pods s;
    s.server.apply(sim::endpoint_slice("monitoring", "a", "agents")
                       .endpoint("10.0.0.1")
                       .pod("agent-0")
                       .ready()
                       .endpoint("10.0.0.2")
                       .pod("agent-1")
                       .ready());
    s.server.apply(sim::endpoint_slice("monitoring", "b", "agents")
                       .address_type("IPv6")
                       .endpoint("fd00::1")
                       .pod("agent-0")
                       .ready()
                       .endpoint("fd00::2")
                       .pod("agent-1")
                       .ready());
    s.server.apply(sim::endpoint_slice("monitoring", "c", "others")
                       .endpoint("10.0.0.3")
                       .pod("stranger")
                       .ready());
    s.server.apply(
        sim::endpoint_slice("elsewhere", "a", "agents").endpoint("10.0.0.4").pod("far").ready());
    Agent agent(s, s.source(), "agent-0");
    s.settle();
    CHECK(agent.view() == "agent-0 agent-1");
    s.server.remove("endpointslices", "monitoring", "a");
    s.settle();
    s.advance(1min);
    CHECK(agent.view() == "agent-0 agent-1");
}

TEST_CASE("Membership: an endpoint without a pod is known by its hostname, else by its address") {
    Pods s;
    s.server.apply(sim::endpoint_slice("monitoring", "a", "agents")
                       .endpoint("10.0.0.1")
                       .hostname("host")
                       .endpoint("10.0.0.2"));
    Agent agent(s, s.source(), "host");
    s.settle();
    CHECK(agent.view() == "10.0.0.2 host");
}

TEST_CASE("Membership: a view stays while the API server is away, whatever time passes") {
    Pods s;
    s.put("agent-0", Pods::ready);
    s.put("agent-1", Pods::ready);
    Agent agent(s, s.source(), "agent-0");
    s.settle();
    s.put("agent-1", Pods::not_ready);
    s.advance(5s);
    s.down();
    s.advance(1h);
    CHECK(agent.view() == "agent-0 agent-1");
    CHECK(agent.hold() == "away");
    CHECK_THAT(agent.membership.status().message,
               ContainsSubstring("the members cannot be listed at present: "));
    CHECK(s.take_log().size() >= 1);

    s.server.accept_connections(true);
    s.advance(90s);
    CHECK(agent.view() == "agent-0");
}

TEST_CASE("Membership: who begins while the API server is away owns nothing, and is not ready") {
    Pods s;
    s.put("agent-0", Pods::ready);
    s.down();
    Agent agent(s, s.source(), "agent-0");
    agent.membership.set_synced();
    s.advance(10min);
    CHECK(agent.view() == "none");
    CHECK_FALSE(agent.membership.ready());
    CHECK(agent.hold() == "unknown");
    s.server.accept_connections(true);
    s.advance(1min);
    CHECK(agent.view() == "agent-0");
    CHECK(agent.membership.ready());
}

TEST_CASE("Membership: without permission it says what is missing") {
    Pods s;
    s.put("agent-0", Pods::ready);
    s.server.deny("endpointslices");
    Agent agent(s, s.source(), "agent-0");
    s.advance(1s);
    CHECK(agent.hold() == "unknown");
    CHECK_THAT(agent.membership.status().message, ContainsSubstring("endpointslices"));
}

TEST_CASE("Membership: that this member is missing is an alarm, which says where to look") {
    Pods s;
    s.put("agent-0", Pods::ready);
    s.put("agent-1", Pods::ready);
    Agent agent(s, s.source(), "agent-0");
    s.settle();
    s.remove("agent-0");
    s.advance(20s);
    CHECK(agent.hold() == "self_missing");
    CHECK_THAT(agent.membership.status().message, ContainsSubstring("that the Service selects"));
    CHECK(s.metrics->fleet_alarms == 1);
    CHECK(s.take_log().size() == 1);
    s.advance(1min);
    CHECK(agent.view() == "agent-1");
    // The view equals the observed members, but a problem remains.
    CHECK(agent.hold() == "self_missing");
    CHECK(s.metrics->fleet_alarms == 1);
    s.put("agent-0", Pods::not_ready);
    CHECK(s.metrics->fleet_alarms == 0);
}

TEST_CASE("Membership: an update of all members one after the other moves targets and loses none") {
    Pods s;
    for (const char* pod : {"agent-0", "agent-1", "agent-2"}) s.put(pod, Pods::ready);
    Agent agent(s, s.source(), "agent-0");
    s.settle();
    for (const char* pod : {"agent-2", "agent-1"}) {
        s.put(pod, Pods::terminating);
        s.advance(10s);
        CHECK(agent.membership.share().view()->size() == 2);
        s.remove(pod);
        s.advance(10s);
        s.put(pod, Pods::not_ready);
        s.advance(20s);
        CHECK(agent.membership.share().view()->size() == 2);
        s.put(pod, Pods::ready);
        s.advance(3s);
        CHECK(agent.membership.share().view()->size() == 3);
    }
    CHECK(agent.membership.status().views == 5);
}

TEST_CASE("Membership: it watches one Service of one namespace, and only what it needs") {
    Pods s;
    s.put("agent-0", Pods::ready);
    s.take_requests();
    Agent agent(s, s.source(), "agent-0");
    s.settle();
    const auto requests = s.take_requests();
    REQUIRE_FALSE(requests.empty());
    for (const std::string& request : requests) {
        CHECK_THAT(request, ContainsSubstring("/namespaces/monitoring/endpointslices"));
    }
}

TEST_CASE("Membership: ends when it is cancelled, and reports nothing more") {
    Pods s;
    s.put("agent-0", Pods::ready);
    Agent agent(s, s.source(), "agent-0");
    s.settle();
    agent.take();
    s.put("agent-1", Pods::ready);
    agent.membership.cancel();
    agent.membership.cancel();
    s.advance(1min);
    CHECK(agent.ended() == asio::error::operation_aborted);
    CHECK(agent.take().empty());
    CHECK(agent.view() == "agent-0");
    std::optional<error_code> again;
    agent.membership.async_run([&](error_code ec) { again = ec; });
    s.settle();
    CHECK(again == asio::error::operation_aborted);
}

TEST_CASE("Membership: may be destroyed in its callback, and with its context") {
    auto s = std::make_unique<Pods>();
    s->put("agent-0", Pods::ready);
    std::optional<Membership> membership;
    membership.emplace(s->context.get_executor(),
                       MembershipConfig{.source = s->source(), .self = "agent-0"},
                       [&](const FleetShare&) { membership.reset(); });
    membership->async_run(asio::detached);
    s->settle();
    CHECK_FALSE(membership);
    std::optional<Membership> other;
    other.emplace(s->context.get_executor(),
                  MembershipConfig{.source = s->source(), .self = "agent-0"},
                  [](const FleetShare&) {});
    other->async_run(asio::detached);
    other.reset();
    s.reset();
}

TEST_CASE("Membership: a second run is refused, and so is what cannot work") {
    Simulation s;
    const auto executor = s.context.get_executor();
    const auto members = [&] { return static_members(executor, {"a"}); };
    Agent agent(s, members(), "a");
    std::optional<error_code> second;
    agent.membership.async_run([&](error_code ec) { second = ec; });
    s.settle();
    CHECK(second == asio::error::already_started);

    const auto refused = [&](MembershipConfig config) {
        return config_error(
            [&] { Membership membership(executor, std::move(config), [](const FleetShare&) {}); });
    };
    CHECK(refused({.self = "a"}) == "source: needs a source of members, such as service_members()");
    CHECK(refused({.source = members()}) == "self: must be the name of this member");
    CHECK(refused({.source = members(), .self = "a", .replicas = 0}) ==
          "replicas: must be at least 1");
    CHECK(refused({.source = members(), .self = "a", .rules = {.debounce = -1s}}) ==
          "rules: a time must not be negative");
    CHECK_FALSE(config_error([&] { Membership(executor, {}, nullptr); }).empty());
    CHECK(config_error([&] { static_members(executor, {}); }) ==
          "members: name at least one member");
    CHECK(config_error([&] { service_members(executor, ""); }) ==
          "service: must be the name of a headless Service");
    WatcherConfig two;
    two.namespaces = {"a", "b"};
    CHECK_THAT(config_error([&] { service_members(executor, "agents", two); }),
               ContainsSubstring("a fleet is in one namespace"));
}

TEST_CASE("ordinal_members: the pods of a StatefulSet by the name of one") {
    CHECK(ordinal_members("agent-1", 3) ==
          std::vector<std::string>{"agent-0", "agent-1", "agent-2"});
    CHECK(ordinal_members("a-b-7", 2, 6) == std::vector<std::string>{"a-b-6", "a-b-7"});
    CHECK(ordinal_members("0", 2) == std::vector<std::string>{"0", "1"});
    for (const char* self : {"", "agent", "agent-", "agent-3", "agent-x1", "agent--1"}) {
        INFO(self);
        const std::string error = config_error([&] { ordinal_members(self, 3); });
        CHECK((error.starts_with("self: ") || std::string(self) == "agent--1"));
    }
}

TEST_CASE("Membership: an API server that comes and goes does not fill the log") {
    Pods s;
    s.put("agent-0", Pods::ready);
    Agent agent(s, s.source(), "agent-0");
    s.settle();
    std::size_t lines = 0;
    for (int i = 0; i < 60; ++i) {
        s.down();
        s.advance(2s);
        s.server.accept_connections(true);
        s.advance(3s);
        for (const std::string& line : s.take_log()) lines += line.starts_with("fleet: ") ? 1U : 0U;
    }
    CHECK(lines >= 1);
    CHECK(lines <= 6);
}
