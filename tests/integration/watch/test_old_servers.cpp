#include "support/contains.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/simulation.hpp"
#include "support/watch_probe.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

using Texts = std::vector<std::string>;
using Names = std::set<std::string>;
using Versions = std::vector<std::string>;

/// A server that has EndpointSlices in an older version or not at all, and a watch of them.
struct OldServer : Simulation {
    explicit OldServer(Versions versions = {"v1"}, Kind kind = Kind::endpointslice)
        : probe(*this, {kind, {}, {}, {}}), plural(to_string(kind)) {
        put("a");
        serve(std::move(versions));
    }
    void serve(Versions versions) { server.set_served(plural, std::move(versions)); }
    void put(const std::string& name) {
        plural == "ingresses" ? server.apply(ingress(name, "host"))
                              : server.apply(slice(name, "svc", {}));
    }
    /// The number of requests with this part.
    std::size_t count(const std::string& part) {
        const auto requests = server.requests();
        return static_cast<std::size_t>(
            std::count_if(requests.begin(), requests.end(), [&](const auto& record) {
                return record.request.target.find(part) != std::string::npos;
            }));
    }

    WatchProbe probe;
    const std::string plural;
};

/// Whether it requests the discovery document of the slices' group.
bool is_discovery(const sim::Request& request) {
    return request.path.starts_with("/apis/discovery.k8s.io") &&
           !request.path.ends_with("/endpointslices");
}

}  // namespace

TEST_CASE("Old servers: what only v1beta1 has is found by discovery, at once") {
    const Kind kind = GENERATE(Kind::endpointslice, Kind::ingress);
    const std::string group = "/apis/" + std::string(resource_of(kind).group);
    OldServer s({"v1beta1"}, kind);
    s.probe.start();
    CHECK(s.probe.names() == Names{"a"});
    CHECK_FALSE(s.probe.status().error);
    const Texts requests = s.take_requests();
    REQUIRE(requests.size() == 5);
    CHECK(requests[0] == "LIST " + group + "/v1/" + s.plural + "?limit=500");
    // A group version v1 proves nothing: the first v1 of the Ingress group had no Ingresses.
    CHECK(requests[1] == "LIST " + group + "/v1");
    CHECK(requests[2] == "LIST " + group + "/v1beta1");
    CHECK(requests[3] == "LIST " + group + "/v1beta1/" + s.plural + "?limit=500");
    CHECK(requests[4].starts_with("WATCH " + group + "/v1beta1/" + s.plural + " from "));
    const Texts log = s.take_log();
    REQUIRE(log.size() == 1);
    CHECK(contains(log[0], group + "/v1beta1/"));
    CHECK(contains(log[0], "the server is old"));
    s.put("b");
    s.settle();
    CHECK(s.probe.names() == Names{"a", "b"});
}

TEST_CASE("Old servers: v1 is used again as soon as there is one") {
    const Kind kind = GENERATE(Kind::endpointslice, Kind::ingress);
    OldServer s({"v1beta1"}, kind);
    const std::string present = "/apis/" + std::string(resource_of(kind).group) + "/v1/";
    s.probe.start();
    s.advance(20min);
    CHECK(s.count(present) == 1);
    CHECK(s.count("/v1beta1/") >= 2);
    // Each reopened watch retries, since the API may exist by then.
    const std::size_t asked = s.server.requests().size();
    CHECK(asked <= 16);
    SECTION("beside the older one") { s.serve({"v1", "v1beta1"}); }
    SECTION("in its place") { s.serve({"v1"}); }
    s.put("b");
    s.advance(11min);
    CHECK(s.probe.names() == Names{"a", "b"});
    CHECK_FALSE(s.probe.status().error);
    s.server.clear_requests();
    s.advance(20min);
    CHECK(s.count("v1beta1") == 0);
    CHECK(s.count(present) >= 2);
    const Texts log = s.take_log();
    CHECK(std::count_if(log.begin(), log.end(), [](const auto& line) {
              return contains(line, "which replaces the older one");
          }) == 1);
}

TEST_CASE("Old servers: nothing is removed and nothing comes twice when the version changes") {
    OldServer s({"v1beta1"});
    s.put("b");
    s.probe.start();
    CHECK(s.probe.take_changes() == "+a +b");
    s.serve({"v1"});
    s.advance(11min);
    CHECK(s.probe.take_changes().empty());
    s.serve({"v1beta1"});
    s.advance(11min);
    CHECK(s.probe.take_changes().empty());
    s.server.remove("endpointslices", "default", "a");
    s.settle();
    CHECK(s.probe.take_changes() == "-a");
}

TEST_CASE("Old servers: one unlucky 404 is no reason to leave v1") {
    const bool listing = GENERATE(true, false);
    OldServer s({"v1", "v1beta1"});
    if (!listing) s.probe.start();
    s.server.fail_next(sim::Response::failure(404, "NotFound", "no such path"), 1,
                       "/apis/discovery.k8s.io/v1/");
    listing ? s.probe.start() : s.server.end_watches();
    s.advance(5s);
    CHECK(s.probe.names() == Names{"a"});
    CHECK_FALSE(s.probe.status().error);
    CHECK(s.count("v1beta1") == 0);
}

TEST_CASE("Old servers: a missing resource is reported once, requested rarely, and found") {
    const Kind kind = GENERATE(Kind::endpointslice, Kind::replicaset);
    Simulation sim;
    sim.server.set_served(to_string(kind), {});
    WatchProbe probe(sim, {kind, {}, {}, {}});
    probe.start();
    sim.advance(1h);
    CHECK(probe.status().error == errc::not_found);
    CHECK_FALSE(probe.watcher().synced());
    CHECK(sim.take_log().size() == 1);
    CHECK(sim.server.requests().size() <= 50);
    sim.server.clear_requests();
    sim.advance(1h);
    CHECK(sim.server.requests().size() <= 2 * 24 + 1);
    sim.server.set_served(to_string(kind), {"v1"});
    sim.advance(5min);
    CHECK(probe.watcher().synced());
    CHECK_FALSE(probe.status().error);
    CHECK(sim.take_log().size() == 1);  // it works again
}

TEST_CASE("Old servers: a resource that appears in the older version is found as well") {
    OldServer s(Versions{});
    s.probe.start();
    s.advance(1h);
    s.serve({"v1beta1"});
    s.advance(10min);
    CHECK(s.probe.names() == Names{"a"});
    CHECK_FALSE(s.probe.status().error);
}

TEST_CASE("Old servers: what goes away stays known, and is listed when it is back") {
    OldServer s;
    s.probe.start();
    s.serve({});
    s.advance(30min);
    CHECK(s.probe.names() == Names{"a"});
    CHECK(s.probe.status().error == errc::not_found);
    s.server.remove("endpointslices", "default", "a");
    s.put("b");
    s.serve({"v1"});
    s.advance(5min + 1s);
    CHECK(s.probe.names() == Names{"b"});
    CHECK_FALSE(s.probe.status().error);
}

TEST_CASE("Old servers: all watches of a client ask once") {
    Simulation sim;
    sim.server.set_served("endpointslices", {"v1beta1"});
    const auto client = WatchProbe::client_of(sim);
    struct Silent final : WatchObserver {
        void on_change(const ObjectChange&) override {}
        void on_synced() override {}
        void on_batch_end() override {}
        void on_status() override {}
    } observer;
    std::vector<std::unique_ptr<URLWatcher>> watchers;
    for (int i = 0; i < 30; ++i) {
        watchers.push_back(std::make_unique<URLWatcher>(
            client, WatchQuery{Kind::endpointslice, "n" + std::to_string(i), {}, {}}, plain_lists(),
            observer));
        watchers.back()->start();
    }
    sim.settle();
    sim.advance(1h);
    std::size_t asked = 0;
    for (const auto& record : sim.server.requests())
        asked += record.request.target == "/apis/discovery.k8s.io/v1" ? 1U : 0U;
    CHECK(asked >= 10);
    CHECK(asked <= 20);
    for (const auto& watcher : watchers) CHECK(watcher->synced());
}

TEST_CASE("Old servers: discovery that lies, hangs or is endless does no harm") {
    enum class How { hangs, endless, forbidden, garbage, page, nothing, changes };
    const How how = GENERATE(How::hangs, How::endless, How::forbidden, How::garbage, How::page,
                             How::nothing, How::changes);
    CAPTURE(static_cast<int>(how));
    OldServer s({"v1beta1"});
    int asked = 0;
    s.server.set_intercept([&](const sim::Request& request) -> std::optional<sim::Response> {
        if (!is_discovery(request)) return std::nullopt;
        ++asked;
        sim::Response response;
        switch (how) {
            case How::hangs: return sim::Response::never();
            case How::endless: response.body.assign(1 << 20, ' '); break;
            case How::forbidden: return sim::Response::failure(403, "Forbidden", "no");
            case How::garbage:
                response.body = R"({"kind":"APIResourceList","resources":[[[)";
                break;
            case How::page: response.content_type = "text/html", response.body = "<html>"; break;
            case How::nothing:
                response.body = R"({"kind":"APIResourceList","resources":[]})";
                break;
            case How::changes:
                response.body = R"({"kind":"APIResourceList","resources":[{"name":")" +
                                std::string(asked % 3 == 0 ? "endpointslices" : "x") + "\"}]}";
        }
        return response;
    });
    s.probe.start();
    s.advance(1h);
    CHECK(asked <= 60);
    CHECK(s.server.requests().size() <= 120);
    if (how != How::changes) CHECK(s.probe.status().error == errc::not_found);
    s.server.set_intercept({});
    s.advance(11min);
    CHECK(s.probe.names() == Names{"a"});
    CHECK_FALSE(s.probe.status().error);
}

TEST_CASE("Old servers: a new server that says nothing of its versions is found as well") {
    OldServer s({"v1beta1"});
    s.probe.start();
    s.server.set_intercept([&](const sim::Request& request) -> std::optional<sim::Response> {
        if (!is_discovery(request)) return std::nullopt;
        return sim::Response::failure(403, "Forbidden", "no");
    });
    s.advance(1h);
    CHECK_FALSE(s.probe.status().error);
    s.serve({"v1"});
    s.put("b");
    s.advance(5min);
    CHECK(s.probe.names() == Names{"a", "b"});
    CHECK_FALSE(s.probe.status().error);
}

TEST_CASE("Old servers: who asks in which version a list is keeps no other list waiting") {
    Simulation s({}, {}, {.concurrent_lists = 1, .watches = 0});
    s.server.set_served("endpointslices", {"v1beta1"});
    s.server.set_intercept([&](const sim::Request& request) -> std::optional<sim::Response> {
        return is_discovery(request) ? std::optional(sim::Response::never()) : std::nullopt;
    });
    const auto client = WatchProbe::client_of(s);
    WatchProbe slices(s, client, {Kind::endpointslice, {}, {}, {}});
    WatchProbe pods(s, client, {});
    slices.start();
    pods.start();
    s.settle();
    CHECK(pods.watcher().synced());
}

TEST_CASE("Old servers: a watch that asks before it is opened says what it waits for") {
    OldServer s({"v1beta1"});
    s.probe.start();
    s.server.set_intercept([&](const sim::Request& request) -> std::optional<sim::Response> {
        return is_discovery(request) ? std::optional(sim::Response::never()) : std::nullopt;
    });
    s.advance(1min);
    s.server.end_watches();
    s.advance(1s);
    CHECK(s.probe.status().waiting == Waiting::watch);
}

TEST_CASE("Old servers: a watcher that stops while discovery is asked hears no answer") {
    OldServer s({"v1beta1"});
    s.server.set_intercept([&](const sim::Request& request) -> std::optional<sim::Response> {
        return is_discovery(request) ? std::optional(sim::Response::never()) : std::nullopt;
    });
    s.probe.start();
    s.probe.destroy();
    s.advance(1min);
    CHECK(s.server.open_watches() == 0);
    CHECK(s.clock->next_expiry() == TimePoint::max());
}
