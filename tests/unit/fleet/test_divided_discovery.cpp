#include "k8s_sd/detail/config/share_keys.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/fleet/divided_discovery.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace k8s_sd {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

std::vector<std::string> part_names(unsigned count) {
    std::vector<std::string> names;
    for (unsigned i = 0; i < count; ++i) names.push_back("agent-" + std::to_string(i));
    return names;
}
FleetViewPtr agent_view(unsigned count) {
    return std::make_shared<const FleetView>(part_names(count));
}

DiscoveryConfig divided_pods(unsigned slots = 256) {
    return {.role = Role::pod, .division = {DivideBy::objects, slots}};
}
DiscoveryConfig divided_namespaces(unsigned count) {
    DiscoveryConfig config{.role = Role::endpointslice, .division = {DivideBy::namespaces}};
    for (unsigned i = 0; i < count; ++i) config.namespaces.push_back("ns-" + std::to_string(i));
    return config;
}

std::string uid_of(unsigned i) {
    return "0c1f2a3b-0000-4000-8000-" + std::to_string(100'000'000'000 + i);
}
/// Whether the member owns targets of the object.
bool owns_object(const FleetShare& share, const Division& division, const std::string& uid) {
    return share.owns(detail::share_key_of(division, "ns", detail::fnv1a64(uid)));
}

struct PartMember {
    explicit PartMember(std::string n) : name(std::move(n)) {}
    void learn(const FleetViewPtr& view) { discovery.share(FleetShare(view, name), now); }
    void pass(Duration time) { discovery.finish_handovers(now += time); }
    ObjectShare objects(unsigned slots = 256) const {
        return discovery.part_of(divided_pods(slots)).value().share;
    }
    std::vector<std::string> namespaces(unsigned count) const {
        const auto part = discovery.part_of(divided_namespaces(count));
        return part ? part->namespaces : std::vector<std::string>();
    }

    std::string name;
    TimePoint now{1h};
    DividedDiscovery discovery;
};

TEST_CASE("DividedDiscovery: who does not know the members discovers nothing that is divided") {
    PartMember member("agent-0");
    CHECK_FALSE(member.discovery.part_of(divided_pods()));
    CHECK_FALSE(member.discovery.part_of(divided_namespaces(3)));
    CHECK(member.discovery.part_of(DiscoveryConfig{}) == DiscoveryConfig{});
    member.learn(nullptr);
    CHECK_FALSE(member.discovery.part_of(divided_pods()));
    CHECK_FALSE(member.discovery.next_handover());
}

TEST_CASE("DividedDiscovery: who is in no fleet discovers everything") {
    DividedDiscovery alone;
    alone.share(FleetShare(), TimePoint(1h));
    CHECK(alone.part_of(divided_pods())->share.is_all());
    CHECK(alone.part_of(divided_namespaces(3))->namespaces.size() == 3);
}

TEST_CASE("DividedDiscovery: the members have all objects together, and each has what it owns") {
    for (const unsigned count : {1U, 2U, 3U, 8U, 40U}) {
        const FleetViewPtr view = agent_view(count);
        for (const unsigned slots : {1U, 64U, 256U, 4096U}) {
            std::vector<ObjectShare> shares;
            double sum = 0;
            for (const std::string& name : part_names(count)) {
                PartMember member(name);
                member.learn(view);
                const auto part = member.discovery.part_of(divided_pods(slots));
                const FleetShare owned(view, name);
                for (unsigned i = 0; i < 500; ++i) {
                    if (!owns_object(owned, {DivideBy::objects, slots}, uid_of(i))) continue;
                    REQUIRE(part);
                    CHECK(part->share.contains(uid_of(i)));
                }
                if (!part) continue;
                CHECK(part->share.ranges().size() <= ObjectShare::max_ranges);
                sum += part->share.fraction();
            }
            CHECK(sum >= 1 - 1e-9);
            // Without overlap, if requests are short enough.
            if (slots <= 64 || (slots == 256 && count > 2)) CHECK(sum <= 1 + 1e-9);
        }
    }
}

TEST_CASE("DividedDiscovery: a share of too many ranges takes the smallest gaps with it") {
    PartMember member("agent-0");
    member.learn(agent_view(2));
    const ObjectShare share = member.objects(4096);
    CHECK(share.ranges().size() <= ObjectShare::max_ranges);
    CHECK(share.ranges().size() > ObjectShare::max_ranges / 4);
    CHECK(share.fraction() < 1);
    for (unsigned slot = 0; slot < 4096; ++slot) {
        if (!FleetShare(agent_view(2), "agent-0").owns(detail::slot_key(slot, 4096))) continue;
        const auto begin = detail::slot_begin(slot, 4096);
        CHECK(std::any_of(share.ranges().begin(), share.ranges().end(), [&](const HashRange& r) {
            return r.first <= begin && begin <= r.last - 1;
        }));
    }
}

TEST_CASE("DividedDiscovery: a member that is about to join discovers what it will own") {
    PartMember joining("agent-3");
    joining.learn(agent_view(3));
    const ObjectShare before = joining.objects();
    CHECK(before.fraction() < 0.5);
    joining.learn(agent_view(4));
    CHECK(joining.objects() == before);
    CHECK_FALSE(joining.discovery.next_handover());
}

TEST_CASE("DividedDiscovery: what others own now is discovered until it has been handed over") {
    PartMember member("agent-0");
    member.learn(agent_view(1));
    CHECK(member.objects().is_all());
    member.learn(agent_view(4));
    CHECK(member.objects().is_all());
    CHECK(member.namespaces(20).size() == 20);
    CHECK(member.discovery.next_handover() == member.now + 35s);
    member.pass(34s);
    CHECK(member.objects().is_all());
    member.pass(1s);
    CHECK_FALSE(member.discovery.next_handover());
    CHECK(member.objects().fraction() < 0.5);
    CHECK(member.namespaces(20).size() < 15);
    member.learn(agent_view(1));
    CHECK(member.objects().is_all());
}

TEST_CASE("DividedDiscovery: members that come back end their hand-over") {
    PartMember member("agent-0");
    member.learn(agent_view(3));
    const ObjectShare share = member.objects();
    member.learn(agent_view(4));
    member.learn(agent_view(3));
    member.pass(35s);
    CHECK(member.objects() == share);
    CHECK_FALSE(member.discovery.next_handover());
}

TEST_CASE("DividedDiscovery: each namespace has one member, whatever the other namespaces are") {
    std::vector<std::string> all;
    for (const std::string& name : part_names(4)) {
        PartMember member(name);
        member.learn(agent_view(4));
        const auto many = member.namespaces(40);
        const auto few = member.namespaces(10);
        CHECK(std::all_of(few.begin(), few.end(), [&](const std::string& ns) {
            return std::find(many.begin(), many.end(), ns) != many.end();
        }));
        all.insert(all.end(), many.begin(), many.end());
        if (!many.empty()) {
            CHECK(member.discovery.part_of(divided_namespaces(40))->watch.cluster_wide_from == 0);
        }
    }
    std::sort(all.begin(), all.end());
    CHECK(all.size() == 40);
    CHECK(std::unique(all.begin(), all.end()) == all.end());
}

TEST_CASE("DividedDiscovery: a configuration that names no namespace has those of the cluster") {
    std::vector<std::string> all;
    for (const std::string& name : part_names(3)) {
        PartMember member(name);
        member.learn(agent_view(3));
        CHECK(member.namespaces(0).empty());
        member.discovery.set_namespaces(divided_namespaces(30).namespaces);
        const auto mine = member.namespaces(0);
        CHECK(mine == member.namespaces(30));
        all.insert(all.end(), mine.begin(), mine.end());
        DiscoveryConfig config = divided_namespaces(1);
        config.namespaces.emplace_back();
        CHECK(member.discovery.part_of(config)->namespaces == mine);
        member.discovery.set_namespaces({});
        CHECK(member.namespaces(0).empty());
    }
    CHECK(all.size() == 30);
}

TEST_CASE("DividedDiscovery: a part is not known before the members are, or that there are none") {
    PartMember member("agent-0");
    FleetStatus status;
    CHECK_FALSE(member.discovery.knows_part(status));
    status.hold = ViewHold::debounce;
    CHECK_FALSE(member.discovery.knows_part(status));
    for (const ViewHold hold : {ViewHold::no_active_member, ViewHold::wait_for_size}) {
        status.hold = hold;
        CHECK(member.discovery.knows_part(status));
    }
    status.hold = ViewHold::away;
    CHECK_FALSE(member.discovery.knows_part(status));
    member.learn(agent_view(2));
    CHECK(member.discovery.knows_part(status));
}

TEST_CASE("DividedDiscovery: a configuration that has a share already cannot be divided") {
    PartMember member("agent-0");
    member.learn(agent_view(2));
    DiscoveryConfig config = divided_pods();
    config.share = ObjectShare::part(0, 2);
    CHECK_THROWS_MATCHES(member.discovery.part_of(config), ConfigError,
                         MessageMatches(ContainsSubstring("share: is set by the fleet")));
}

TEST_CASE("Division: what cannot be divided is refused in words") {
    const auto problem = [](DiscoveryConfig config) -> std::string {
        config.api_server.url = "http://127.0.0.1:1";
        try {
            validate(config);
        } catch (const ConfigError& e) {
            return e.what();
        }
        return "fine";
    };
    CHECK(problem(divided_pods()) == "fine");
    CHECK(problem(divided_namespaces(2)) == "fine");
    CHECK(problem(divided_namespaces(0)) == "fine");
    DiscoveryConfig config = divided_namespaces(2);
    config.role = Role::node;
    CHECK(problem(config) == "division: nodes have no namespace; divide them by objects");
    config = divided_pods();
    config.role = Role::ingress;
    CHECK_THAT(problem(config), ContainsSubstring("divide it by namespaces"));
    for (const unsigned slots : {0U, 3U, 8192U}) {
        CHECK(problem(divided_pods(slots)) ==
              "division.slots: must be a power of two, at most 4096");
    }
}

TEST_CASE("Division: what a configuration can be divided by") {
    CHECK(usual_division({.role = Role::pod}).by == DivideBy::objects);
    CHECK(usual_division({.role = Role::node, .namespaces = {"a", "b"}}).by == DivideBy::objects);
    CHECK(usual_division({.role = Role::pod, .namespaces = {"a", "b"}}).by == DivideBy::namespaces);
    CHECK(usual_division({.role = Role::ingress, .namespaces = {"a", "b"}}).by ==
          DivideBy::namespaces);
    CHECK(usual_division({.role = Role::ingress, .namespaces = {"a"}}).by == DivideBy::nothing);
    CHECK(usual_division({.role = Role::endpoints}).by == DivideBy::namespaces);
    CHECK(usual_division({.role = Role::endpoints, .namespaces = {"a", ""}}).by ==
          DivideBy::namespaces);
    CHECK(usual_division({.role = Role::endpoints, .own_namespace = true}).by == DivideBy::nothing);
    CHECK(usual_division({.role = Role::pod, .own_namespace = true}).by == DivideBy::objects);
    CHECK(usual_division({.role = Role::pod, .namespaces = {"a", ""}}).by == DivideBy::objects);
}

}  // namespace
}  // namespace k8s_sd
