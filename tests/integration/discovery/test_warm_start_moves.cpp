#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/sim/builders.hpp"
#include "support/router.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <boost/asio/detached.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Two clusters with one pod each, at different addresses, and a directory for snapshots.
struct MovingServers : TwoServers {
    MovingServers() {
        server.apply(sim::pod("shop", "a").ip("10.1.1.1").container("web", "web:1", 80));
        second.apply(sim::pod("shop", "b").ip("10.2.2.2").container("web", "web:1", 80));
    }
    DiscoveryConfig config() const {
        DiscoveryConfig config;
        config.kubeconfig_file = kubeconfig();
        return config;
    }
    WarmStart options(Duration server_timeout = 5s) const {
        return {.directory = snapshots, .server_timeout = server_timeout, .write_interval = 1s};
    }
    void put_away() {
        for (sim::ApiServer* api : {&server, &second}) {
            api->accept_connections(false);
            api->disconnect_all();
        }
        settle();
    }
    /// The number of files that contain the address.
    std::size_t files_with(const std::string& address) const {
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::directory_iterator(snapshots)) {
            std::ifstream in(entry.path(), std::ios::binary);
            const std::string bytes(std::istreambuf_iterator<char>(in), {});
            if (bytes.find(address) != std::string::npos) ++count;
        }
        return count;
    }

    std::string snapshots = directory.path("snapshots");
};

/// Collects the addresses it receives.
struct AddressHost {
    explicit AddressHost(MovingServers& s, Duration server_timeout = 5s)
        : discoverer(
              s.context.get_executor(), s.config(),
              [this](const TargetGroupDiff& diff) { apply(diff); }, s.options(server_timeout)) {
        discoverer.async_run(boost::asio::detached);
    }
    void apply(const TargetGroupDiff& diff) {
        if (diff.full) addresses.clear();
        unconfirmed = unconfirmed || diff.unconfirmed;
        for (const GroupChange& change : diff.updated) {
            for (std::size_t i = 0; i < change.group->size(); ++i)
                addresses.insert(change.group->merged(i).at("__address__"));
        }
        for (const TargetGroupPtr& group : diff.removed) {
            for (std::size_t i = 0; i < group->size(); ++i)
                addresses.erase(group->merged(i).at("__address__"));
        }
    }

    std::set<std::string> addresses;
    bool unconfirmed = false;
    Discoverer discoverer;
};

using Addresses = std::set<std::string>;

}  // namespace

TEST_CASE("WarmStart: after a kubeconfig has moved the snapshot is one of the new server") {
    MovingServers s;
    {
        AddressHost host(s);
        s.advance(10s);
        CHECK(host.addresses == Addresses{"10.1.1.1:80"});
        s.lead_to("https://second");
        s.advance(80s);
        CHECK(host.addresses == Addresses{"10.2.2.2:80"});
        host.discoverer.cancel();
        s.settle();
    }
    s.put_away();
    s.lead_to("https://first");
    {
        AddressHost host(s);
        s.advance(10s);
        CHECK(host.addresses == Addresses{"10.1.1.1:80"});
        CHECK(host.unconfirmed);
        host.discoverer.cancel();
        s.settle();
    }
    s.lead_to("https://second");
    AddressHost host(s);
    s.advance(10s);
    CHECK(host.addresses == Addresses{"10.2.2.2:80"});
    CHECK(host.unconfirmed);
}

TEST_CASE("WarmStart: nothing is written between a move and the first list at the new server") {
    MovingServers s;
    AddressHost host(s);
    s.advance(10s);
    CHECK(s.metrics->snapshots_written == 1);
    s.second.accept_connections(false);
    s.lead_to("https://second");
    s.advance(65s);  // all watches have left the first server
    const std::uint64_t written = s.metrics->snapshots_written;
    s.advance(2h);  // long after the next write of the file would be due
    CHECK(s.metrics->snapshots_written == written);
    CHECK(host.addresses == Addresses{"10.1.1.1:80"});

    s.second.accept_connections(true);
    s.advance(5min);
    CHECK(host.addresses == Addresses{"10.2.2.2:80"});
    CHECK(s.metrics->snapshots_written > written);
    CHECK(s.files_with("10.2.2.2") == 1);
    CHECK(s.files_with("10.1.1.1") == 1);
}

TEST_CASE("WarmStart: who ends amid a move writes nothing of two servers") {
    // The pods are listed at the new server, but the nodes are not.
    MovingServers s;
    s.server.apply(sim::node("n1"));
    s.second.apply(sim::node("n1"));
    DiscoveryConfig config = s.config();
    config.attach_metadata.node = true;
    {
        Discoverer discoverer(
            s.context.get_executor(), config, [](const TargetGroupDiff&) {}, s.options());
        discoverer.async_run(boost::asio::detached);
        s.advance(10s);
        s.second.set_intercept([](const sim::Request& request) -> std::optional<sim::Response> {
            if (request.path != "/api/v1/nodes") return std::nullopt;
            return sim::Response::failure(503, "Unavailable", "later");
        });
        s.lead_to("https://second");
        s.advance(80s);
        discoverer.cancel();
        s.settle();
    }
    CHECK(s.files_with("10.2.2.2") == 0);
    CHECK(s.files_with("10.1.1.1") == 1);
}

TEST_CASE("WarmStart: the loaded file is that of the server configured at that time") {
    MovingServers s;
    for (const char* url : {"https://first", "https://second"}) {
        s.lead_to(url);
        AddressHost host(s);
        s.advance(10s);
        host.discoverer.cancel();
        s.settle();
    }
    s.put_away();
    s.lead_to("https://first");
    AddressHost host(s, 30s);
    s.settle();
    // No server is reachable, so the kubeconfig is read every 5 s.
    s.lead_to("https://second");
    s.advance(1min);
    CHECK(host.addresses == Addresses{"10.2.2.2:80"});
    CHECK(host.unconfirmed);
}

TEST_CASE("WarmStart: another authority at the same URL is another server") {
    MovingServers s;
    {
        AddressHost host(s);
        s.advance(10s);
        host.discoverer.cancel();
        s.settle();
    }
    s.put_away();
    s.lead_to("https://first", "token: one", ", certificate-authority-data: Y2E=");
    AddressHost host(s);
    s.advance(1min);
    CHECK(host.addresses.empty());
    CHECK_THAT(host.discoverer.status().snapshot, ContainsSubstring("does not exist yet"));
}
