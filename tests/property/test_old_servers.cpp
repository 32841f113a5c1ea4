#include "k8s_sd/sim/gateway_api.hpp"
#include "property/for_each_seed.hpp"
#include "property/random_cluster.hpp"
#include "support/host.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <set>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// The ingresses, slices, gateways and routes of a cluster whose server alternates between API
/// versions: one, the other, both or none.
class ChangingServer {
 public:
    explicit ChangingServer(std::uint64_t seed) : random_(seed) {
        sim::add_gateway_api(sim_.server);
        sim_.server.apply(sim::gateway("default", "g").listener("http", "HTTP", 80));
        sim_.server.apply(sim::http_route("default", "r").parent("g").hostname("a").path("/"));
        for (const Role role : {Role::ingress, Role::endpointslice, Role::httproute}) {
            DiscoveryConfig config{.watch = plain_lists()};
            config.role = role;
            config.api_server.url = sim_.server.url();
            hosts_.push_back(std::make_unique<Host>(sim_.context.get_executor(), config));
        }
        if (random_.one_in(2)) serve_otherwise();
        for (const auto& host : hosts_) host->run();
    }

    void play() {
        for (int i = 0; i < 40; ++i) {
            if (random_.one_in(3)) serve_otherwise();
            if (random_.one_in(3)) change();
            if (random_.one_in(6)) sim_.server.disconnect_all();
            if (random_.one_in(10)) sim_.server.compact();
            sim_.server.clear_requests();
            sim_.advance(std::chrono::seconds(random_.below(120)));
            // Four kinds that move between versions, and two more that are only watched.
            CHECK(sim_.server.requests().size() <= 220);
        }
    }
    void check() {
        for (const char* plural : plurals)
            sim_.server.set_served(plural, random_.pick<Versions>({{"v1"}, {"v1beta1"}}));
        change();
        sim_.advance(16min);
        for (const auto& host : hosts_) {
            CHECK(host->complaints == "");
            CHECK(host->discoverer->status().synced);
            CHECK_FALSE(host->discoverer->status().error);
        }
        std::set<std::string> found;
        for (const auto& [source, group] : hosts_[0]->groups) found.insert(source);
        std::set<std::string> real;
        for (const std::string& name : ingresses_) real.insert("ingress/default/" + name);
        CHECK(found == real);
        CHECK(hosts_[2]->groups.size() == 1);
    }

 private:
    using Versions = std::vector<std::string>;
    static constexpr const char* plurals[] = {"ingresses", "endpointslices", "gateways",
                                              "httproutes"};

    void serve_otherwise() {
        sim_.server.set_served(
            plurals[random_.below(4)],
            random_.pick<Versions>({{"v1"}, {"v1beta1"}, {"v1", "v1beta1"}, {}}));
    }
    void change() {
        const std::string name = "i" + std::to_string(random_.below(6));
        if (ingresses_.erase(name) != 0) {
            sim_.server.remove("ingresses", "default", name);
        } else {
            sim_.server.apply(ingress(name, "host"));
            ingresses_.insert(name);
        }
        sim_.server.apply(slice(name, "svc", {{"10.0.0." + std::to_string(random_.below(250))}}));
    }

    Random random_;
    Simulation sim_;
    std::set<std::string> ingresses_;
    std::vector<std::unique_ptr<Host>> hosts_;
};

}  // namespace

TEST_CASE(
    "Old servers: whatever is served when, requests are bounded, and in the end all is right") {
    for_each_seed("OLD_SERVERS", 100, [&](std::uint64_t seed) {
        ChangingServer server(seed);
        server.play();
        server.check();
    });
}
