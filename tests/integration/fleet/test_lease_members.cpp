#include "k8s_sd/fleet/membership.hpp"
#include "k8s_sd/sim/builders.hpp"
#include "support/config_fixtures.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Members that discover each other by Leases.
struct Leased : Simulation {
    explicit Leased(sim::ApiServerOptions options = {}) : Simulation(std::move(options)) {}

    LeaseMembersConfig config(const std::string& name) {
        LeaseMembersConfig config;
        config.fleet = "agents";
        config.self = name;
        config.where.api_server.url = server.url();
        config.where.namespaces = {"monitoring"};
        return config;
    }
    Membership& begin(const std::string& name) {
        FleetRules rules;
        rules.hold_down = 2s;
        auto& membership = members[name];
        membership.emplace(
            context.get_executor(),
            MembershipConfig{.source = lease_members(context.get_executor(), config(name)),
                             .self = name,
                             .rules = rules},
            [](const FleetShare&) {});
        membership->async_run([](error_code) {});
        membership->set_synced();
        return *membership;
    }
    std::string view(const std::string& name) {
        const FleetViewPtr view = members.at(name)->share().view();
        if (!view) return "none";
        std::string text;
        for (const std::string& member : view->members())
            text += (text.empty() ? "" : " ") + member;
        return text;
    }
    std::string hold(const std::string& name) {
        return std::string(to_string(members.at(name)->status().hold));
    }
    std::size_t writes() {
        std::size_t count = 0;
        for (const sim::RequestRecord& record : server.requests()) {
            count += record.request.method == "PUT" || record.request.method == "POST" ? 1U : 0U;
        }
        server.clear_requests();
        return count;
    }

    std::map<std::string, std::optional<Membership>> members;
};

}  // namespace

TEST_CASE("lease_members: members find each other by their Leases") {
    Leased s;
    s.begin("a");
    s.advance(5s);
    CHECK(s.view("a") == "a");
    s.begin("b");
    s.advance(15s);
    CHECK(s.view("a") == "a b");
    CHECK(s.view("b") == "a b");
    s.writes();
    s.advance(10min);
    CHECK(s.view("a") == "a b");
    CHECK(s.members.at("a")->status().views == 2);
    // Each renews its Lease once in 10 s.
    CHECK(s.writes() <= 121);
    const auto lease = s.server.get("leases", "monitoring", "agents.a");
    REQUIRE(lease);
    CHECK(lease->at("spec").at("leaseDurationSeconds") == 30);
}

TEST_CASE("lease_members: an unready member is joining, and a leaving one announces it at once") {
    Leased s;
    s.begin("a");
    s.begin("b").set_synced(false);
    s.advance(15s);
    CHECK(s.view("a") == "a");
    CHECK(s.members.at("a")->status().members ==
          std::vector<FleetMember>{{"a", MemberState::active}, {"b", MemberState::joining}});
    s.members.at("b")->set_synced();
    s.advance(3s);
    CHECK(s.view("a") == "a b");
    s.members.at("a")->leave();
    s.advance(3s);
    CHECK(s.view("a") == "b");
    CHECK(s.view("b") == "b");
    s.members.at("a")->set_synced();
    s.advance(1min);
    CHECK(s.view("b") == "b");
}

TEST_CASE("lease_members: who does not renew any more is gone when its Lease has expired") {
    Leased s;
    s.begin("a");
    s.begin("b");
    s.begin("c");
    s.advance(15s);
    CHECK(s.view("a") == "a b c");
    s.members.at("b").reset();
    s.advance(15s);
    CHECK(s.view("a") == "a b c");
    s.advance(20s);
    CHECK(s.view("a") == "a c");
    // It returns under its name, and takes over its Lease.
    s.begin("b");
    s.advance(15s);
    CHECK(s.view("a") == "a b c");
}

TEST_CASE("lease_members: no member expires during or after an outage of the API server") {
    Leased s;
    s.begin("a");
    s.begin("b");
    s.advance(15s);
    s.server.accept_connections(false);
    s.server.disconnect_all();
    s.advance(1h);
    CHECK(s.view("a") == "a b");
    CHECK(s.hold("a") == "away");
    s.server.accept_connections(true);
    for (int i = 0; i < 120; ++i) {
        s.advance(1s);
        REQUIRE(s.view("a") == "a b");
    }
    CHECK(s.hold("a") == "none");
    s.members.at("b").reset();
    s.advance(40s);
    CHECK(s.view("a") == "a");
}

TEST_CASE("lease_members: a member that died long ago is not back when the server was away") {
    Leased s;
    s.begin("a");
    s.begin("b");
    s.advance(15s);
    s.members.at("b").reset();
    s.advance(1min);
    CHECK(s.view("a") == "a");
    s.server.disconnect_all();
    for (int i = 0; i < 90; ++i) {
        s.advance(1s);
        REQUIRE(s.view("a") == "a");
    }
    // A new member waits until the dead members are known.
    s.begin("c");
    for (int i = 0; i < 60; ++i) {
        s.advance(1s);
        REQUIRE((s.view("c") == "none" || s.view("c") == "a" || s.view("c") == "a c"));
    }
    CHECK(s.view("c") == "a c");
}

TEST_CASE("lease_members: a server that says when to come back is not obeyed beyond the Lease") {
    Leased s;
    s.begin("a");
    s.advance(15s);
    bool busy = true;
    s.server.set_intercept([&](const sim::Request& request) -> std::optional<sim::Response> {
        if (request.method == "GET" || !busy) return std::nullopt;
        sim::Response response;
        response.status = 429;
        response.headers = {{"Retry-After", "3600"}};
        return response;
    });
    s.advance(15s);
    busy = false;
    s.advance(20s);
    CHECK(s.hold("a") == "none");
    CHECK(s.view("a") == "a");
}

TEST_CASE("lease_members: a refused write names the missing permission, and is retried slowly") {
    Leased s;
    s.server.set_intercept([](const sim::Request& request) -> std::optional<sim::Response> {
        if (request.method == "GET") return std::nullopt;
        sim::Response response;
        response.status = 403;
        response.body =
            R"({"kind":"Status","apiVersion":"v1","message":"no right to create leases"})";
        return response;
    });
    s.begin("a");
    s.advance(10min);
    CHECK(s.view("a") == "none");
    CHECK_THAT(s.members.at("a")->status().message,
               ContainsSubstring("the Lease monitoring/agents.a of this member cannot be renewed: "
                                 "HTTP status 403: no right to create leases"));
    // Pauses grow to 7 s and jitter makes them longer.
    CHECK(s.writes() <= 100);
}

TEST_CASE("lease_members: a server that answers each renewal with a conflict is not asked without "
          "end") {
    Leased s;
    s.server.set_intercept([](const sim::Request& request) -> std::optional<sim::Response> {
        if (request.is_watch() || request.path.ends_with("/leases")) {
            if (request.method == "GET") return std::nullopt;
        }
        sim::Response response;
        response.status = request.method == "GET" ? 200 : 409;
        response.body = R"({"kind":"Lease","metadata":{"resourceVersion":"1"}})";
        return response;
    });
    s.begin("a");
    s.advance(10min);
    CHECK(s.writes() <= 400);
    CHECK(s.view("a") == "none");
}

TEST_CASE("lease_members: a Lease that is deleted or changed by others is there again") {
    Leased s;
    s.begin("a");
    s.advance(5s);
    REQUIRE(s.server.remove("leases", "monitoring", "agents.a"));
    s.advance(15s);
    CHECK(s.server.get("leases", "monitoring", "agents.a"));
    CHECK(s.view("a") == "a");
    auto lease = *s.server.get("leases", "monitoring", "agents.a");
    lease["spec"].as_object()["holderIdentity"] = "thief";
    s.server.apply(std::move(lease));
    s.advance(15s);
    CHECK(s.server.get("leases", "monitoring", "agents.a")->at("spec").at("holderIdentity") == "a");
    CHECK(s.view("a") == "a");
}

TEST_CASE("lease_members: what does not fit together is refused") {
    Leased s;
    const auto refused = [&](auto change) {
        LeaseMembersConfig config = s.config("a");
        change(config);
        return config_error([&] { lease_members(s.context.get_executor(), config); });
    };
    CHECK(refused([](auto& c) { c.fleet.clear(); }) ==
          "fleet: must be a name of small letters, digits and '-', as \"agents\"");
    CHECK_THAT(refused([](auto& c) { c.fleet = "a.b"; }), ContainsSubstring("fleet: "));
    CHECK_THAT(refused([](auto& c) { c.fleet = "a/../b"; }), ContainsSubstring("fleet: "));
    CHECK_THAT(refused([](auto& c) { c.self = "A"; }), ContainsSubstring("self: "));
    CHECK_THAT(refused([](auto& c) { c.self.clear(); }), ContainsSubstring("self: must be"));
    CHECK_THAT(refused([](auto& c) { c.duration = 15s; }), ContainsSubstring("twice the interval"));
    CHECK_THAT(refused([](auto& c) { c.interval = 0s; }), ContainsSubstring("greater than zero"));
    CHECK_THAT(refused([](auto& c) {
                   c.where.namespaces = {"a", "b"};
               }),
               ContainsSubstring("a fleet is in one namespace"));
}
