#include "k8s_sd/detail/client/api_client_impl.hpp"
#include "k8s_sd/detail/client/context_environment.hpp"
#include "k8s_sd/detail/config/kubeconfig/kubeconfig.hpp"
#include "support/contains.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/router.hpp"
#include "support/tested_http_version.hpp"
#include "support/watch_probe.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

using Lines = std::vector<std::string>;
using Names = std::set<std::string>;

/// Two clusters, and a watch whose kubeconfig names the first.
struct TwoClusters : TwoServers {
    explicit TwoClusters(const ServerLimits& limits = {}) : TwoServers(limits) {
        server.set_token("one");
        second.set_token("one");
        server.apply(pod({.name = "a"}));
        second.apply(pod({.name = "z"}));
        ApiServerConfig config = detail::load_kubeconfig(kubeconfig(), "");
        config.http_version = tested_http_version();
        client = detail::make_shared_client(context.get_executor(), config, environment());
        watch.emplace(*this, client, WatchQuery{});
        watch->start();
        CHECK(watch->status().http_version == (is_by_http2() ? 2U : 1U));
        take_requests();
    }

    void write(const std::string& url, const std::string& token, const std::string& cluster = "") {
        lead_to(url, "token: " + token, cluster);
    }
    Lines requests_of_second() {
        Lines texts;
        for (const auto& record : second.requests())
            texts.push_back(record.request.is_watch() ? "WATCH" : "LIST");
        second.clear_requests();
        return texts;
    }
    std::shared_ptr<detail::ServerTraffic> traffic_of(const std::string& url) {
        return detail::ContextEnvironment::of(context.get_executor()).traffic_of({.url = url});
    }
    std::size_t lists(ListReason reason) const {
        return watch->status().lists[static_cast<std::size_t>(reason)];
    }

    std::shared_ptr<ApiClient> client;
    std::optional<WatchProbe> watch;
};

}  // namespace

TEST_CASE("A changed kubeconfig: a new token is taken up at once when the old one is refused") {
    TwoClusters sim;
    sim.write("https://first", "two");
    sim.server.set_token("two");
    sim.server.end_watches();
    sim.advance(5s);
    CHECK(sim.take_requests().size() == 2);  // one was refused
    sim.server.apply(pod({.name = "b"}));
    sim.settle();
    CHECK(sim.watch->names() == Names{"a", "b"});
    CHECK_FALSE(sim.watch->status().error);
    CHECK(sim.lists(ListReason::first) == 1);
    CHECK(sim.take_log().empty());
}

TEST_CASE("A changed kubeconfig: an open watch goes on, the next request has the new token") {
    TwoClusters sim;
    sim.write("https://first", "two");
    sim.advance(61s);
    sim.server.apply(pod({.name = "b"}));
    sim.settle();
    CHECK(sim.watch->names() == Names{"a", "b"});
    CHECK(sim.take_requests().empty());

    sim.server.set_token("two");
    sim.server.end_watches();
    sim.advance(1s);
    CHECK(sim.take_requests().size() == 1);  // none was refused
    sim.server.apply(pod({.name = "c"}));
    sim.settle();
    CHECK(sim.watch->names() == Names{"a", "b", "c"});
}

TEST_CASE("A changed kubeconfig: another server is listed within 65 s, and the old one is left") {
    TwoClusters sim;
    sim.write("https://second", "one");
    sim.advance(59s);
    sim.server.apply(pod({.name = "b"}));
    sim.settle();
    CHECK(sim.watch->names() == Names{"a", "b"});
    CHECK(sim.requests_of_second().empty());

    sim.watch->take_changes();
    sim.advance(6s);
    CHECK(sim.server.open_watches() == 0);
    sim.advance(2s);
    CHECK(sim.watch->names() == Names{"z"});
    CHECK(sim.take_requests().empty());
    // All known objects are gone: a second list confirms it.
    CHECK(sim.requests_of_second() == Lines{"LIST", "LIST", "WATCH"});
    CHECK(sim.lists(ListReason::suspicious) == 1);
    CHECK_FALSE(sim.watch->status().error);
    sim.second.set_token("two");
    sim.second.end_watches();
    sim.advance(1s);
    CHECK(contains(sim.watch->status().message, "https://second/api/v1/pods"));
}

TEST_CASE("A changed kubeconfig: all watches leave the old server, within 5 s, one by one") {
    TwoClusters sim;
    std::vector<std::unique_ptr<WatchProbe>> others;
    for (int i = 0; i < 30; ++i) {
        others.push_back(std::make_unique<WatchProbe>(
            sim, sim.client, WatchQuery{Kind::service, "n" + std::to_string(i), {}, {}}));
        others.back()->start();
    }
    sim.write("https://second", "one");
    sim.advance(60s);
    std::size_t most = 0;
    for (int i = 0; i < 10; ++i) {
        const std::size_t open = sim.server.open_watches();
        sim.advance(500ms);
        most = std::max(most, open - sim.server.open_watches());
    }
    CHECK(sim.server.open_watches() == 0);
    CHECK(most <= 12);
    sim.advance(2s);
    CHECK(sim.second.open_watches() == 31);
    for (const auto& other : others) CHECK_FALSE(other->status().error);
}

TEST_CASE("A changed kubeconfig: who waits after a failure goes to the other server as soon") {
    TwoClusters sim;
    sim.server.set_served("pods", {});
    sim.advance(1h);
    CHECK(sim.watch->status().error == errc::not_found);
    sim.write("https://second", "one");
    sim.advance(67s);
    CHECK(sim.watch->names() == Names{"z"});
    CHECK_FALSE(sim.watch->status().error);
}

TEST_CASE("A changed kubeconfig: the old server need not answer what is asked") {
    TwoClusters sim;
    sim.server.set_intercept([](const sim::Request& request) -> std::optional<sim::Response> {
        if (request.is_watch()) return std::nullopt;
        return sim::Response::never();
    });
    sim.server.compact();
    sim.server.disconnect_all();
    sim.advance(5s);
    CHECK(sim.watch->status().waiting == Waiting::probe);
    sim.write("https://second", "one");
    sim.advance(62s);
    CHECK(sim.watch->names() == Names{"z"});
}

TEST_CASE("A changed kubeconfig: a watch that begins after the move lists as any first one does") {
    TwoClusters sim;
    sim.write("https://second", "one");
    sim.advance(67s);
    sim.requests_of_second();
    WatchOptions options = plain_lists();
    options.first_list_from_cache = true;
    WatchProbe late(sim, sim.client, {Kind::service, {}, {}, {}}, options);
    late.start();
    CHECK(late.watcher().synced());
    CHECK(late.status().lists[static_cast<std::size_t>(ListReason::first)] == 1);
    CHECK(late.status().lists[static_cast<std::size_t>(ListReason::other_server)] == 0);
    CHECK(contains(sim.second.requests().front().request.target, "resourceVersion=0"));
}

TEST_CASE("A changed kubeconfig: the limits are those of the server that is watched now") {
    TwoClusters sim({.concurrent_lists = 1, .watches = 1});
    CHECK_FALSE(sim.traffic_of("https://first")->watch_permits->try_permit());
    const auto second = sim.traffic_of("https://second");
    auto permit = second->watch_permits->try_permit();
    CHECK(permit);
    sim.write("https://second", "one");
    sim.advance(67s);
    CHECK(sim.watch->names() == Names{"z"});
    CHECK(sim.watch->status().error == errc::too_many_watches);
    CHECK(sim.traffic_of("https://first")->watch_permits->try_permit());
    CHECK(sim.traffic_of("https://first")->list_permits->try_permit());
    permit.reset();
    sim.advance(70s);
    CHECK(sim.second.open_watches() == 1);
    CHECK_FALSE(second->watch_permits->try_permit());
    CHECK(second->list_permits->try_permit());
}

TEST_CASE(
    "A changed kubeconfig: a watch that waits to connect leaves the queue of the old server") {
    TwoClusters sim({.concurrent_connects = 1});
    const auto other = sim.traffic_of("https://first")->connect_permits->try_permit();
    REQUIRE(other);
    sim.server.disconnect_all();
    sim.advance(5s);
    CHECK(sim.watch->status().waiting == Waiting::connect_budget);
    CHECK(sim.metrics->connects_waiting == 1);
    sim.write("https://second", "one");
    sim.advance(62s);
    CHECK(sim.watch->names() == Names{"z"});
    CHECK(sim.metrics->connects_waiting == 0);
}

TEST_CASE("A changed kubeconfig: it is not checked when nothing is watched") {
    TwoClusters sim;
    sim.advance(59s);
    sim.watch->destroy();
    const std::size_t asked = sim.files->calls();
    sim.advance(10min);
    CHECK(sim.files->calls() == asked);
    CHECK(sim.clock->next_expiry() == TimePoint::max());
}

TEST_CASE("A changed kubeconfig: a server that has moved is found while the old one is away") {
    TwoClusters sim;
    sim.server.accept_connections(false);
    sim.server.disconnect_all();
    sim.advance(10s);
    CHECK(sim.watch->status().error);
    sim.second.apply(pod({.name = "a"}));
    sim.write("https://second", "two");
    sim.second.set_token("two");
    sim.advance(30s);
    CHECK(sim.watch->names() == Names{"a", "z"});
    CHECK_FALSE(sim.watch->status().error);
    CHECK(sim.lists(ListReason::other_server) == 1);
}

TEST_CASE("A changed kubeconfig: another CA at the same address may be another cluster") {
    TwoClusters sim;
    sim.write("https://first", "one", ", certificate-authority-data: Y2E=");
    sim.advance(65s);
    CHECK(sim.take_requests() == Lines{"LIST /api/v1/pods?limit=500", "WATCH /api/v1/pods from 2"});
    CHECK(sim.watch->take_changes() == "+a");
    CHECK(sim.lists(ListReason::other_server) == 1);
}

TEST_CASE("A changed kubeconfig: a missing or broken file disturbs no watch") {
    TwoClusters sim;
    for (const char* content : {"", "users: [", "sesame"}) {
        sim.directory.write("kc", content);
        sim.advance(61s);
        sim.server.end_watches();
        sim.advance(1s);
        sim.server.apply(pod({.name = "b"}));
        sim.settle();
        CHECK(sim.watch->names() == Names{"a", "b"});
        CHECK(sim.take_requests().size() == 1);
        const Lines log = sim.take_log();
        REQUIRE(log.size() == 1);
        CHECK(contains(log.front(), "; the previous content stays in use"));
        CHECK_FALSE(contains(log.front(), "sesame"));
    }
    std::filesystem::remove(sim.directory.path("kc"));
    sim.server.end_watches();
    sim.advance(61s);
    CHECK_FALSE(sim.watch->status().error);
    sim.write("https://first", "one");
    sim.server.end_watches();
    sim.advance(61s);
    CHECK(sim.lists(ListReason::first) == 1);
    CHECK_FALSE(sim.watch->status().error);
}

TEST_CASE("A changed kubeconfig: a file that hangs delays one request by 10 s") {
    TwoClusters sim;
    sim.files->hold();
    sim.advance(60s);
    sim.server.end_watches();
    sim.advance(9s);
    CHECK(sim.take_requests().empty());
    sim.advance(2s);
    CHECK(sim.take_requests().size() == 1);
    sim.server.end_watches();
    sim.advance(1s);
    CHECK(sim.take_requests().size() == 1);
    CHECK_FALSE(sim.watch->status().error);
}
