#include "k8s_sd/detail/base/http2_support.hpp"
#include "k8s_sd/detail/client/api_client_impl.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"
#include "support/http2_frames.hpp"
#include "support/objects.hpp"
#include "support/watch_probe.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

sim::ApiServerOptions http2_options(bool offered = true) {
    if (!detail::has_http2()) SKIP("built without nghttp2");
    sim::ApiServerOptions options;
    options.http2 = offered;
    return options;
}

/// Watches of one server, each of a namespace with one pod.
struct VersionedCluster : Simulation {
    explicit VersionedCluster(HttpVersion version, std::size_t watches = 20, bool offered = true)
        : Simulation(http2_options(offered)) {
        ApiServerConfig config;
        config.url = "https://sim.invalid";
        config.http_version = version;
        client = std::make_shared<ApiClient>(context.get_executor(), config, environment());
        for (std::size_t i = 0; i < watches; ++i) {
            const std::string ns = "ns" + std::to_string(i);
            server.apply(pod({.name = "web", .ns = ns}));
            probes.push_back(std::make_unique<WatchProbe>(
                *this, client, WatchQuery{Kind::pod, ns, {}, {}}, plain_lists()));
        }
    }
    void start() {
        for (const auto& probe : probes) probe->start();
    }
    std::size_t by(unsigned version) const {
        return static_cast<std::size_t>(
            std::count_if(probes.begin(), probes.end(), [&](const auto& probe) {
                const WatchStatus status = probe->status();
                return status.waiting == Waiting::events && status.http_version == version;
            }));
    }

    const detail::ServerTraffic& client_traffic() const {
        return *detail::impl_of(*client).traffic;
    }

    std::shared_ptr<ApiClient> client;
    std::vector<std::unique_ptr<WatchProbe>> probes;
};

}  // namespace

TEST_CASE("HTTP/2: the first watches of a server have connections of their own, others share one") {
    VersionedCluster c(HttpVersion::automatic);
    c.start();
    CHECK(c.by(1) == 8);
    CHECK(c.by(2) == 12);
    CHECK(c.server.http2_connections() == 1);
    CHECK(c.server.open_connections() == 9);
    SECTION("a watch that comes later takes the place of one that has gone") {
        c.probes.erase(c.probes.begin());
        c.settle();
        // The others keep their connections until their next watch.
        CHECK(c.by(1) == 7);
        c.advance(11min);
        CHECK(c.by(1) == 8);
        CHECK(c.by(2) == 11);
    }
}

TEST_CASE("HTTP/2: the version can be prescribed") {
    SECTION("HTTP/1.1") {
        VersionedCluster c(HttpVersion::http1);
        c.start();
        CHECK(c.by(1) == 20);
        CHECK(c.server.http2_connections() == 0);
    }
    SECTION("HTTP/2 for all requests") {
        VersionedCluster c(HttpVersion::http2);
        c.start();
        CHECK(c.by(2) == 20);
        CHECK(c.server.open_connections() == 1);
        c.server.apply(pod({.name = "new", .ns = "ns3"}));
        c.settle();
        CHECK(c.probes[3]->names() == std::set<std::string>{"new", "web"});
    }
}

TEST_CASE("HTTP/2: a server without it is watched by HTTP/1.1") {
    const HttpVersion version = GENERATE(HttpVersion::automatic, HttpVersion::http2);
    SECTION("by its choice") {
        VersionedCluster c(version, 20, false);
        c.start();
        CHECK(c.by(1) == 20);
        CHECK(c.server.open_connections() == 20);
        CHECK(c.take_log().empty());
    }
    SECTION("by its refusal") {
        VersionedCluster c(version);
        c.server.set_http2({.require_http1 = true});
        c.start();
        CHECK(c.by(1) == 20);
        CHECK(c.take_log().empty());
    }
}

TEST_CASE("HTTP/2: an end without END_STREAM is no complete list, and recovers") {
    VersionedCluster c(HttpVersion::http2, 1);
    c.server.set_http2({.omit_end_stream = true});
    c.start();
    CHECK_FALSE(c.probes[0]->status().synced);
    CHECK(c.probes[0]->status().error == errc::truncated_response);
    c.server.set_http2({});
    c.advance(10s);
    CHECK(c.probes[0]->status().synced);
    CHECK(c.by(2) == 1);
}

TEST_CASE("HTTP/2: refused streams are repeated, then an error, and recover") {
    VersionedCluster c(HttpVersion::http2, 1);
    c.server.set_http2({.refuse_streams = true});
    c.start();
    CHECK(c.probes[0]->status().error);
    c.server.set_http2({});
    c.advance(10s);
    CHECK(c.by(2) == 1);
}

TEST_CASE("HTTP/2: a server that resets each stream gets few requests, and the status says why") {
    VersionedCluster c(HttpVersion::http2, 1);
    const auto requests = [&c] { return c.client_traffic().counts->requests.load(); };
    const bool watched = GENERATE(false, true);
    if (watched) c.start();
    const bool refused = GENERATE(false, true);
    c.server.set_http2({.reset_streams = refused ? http2::refused_stream : http2::cancel});
    watched ? c.server.disconnect_all() : c.start();
    c.advance(1min);
    std::uint64_t before = requests();
    for (int minute = 0; minute < 5; ++minute) {
        c.advance(1min);
        CHECK(requests() - before <= (refused ? 40 : 10));
        before = requests();
    }
    const WatchStatus status = c.probes[0]->status();
    CHECK(status.error);
    CHECK(contains(status.message, refused ? "refused the stream" : "reset the stream (CANCEL)"));
    c.server.set_http2({});
    c.advance(1min);
    CHECK(c.by(2) == 1);
    CHECK_FALSE(c.probes[0]->status().error);
}

TEST_CASE("HTTP/2: after ENHANCE_YOUR_CALM the watches pause, say so, and resume without a list") {
    VersionedCluster c(HttpVersion::http2, 3);
    c.start();
    c.server.send_goaway(sim::ApiServer::GoAway::calm);
    c.settle();
    c.take_requests();
    c.advance(25s);
    CHECK(c.take_requests().empty());
    for (const auto& probe : c.probes) {
        CHECK(probe->status().waiting == Waiting::retry_after);
        CHECK(probe->status().pause > 20s);
    }
    c.advance(10s);
    CHECK(c.by(2) == 3);
    for (const std::string& request : c.take_requests()) {
        CHECK((request.starts_with("WATCH") || request.ends_with("limit=1")));
    }
    // Once each, although they began before the pause, too.
    CHECK(c.metrics->of(Kind::pod).probes == 3);
}

TEST_CASE("HTTP/2: a list that pauses leaves its permit to lists by HTTP/1.1") {
    Simulation sim(http2_options(), {}, {.concurrent_lists = 1});
    const auto client_by = [&](HttpVersion version) {
        ApiServerConfig config;
        config.url = "https://sim.invalid";
        config.http_version = version;
        return detail::make_shared_client(sim.context.get_executor(), config, sim.environment());
    };
    const auto client = client_by(HttpVersion::http2);
    WatchProbe watch(sim, client, {});
    watch.start();
    sim.server.send_goaway(sim::ApiServer::GoAway::calm);
    sim.settle();
    WatchProbe paused(sim, client, {Kind::service, {}, {}, {}});
    paused.start();
    CHECK(paused.status().waiting == Waiting::retry_after);
    CHECK(paused.status().pause == 30s);
    WatchProbe other(sim, client_by(HttpVersion::http1), {Kind::service, {}, {}, {}});
    other.start();
    CHECK(other.status().synced);
    // The pause is that of the server, not of the client.
    WatchProbe late(sim, client_by(HttpVersion::http2), {Kind::service, {}, {}, {}});
    late.start();
    CHECK(late.status().waiting == Waiting::retry_after);
    sim.advance(31s);
    CHECK(paused.status().synced);
    CHECK(late.status().synced);
    CHECK(watch.status().waiting == Waiting::events);
}

TEST_CASE("HTTP/2: after ENHANCE_YOUR_CALM requests have the credentials of then") {
    Simulation sim(http2_options());
    const TemporaryDirectory files;
    ApiServerConfig config;
    config.url = "https://sim.invalid";
    config.http_version = HttpVersion::http2;
    config.auth.bearer_token_file = files.write("token", "one");
    sim.server.set_token("one");
    WatchProbe watch(sim, {}, plain_lists(), config);
    watch.start();
    sim.advance(50s);
    sim.server.send_goaway(sim::ApiServer::GoAway::calm);
    sim.advance(10s);
    REQUIRE(watch.status().waiting == Waiting::retry_after);
    files.write("token", "two");
    sim.server.set_token("two");
    sim.take_requests();
    sim.advance(25s);
    CHECK(watch.status().waiting == Waiting::events);
    CHECK(sim.take_requests().size() == 2);  // a probe and a watch: none was refused
}

TEST_CASE("HTTP/2: floods end the connection, and the watches resume") {
    VersionedCluster c(HttpVersion::http2, 3);
    c.start();
    REQUIRE(c.by(2) == 3);
    c.take_requests();
    std::string flood;
    SECTION("of PINGs") {
        for (int i = 0; i < 20'000; ++i) flood += http2::frame(http2::ping, 0, 0, "12345678");
    }
    SECTION("of SETTINGS") {
        for (int i = 0; i < 20'000; ++i) flood += http2::settings_frame();
    }
    SECTION("of empty DATA, on the stream of the first watch") {
        for (int i = 0; i < 20'000; ++i) flood += http2::data_frame(3, "");
    }
    SECTION("of garbage") { flood = std::string(100'000, 'x'); }
    c.server.send_http2_frames(flood);
    c.settle();
    CHECK(c.by(2) == 0);
    c.advance(10s);
    CHECK(c.by(2) == 3);
    for (const std::string& request : c.take_requests()) {
        CHECK((request.starts_with("WATCH") || request.ends_with("limit=1")));
    }
}

TEST_CASE("HTTP/2: a response of 401 renews the credentials") {
    VersionedCluster c(HttpVersion::http2, 3);
    c.start();
    c.server.set_token("other");
    c.server.end_watches();
    c.advance(30s);
    CHECK(c.probes[0]->status().error == errc::unauthorized);
    c.server.set_token("");
    c.advance(1min);
    CHECK(c.by(2) == 3);
}
