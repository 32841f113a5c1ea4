#include "k8s_sd/metrics.hpp"
#include "k8s_sd/sim/builders.hpp"
#include "k8s_sd/sim/fixture.hpp"
#include "support/host.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace k8s_sd::test {
namespace {

using namespace std::chrono_literals;

sim::PodBuilder web(const std::string& name, const std::string& ip) {
    return sim::pod("shop", name).ip(ip).ready().container("web", "web:1", 8080);
}

/// A host of pods, started as users of the library would.
struct PodHost : Host {
    explicit PodHost(sim::Fixture& cluster, ApiServerConfig server)
        : Host(cluster.context.get_executor(), {.role = Role::pod, .api_server = server}) {
        run();
    }
    explicit PodHost(sim::Fixture& cluster) : PodHost(cluster, cluster.api_server()) {}
};

/// The requests of a host in an hour, and their times, if every third request fails.
std::vector<std::string> requests_of_an_hour() {
    std::vector<std::string> requests;
    sim::Fixture cluster;
    cluster.server.set_intercept([&](const sim::Request& request) {
        const auto when = cluster.clock->now().time_since_epoch() / 1us;
        requests.push_back(std::to_string(when) + " " + request.target);
        return requests.size() % 3 == 0 ? std::optional(sim::Response::failure(500, "x", "y"))
                                        : std::nullopt;
    });
    PodHost host(cluster);
    cluster.advance(1h);
    return requests;
}

}  // namespace

TEST_CASE("Fixture: a host finds what is applied, and hears of changes when it settles") {
    sim::Fixture cluster;
    cluster.server.apply(web("web-0", "10.0.0.1"));
    PodHost host(cluster);
    CHECK(host.diffs == 0);
    CHECK(cluster.settle() > 0);
    CHECK(host.take_diffs() == "[~pod/shop/web-0]");
    cluster.server.apply(web("web-1", "10.0.0.2"));
    CHECK(host.take_diffs().empty());
    cluster.settle();
    CHECK(host.take_diffs() == "[~pod/shop/web-1]");
    CHECK(cluster.settle() == 0);
    CHECK(cluster.take_log().empty());
    CHECK(host.complaints.empty());
}

TEST_CASE("Fixture: an hour's outage passes, with targets kept, a log, and the truth afterwards") {
    sim::Fixture cluster;
    cluster.server.apply(web("web-0", "10.0.0.1"));
    PodHost host(cluster);
    cluster.settle();
    host.take_diffs();
    const TimePoint before = cluster.clock->now();
    cluster.server.accept_connections(false);
    cluster.server.disconnect_all();
    cluster.server.remove("pods", "shop", "web-0");
    cluster.advance(1h);
    CHECK(cluster.clock->now() - before == 1h);
    CHECK(host.take_diffs().empty());
    CHECK(host.groups.contains("pod/shop/web-0"));
    CHECK(host.discoverer->status().error);
    const auto log = cluster.take_log();
    REQUIRE_FALSE(log.empty());
    CHECK(cluster.take_log().empty());
    cluster.server.accept_connections(true);
    cluster.advance(1min);
    CHECK(host.take_diffs() == "[-pod/shop/web-0]");
    CHECK_FALSE(host.discoverer->status().error);
}

TEST_CASE("Fixture: the same test makes the same requests at the same times") {
    const auto first = requests_of_an_hour();
    CHECK(first.size() > 10);
    CHECK(requests_of_an_hour() == first);
}

TEST_CASE("Fixture: the server's URL comes with its token") {
    sim::ApiServerOptions options;
    options.token = "s3cret";
    sim::Fixture cluster({.server = options});
    PodHost known(cluster);
    PodHost stranger(cluster, {.url = cluster.server.url()});
    cluster.settle();
    CHECK(known.diffs == 1);
    CHECK(stranger.diffs == 0);
    CHECK(stranger.discoverer->status().error == errc::unauthorized);
}

TEST_CASE("Fixture: files of credentials are read before it has settled") {
    const auto file = std::filesystem::temp_directory_path() / "k8s_sd_fixture_token";
    std::ofstream(file) << "s3cret";
    sim::ApiServerOptions options;
    options.token = "s3cret";
    sim::Fixture cluster({.server = options});
    ApiServerConfig server{.url = cluster.server.url()};
    server.auth.bearer_token_file = file.string();
    PodHost host(cluster, server);
    cluster.settle();
    CHECK(host.diffs == 1);
    std::filesystem::remove(file);
}

TEST_CASE("Fixture: files of credentials hang until the test releases them") {
    const auto file = std::filesystem::temp_directory_path() / "k8s_sd_fixture_held_token";
    std::ofstream(file) << "s3cret";
    sim::ApiServerOptions options;
    options.token = "s3cret";
    sim::Fixture cluster({.server = options});
    cluster.files->hold();
    ApiServerConfig server{.url = cluster.server.url()};
    server.auth.bearer_token_file = file.string();
    PodHost host(cluster, server);
    cluster.settle();
    CHECK(host.diffs == 0);
    CHECK(cluster.files->held() == 1);
    CHECK(cluster.files->calls() == 1);
    cluster.files->release();
    cluster.settle();
    CHECK(host.diffs == 1);
    CHECK(cluster.files->held() == 0);
    std::filesystem::remove(file);
}

TEST_CASE("Fixture: the requests of a host, in short") {
    sim::Fixture cluster;
    cluster.server.apply(web("web-0", "10.0.0.1"));
    const std::string version = cluster.server.resource_version();
    DiscoveryConfig config{.role = Role::pod, .api_server = cluster.api_server()};
    config.watch.watch_list = false;
    Host host(cluster.context.get_executor(), config);
    host.run();
    cluster.settle();
    CHECK(cluster.take_requests() ==
          std::vector<std::string>{"LIST /api/v1/pods?limit=500",
                                   "WATCH /api/v1/pods from " + version});
    CHECK(cluster.take_requests().empty());
}

TEST_CASE("Fixture: the environment can be changed before it is installed") {
    const auto metrics = std::make_shared<Metrics>();
    sim::Fixture cluster({.faults = {.max_read = 1}, .environment = [&](Environment& environment) {
                              environment.metrics = metrics;
                              environment.logger.level = LogLevel::debug;
                              CHECK(environment.seed != 0);
                          }});
    CHECK(metrics_of(cluster.context) == metrics);
    CHECK(cluster.environment().metrics == metrics);
    PodHost host(cluster);
    cluster.settle();
    CHECK(host.diffs == 1);
    CHECK(metrics->diffs_delivered == 1);
    CHECK_FALSE(cluster.take_log().empty());
}

TEST_CASE("Fixture: the server may have a clock of its own") {
    const auto other = std::make_shared<sim::ManualClock>();
    sim::ApiServerOptions options;
    options.clock = other;
    sim::Fixture cluster({.server = options});
    PodHost host(cluster);
    cluster.settle();
    CHECK(other->next_expiry() != TimePoint::max());
    cluster.advance(1min);
    CHECK(other->now() == sim::ManualClock().now());
}

TEST_CASE("Fixture: an exception of the host leaves through settle(), and the rest goes on") {
    sim::Fixture cluster;
    cluster.server.apply(web("web-0", "10.0.0.1"));
    PodHost host(cluster);
    host.after_diff = [](const auto&) { throw std::runtime_error("the host's"); };
    CHECK_THROWS_AS(cluster.settle(), std::runtime_error);
    host.after_diff = nullptr;
    cluster.server.apply(web("web-1", "10.0.0.2"));
    cluster.settle();
    CHECK(host.groups.size() == 2);
}

}  // namespace k8s_sd::test
