#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/scrape/target_pool.hpp"
#include "k8s_sd/sim/builders.hpp"
#include "support/config_fixtures.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <boost/asio/detached.hpp>
#include <sys/stat.h>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

/// "full unconfirmed +pod/shop/a", "confirms ~pod/shop/a -pod/shop/b".
std::string words_of(const TargetGroupDiff& diff) {
    std::set<std::string> groups;
    for (const GroupChange& change : diff.updated) {
        groups.insert((change.previous ? "~" : "+") + std::string(change.group->source()));
    }
    for (const auto& group : diff.removed) groups.insert("-" + std::string(group->source()));
    std::string text = diff.full ? "full" : "";
    const auto add = [&](const std::string& word) { text += (text.empty() ? "" : " ") + word; };
    if (diff.unconfirmed) add("unconfirmed");
    if (diff.confirms) add("confirms");
    for (const std::string& group : groups) add(group);
    return text;
}

using Received = std::vector<std::string>;

/// A cluster, and hosts that start and stop with snapshots in a directory.
struct Warm : Simulation {
    sim::PodBuilder pod(const std::string& name, const std::string& ip) {
        return sim::pod("shop", name).ip(ip).container("web", "web:1", 80);
    }
    DiscoveryConfig config(Role role = Role::pod) {
        DiscoveryConfig config;
        config.role = role;
        config.api_server.url = server.url();
        return config;
    }
    WarmStart options() { return {.directory = directory, .annotations = {""}}; }
    void down() {
        server.accept_connections(false);
        server.disconnect_all();
        settle();
    }
    void up() { server.accept_connections(true); }
    std::string file() const {
        for (const auto& entry : fs::directory_iterator(directory)) return entry.path();
        return {};
    }

    TemporaryDirectory parent;
    std::string directory = parent.path("snapshots");
};

struct WarmHost {
    explicit WarmHost(Warm& w, std::optional<WarmStart> options = {}, Role role = Role::pod)
        : discoverer(
              w.context.get_executor(), w.config(role),
              [this](const TargetGroupDiff& diff) { received.push_back(words_of(diff)); },
              options ? *options : w.options()) {
        discoverer.async_run(boost::asio::detached);
        discoverer.async_wait_synced([this](error_code ec) { synced = !ec; });
    }
    Received take() { return std::exchange(received, {}); }

    Received received;
    bool synced = false;
    Discoverer discoverer;
};

/// Runs a host until it has written its state.
void write_snapshot(Warm& w, Role role = Role::pod) {
    WarmHost host(w, {}, role);
    w.advance(1min);
    REQUIRE(w.metrics->snapshots_written > 0);
    host.discoverer.cancel();
    w.settle();
}

}  // namespace

TEST_CASE("WarmStart: a start while the API server is down delivers the previous targets, and the "
          "differences once it is back") {
    Warm w;
    w.server.apply(w.pod("a", "10.0.0.1"));
    w.server.apply(w.pod("b", "10.0.0.2"));
    w.server.apply(w.pod("c", "10.0.0.3"));
    write_snapshot(w);
    w.down();

    WarmHost host(w);
    w.advance(4999ms);
    CHECK(host.take().empty());
    w.advance(1ms);
    CHECK(host.take() == Received{"full unconfirmed +pod/shop/a +pod/shop/b +pod/shop/c"});
    CHECK_FALSE(host.synced);
    CHECK(host.discoverer.status().unconfirmed);
    CHECK_THAT(host.discoverer.status().snapshot, ContainsSubstring("s old"));
    CHECK(w.metrics->snapshots_loaded == 1);
    w.advance(1h);
    CHECK(host.take().empty());

    w.server.apply(w.pod("b", "10.0.0.9"));
    w.server.remove("pods", "shop", "c");
    w.server.apply(w.pod("d", "10.0.0.4"));
    w.up();
    w.advance(2min);
    CHECK(host.take() == Received{"confirms +pod/shop/d -pod/shop/c ~pod/shop/b"});
    CHECK(host.synced);
    CHECK_FALSE(host.discoverer.status().unconfirmed);
    CHECK(host.discoverer.status().snapshot.empty());
}

TEST_CASE("WarmStart: in parts the whole snapshot is unconfirmed, and the last part confirms it") {
    Warm w;
    for (const char* name : {"a", "b", "c"}) w.server.apply(w.pod(name, "10.0.0.1"));
    write_snapshot(w);
    w.down();
    DiscoveryConfig config = w.config();
    config.max_groups_per_diff = 2;
    Received received;
    Discoverer discoverer(
        w.context.get_executor(), config,
        [&](const TargetGroupDiff& diff) {
            received.push_back(words_of(diff) + (diff.more ? " more" : ""));
        },
        w.options());
    discoverer.async_run(boost::asio::detached);
    w.advance(5s);
    REQUIRE(received.size() == 2);
    CHECK_THAT(received[0], ContainsSubstring("full unconfirmed +") && ContainsSubstring(" more"));
    CHECK_THAT(received[1], ContainsSubstring("unconfirmed +") && !ContainsSubstring("full"));
    received.clear();

    for (const char* name : {"a", "b", "c"}) w.server.apply(w.pod(name, "10.0.0.9"));
    w.up();
    w.advance(2min);
    REQUIRE(received.size() == 2);
    CHECK_THAT(received[0], !ContainsSubstring("confirms") && ContainsSubstring(" more"));
    CHECK_THAT(received[1], ContainsSubstring("confirms ~") && !ContainsSubstring("more"));
}

TEST_CASE("WarmStart: without differences the host only receives the confirmation") {
    for (const Role role : {Role::pod, Role::endpointslice, Role::service, Role::node}) {
        CAPTURE(to_string(role));
        Warm w;
        w.server.apply(w.pod("a", "10.0.0.1").label("app", "web").annotation("x", "y"));
        w.server.apply(sim::node("n1").address("InternalIP", "10.0.0.7"));
        w.server.apply(sim::service("shop", "web").cluster_ip("10.9.0.1").port("http", 80));
        w.server.apply(sim::endpoint_slice("shop", "web-1", "web")
                           .port("http", 80)
                           .endpoint("10.0.0.1")
                           .pod("a")
                           .ready()
                           .endpoint("10.0.0.2")
                           .ready());
        write_snapshot(w, role);
        w.down();
        WarmHost host(w, {}, role);
        w.advance(6s);
        REQUIRE(host.take().size() == 1);
        w.up();
        w.advance(2min);
        CHECK(host.take() == Received{"confirms"});
    }
}

TEST_CASE("WarmStart: who is answered in time never sees the snapshot") {
    Warm w;
    w.server.apply(w.pod("a", "10.0.0.1"));
    write_snapshot(w);
    w.server.apply(w.pod("b", "10.0.0.2"));
    WarmHost host(w);
    w.settle();
    CHECK(host.take() == Received{"full +pod/shop/a +pod/shop/b"});
    w.advance(1min);
    CHECK(host.take().empty());
    CHECK(w.metrics->snapshots_loaded == 0);
}

TEST_CASE("WarmStart: with a server timeout of zero the snapshot is delivered at once") {
    Warm w;
    w.server.apply(w.pod("a", "10.0.0.1"));
    write_snapshot(w);
    w.down();
    WarmStart options = w.options();
    options.server_timeout = 0s;
    WarmHost host(w, options);
    w.settle();
    CHECK(host.take() == Received{"full unconfirmed +pod/shop/a"});
}

TEST_CASE("WarmStart: the server that answers between two deliveries confirms in the second one") {
    Warm w;
    w.server.apply(w.pod("a", "10.0.0.1"));
    write_snapshot(w);
    WarmStart options = w.options();
    options.server_timeout = 0s;
    WarmHost host(w, options);
    w.settle();
    // The server determines the order of the two; the result is the same.
    const Received received = host.take();
    CHECK((received == Received{"full +pod/shop/a"} ||
           received == Received{"full unconfirmed +pod/shop/a", "confirms"}));
}

TEST_CASE("WarmStart: two restarts in one outage have the targets, and the file stays") {
    Warm w;
    w.server.apply(w.pod("a", "10.0.0.1"));
    write_snapshot(w);
    w.down();
    for (int i = 0; i < 2; ++i) {
        WarmHost host(w);
        w.advance(10min);
        CHECK(host.take() == Received{"full unconfirmed +pod/shop/a"});
        host.discoverer.cancel();
        w.settle();
    }
}

TEST_CASE("WarmStart: a file that cannot be used is ignored with one line") {
    Warm w;
    w.server.apply(w.pod("a", "10.0.0.1"));
    write_snapshot(w);
    w.down();
    std::string expected;
    WarmStart options = w.options();
    SECTION("it is damaged") {
        std::fstream(w.file(), std::ios::in | std::ios::out).seekp(100).put('x');
        expected = "the file is damaged or cut off";
    }
    SECTION("it is of another version") {
        std::fstream(w.file(), std::ios::in | std::ios::out).put('K');
        expected = "the file is not a snapshot of this version of the library";
    }
    SECTION("others may read it") {
        REQUIRE(chmod(w.file().c_str(), 0644) == 0);
        expected = "the file is readable by others";
    }
    SECTION("others may use the directory") {
        REQUIRE(chmod(w.directory.c_str(), 0770) == 0);
        expected = "the directory is accessible to others; chmod 700 it";
    }
    w.take_log();
    WarmHost host(w, options);
    w.advance(1min);
    CHECK(host.take().empty());
    const auto log = w.take_log();
    const auto lines = std::count_if(log.begin(), log.end(), [](const std::string& line) {
        return line.find("the snapshot of role pod") != std::string::npos;
    });
    CHECK(lines == 1);
    CHECK_THAT(host.discoverer.status().snapshot, ContainsSubstring(expected));
    CHECK(w.metrics->snapshots_ignored == 1);
}

TEST_CASE("WarmStart: another configuration has another file") {
    Warm w;
    w.server.apply(w.pod("a", "10.0.0.1"));
    write_snapshot(w);
    w.down();
    DiscoveryConfig other = w.config();
    SECTION("other namespaces") { other.namespaces = {"shop"}; }
    SECTION("another name of the cluster") { other.cluster.name = "green"; }
    SECTION("another version") { other.prometheus_version = PrometheusVersion::v3_11; }
    Received received;
    Discoverer discoverer(
        w.context.get_executor(), other,
        [&](const TargetGroupDiff& diff) { received.push_back(words_of(diff)); }, w.options());
    discoverer.async_run(boost::asio::detached);
    w.advance(1min);
    CHECK(received.empty());
    CHECK_THAT(discoverer.status().snapshot, ContainsSubstring("does not exist yet"));
}

TEST_CASE("WarmStart: a directory that cannot be written is a warning, and nothing else") {
    Warm w;
    w.directory = w.parent.path("no/parent");
    w.server.apply(w.pod("a", "10.0.0.1"));
    WarmHost host(w);
    w.advance(10min);
    CHECK(host.take() == Received{"full +pod/shop/a"});
    CHECK(w.metrics->snapshots_written == 0);
    CHECK(w.metrics->snapshot_failures > 0);
    CHECK_THAT(host.discoverer.status().snapshot,
               ContainsSubstring("is not written: the directory"));
    CHECK(w.take_log().size() <= 2);
}

TEST_CASE("WarmStart: files are written when something has changed, and not too often") {
    Warm w;
    w.server.apply(w.pod("a", "10.0.0.1"));
    WarmHost host(w);
    w.advance(14min);
    CHECK(w.metrics->snapshots_written == 1);
    for (int i = 0; i < 600; ++i) {
        w.server.apply(w.pod("b", "10.0.1." + std::to_string(i % 250)));
        w.advance(1s);
    }
    CHECK(w.metrics->snapshots_written <= 21);
    CHECK(w.metrics->snapshots_written >= 13);
}

TEST_CASE("WarmStart: where nothing changes the file does not become too old") {
    Warm w;
    w.server.apply(w.pod("a", "10.0.0.1"));
    WarmHost host(w);
    w.advance(1min);
    CHECK(w.metrics->snapshots_written == 1);
    // A file may be an hour old.
    for (std::uint64_t hour = 1; hour < 6; ++hour) {
        const std::uint64_t before = w.metrics->snapshots_written;
        w.advance(1h);
        CHECK(w.metrics->snapshots_written >= before + 2);
        CHECK(w.metrics->snapshots_written <= before + 4);
    }
    // A change is not delayed by that.
    const std::uint64_t before = w.metrics->snapshots_written;
    w.advance(1min);
    w.server.apply(w.pod("b", "10.0.0.2"));
    w.advance(46s);
    CHECK(w.metrics->snapshots_written > before);
}

TEST_CASE("WarmStart: annotations are not written, unless they are named") {
    Warm w;
    w.server.apply(w.pod("a", "10.0.0.1")
                       .annotation("prometheus.io/scrape", "true")
                       .annotation("password", "xyzzy"));
    WarmStart options = w.options();
    options.annotations = WarmStart().annotations;
    {
        WarmHost host(w, options);
        w.advance(1min);
    }
    w.settle();
    std::ifstream in(w.file());
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    CHECK(bytes.find("prometheus_io_scrape") != std::string::npos);
    CHECK(bytes.find("xyzzy") == std::string::npos);
    CHECK(bytes.find("password") == std::string::npos);
    w.down();
    WarmHost host(w, options);
    w.advance(6s);
    CHECK(host.take() == Received{"full unconfirmed +pod/shop/a"});
    w.up();
    w.advance(2min);
    // A group missing from the snapshot is a difference.
    CHECK(host.take() == Received{"confirms ~pod/shop/a"});
}

TEST_CASE("WarmStart: a hanging disk delays nothing") {
    Warm w;
    w.server.apply(w.pod("a", "10.0.0.1"));
    w.files->hold();
    WarmHost host(w);
    w.advance(10min);
    CHECK(host.take() == Received{"full +pod/shop/a"});
    host.discoverer.cancel();
    w.settle();
    w.files->release();
    w.settle();
}

TEST_CASE("WarmStart: what has changed is written once more at the end") {
    Warm w;
    w.server.apply(w.pod("a", "10.0.0.1"));
    {
        WarmHost host(w);
        w.settle();
        host.discoverer.cancel();
        w.settle();
    }
    CHECK(w.metrics->snapshots_written == 1);
    w.down();
    WarmHost host(w);
    w.advance(6s);
    CHECK(host.take() == Received{"full unconfirmed +pod/shop/a"});
}

TEST_CASE("WarmStart: a disk that hangs at the end is waited for, but not long") {
    Warm w;
    w.server.apply(w.pod("a", "10.0.0.1"));
    WarmHost host(w);
    w.settle();
    w.files->hold();
    host.discoverer.cancel();
    w.settle();
    CHECK_FALSE(w.context.stopped());
    w.advance(2s);
    CHECK(w.files->held() == 1);
    // No work is left for run() to wait for.
    w.context.restart();
    w.server.disconnect_all();
    w.settle();
    w.files->release();
    w.settle();
    CHECK(w.metrics->snapshots_written == 0);
}

TEST_CASE("WarmStart: jobs of a manager have their targets, and pools know which are unconfirmed") {
    Warm w;
    w.server.apply(w.pod("a", "10.0.0.1"));
    w.server.apply(w.pod("b", "10.0.0.2"));
    struct Ignoring final : TargetHandler {
        void stop(TargetId, const ScrapeTargetPtr&, StopReason) noexcept override { ++stopped; }
        void keep(TargetId, const ScrapeTargetPtr&) noexcept override {}
        void start(TargetId, const ScrapeTargetPtr&) noexcept override { ++started; }
        int started = 0, stopped = 0;
    };
    const auto run = [&](auto body) {
        Ignoring handler;
        ScrapeConfig scrape;
        scrape.job_name = "job";
        TargetPool pool(scrape, handler);
        DiscoveryManager manager(w.context.get_executor(),
                                 [&](const JobDiff& diff) { pool.apply(diff); });
        manager.set_warm_start(w.options());
        Job job;
        job.name = "job";
        job.configs = {w.config()};
        manager.apply_config({job});
        manager.async_run(boost::asio::detached);
        body(manager, pool, handler);
        manager.cancel();
        w.settle();
    };
    run([&](auto&, auto&, auto&) { w.advance(1min); });
    w.down();
    run([&](DiscoveryManager& manager, TargetPool& pool, Ignoring& handler) {
        w.advance(6s);
        CHECK(handler.started == 2);
        for (const auto& target : pool.active()) CHECK(pool.unconfirmed(*target));
        CHECK_FALSE(manager.status().front().synced);
        CHECK(manager.status().front().configs.front().status.unconfirmed);
        w.server.remove("pods", "shop", "b");
        w.up();
        w.advance(2min);
        CHECK(handler.started == 2);
        CHECK(handler.stopped == 1);
        for (const auto& target : pool.active()) CHECK_FALSE(pool.unconfirmed(*target));
        CHECK(manager.status().front().synced);
    });
}

TEST_CASE("WarmStart: a snapshot takes the place of nothing") {
    Warm w;
    w.server.apply(w.pod("a", "10.0.0.1"));
    DiscoveryConfig other = w.config();
    other.namespaces = {"shop"};
    other.watch.share_selectors = SelectorSharing::never;
    {
        Discoverer writer(
            w.context.get_executor(), other, [](const auto&) {}, w.options());
        writer.async_run(boost::asio::detached);
        w.advance(1min);
    }
    w.settle();
    std::vector<std::string> received;
    DiscoveryManager manager(w.context.get_executor(), [&](const JobDiff& diff) {
        for (const ProviderDiff& part : diff.providers) {
            received.push_back(words_of(part.diff) + (part.last ? " last" : ""));
        }
    });
    WarmStart options = w.options();
    options.server_timeout = 0s;
    manager.set_warm_start(options);
    Job job;
    job.name = "job";
    job.supersede_timeout.reset();
    job.configs = {w.config()};
    manager.apply_config({job});
    manager.async_run(boost::asio::detached);
    w.settle();
    received.clear();
    w.down();
    job.configs = {other};
    manager.apply_config({job});
    w.advance(10min);
    CHECK(received == Received{"full unconfirmed +pod/shop/a"});
    received.clear();
    w.up();
    w.advance(2min);
    std::sort(received.begin(), received.end());
    CHECK(received == Received{"-pod/shop/a last", "confirms"});
}

TEST_CASE("WarmStart: two hosts of one configuration write one after the other") {
    Warm w;
    w.server.apply(w.pod("a", "10.0.0.1"));
    WarmHost first(w);
    WarmHost second(w);
    w.advance(10min);
    CHECK(w.metrics->snapshots_written >= 2);
    CHECK(w.metrics->snapshot_failures == 0);
}

TEST_CASE("WarmStart: a context that ends first leaves nothing locked") {
    TemporaryDirectory parent;
    const std::string directory = parent.path("snapshots");
    for (int i = 0; i < 2; ++i) {
        Warm w;
        w.directory = directory;
        w.server.apply(w.pod("a", "10.0.0.1"));
        auto host = std::make_unique<WarmHost>(w);
        w.advance(1min);
        CHECK(w.metrics->snapshots_written == 1);
        CHECK(w.metrics->snapshot_failures == 0);
        host.reset();  // and no thread is running any more
    }
}

TEST_CASE("WarmStart: shares of objects have files of their own") {
    Warm w;
    w.server.apply(w.pod("a", "10.0.0.1"));
    for (unsigned i = 0; i < 2; ++i) {
        DiscoveryConfig config = w.config();
        config.share = ObjectShare::part(i, 2);
        Discoverer discoverer(
            w.context.get_executor(), config, [](const auto&) {}, w.options());
        discoverer.async_run(boost::asio::detached);
        w.advance(1min);
        discoverer.cancel();
        w.settle();
    }
    const auto files = std::distance(fs::directory_iterator(w.directory), fs::directory_iterator());
    CHECK(files == 2);
}

TEST_CASE("WarmStart: what makes no sense is refused") {
    Warm w;
    const auto refused = [&](auto change) {
        WarmStart options = w.options();
        change(options);
        return config_error([&] {
            Discoverer(
                w.context.get_executor(), w.config(), [](const auto&) {}, options);
        });
    };
    CHECK(refused([](auto& o) { o.server_timeout = -1s; }) ==
          "warm_start.server_timeout: must not be negative");
    CHECK(refused([](auto& o) { o.max_bytes = 0; }) ==
          "warm_start.max_bytes: must be greater than zero");
    CHECK(refused([](auto&) {}).empty());
}
