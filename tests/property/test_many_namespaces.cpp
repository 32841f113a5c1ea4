#include "property/for_each_seed.hpp"
#include "property/random_cluster.hpp"
#include "property/random_config.hpp"
#include "support/allocations.hpp"
#include "support/host.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

struct Cost {
    long sync, incident;
};

/// Allocations until this many namespaces are listed, and during an outage of all their watches.
Cost cost_of(std::size_t namespaces) {
    Simulation sim;
    DiscoveryConfig config{.watch = plain_lists()};
    config.api_server.url = sim.server.url();
    config.watch.cluster_wide_from = 0;
    for (std::size_t i = 0; i < namespaces; ++i) {
        config.namespaces.push_back("a-namespace-with-a-long-name-" + std::to_string(1000 + i));
        sim.server.apply(pod({.name = "web", .ns = config.namespaces.back()}));
    }
    Host host(sim.context.get_executor(), config);
    Cost cost{};
    memory_use = {.on = true};
    host.run();
    sim.settle();
    cost.sync = memory_use.allocations;
    CHECK(host.groups.size() == namespaces);
    memory_use = {.on = true};
    sim.server.accept_connections(false);
    sim.server.disconnect_all();
    sim.settle();
    cost.incident = memory_use.allocations;
    memory_use.on = false;
    CHECK(host.discoverer->status().watches.size() == namespaces);
    CHECK(host.discoverer->status().error);
    return cost;
}

/// Two hosts of one configuration: one with a watch per namespace, one with a cluster-wide watch.
class Twins {
 public:
    explicit Twins(std::uint64_t seed) : random_(seed), cluster_(random_, sim_.server) {
        for (unsigned i = random_.below(40); i > 0; --i) cluster_.change();
        config_ = random_config(random_, sim_.server.url());
        config_.min_update_interval = {};
        config_.namespaces = {"a"};
        if (random_.one_in(2)) config_.namespaces = {"a", "b", "not-there"};
        config_.watch.cluster_wide_from = 0;
        each_.emplace(sim_.context.get_executor(), config_).run();
        config_.watch.cluster_wide_from = 1;
        all_.emplace(sim_.context.get_executor(), config_).run();
        sim_.settle();
        compare();
    }

    void change() {
        for (unsigned i = random_.below(30); i > 0; --i) {
            cluster_.change();
            sim_.settle();
            compare();
        }
    }
    /// Changes that arrive in lists. The order of these may differ between the hosts, and a group
    /// may be delivered twice.
    void change_unseen() {
        sim_.server.accept_connections(false);
        sim_.server.disconnect_all();
        for (unsigned i = random_.below(30); i > 0; --i) cluster_.change();
        if (random_.one_in(2)) sim_.server.compact();
        sim_.server.accept_connections(true);
        sim_.advance(120s);
        each_->take_diffs();
        all_->take_diffs();
        check_states();
    }
    /// From now on no client may watch all namespaces together. That alone is no change.
    void revoke() {
        sim_.server.set_intercept([](const sim::Request& request) {
            const bool namespaced = request.path.find("/namespaces/") != std::string::npos ||
                                    request.path == "/api/v1/nodes" ||
                                    request.path == "/api/v1/namespaces";
            std::optional<sim::Response> refusal;
            if (!namespaced) refusal = sim::Response::failure(403, "Forbidden", "revoked");
            return refusal;
        });
        if (random_.one_in(2)) return;  // detected later, together with changes
        sim_.server.disconnect_all();
        sim_.advance(120s);
        CHECK(each_->take_diffs().empty());
        compare();
    }

 private:
    void compare() {
        CHECK(each_->take_diffs() == all_->take_diffs());
        check_states();
    }
    void check_states() {
        CHECK(each_->state() == all_->state());
        CHECK(each_->complaints.empty());
        CHECK(all_->complaints.empty());
        CHECK_FALSE(all_->discoverer->status().error);
    }
    Random random_;
    Simulation sim_;
    RandomCluster cluster_;
    DiscoveryConfig config_{.watch = plain_lists()};
    std::optional<Host> each_, all_;
};

}  // namespace

TEST_CASE("Many namespaces: watched together or one by one, hosts receive the same") {
    for_each_seed("NAMESPACES", 100, [&](std::uint64_t seed) {
        Twins twins(seed);
        twins.change();
        twins.change_unseen();
        twins.change();
        twins.revoke();
        twins.change_unseen();
        twins.change();
    });
}

TEST_CASE("Many namespaces: a namespace costs the same however many there are") {
    const Cost few = cost_of(100);
    const Cost many = cost_of(400);
    CAPTURE(few.sync, many.sync, few.incident, many.incident);
    CHECK(many.sync < 5 * few.sync);
    CHECK(many.incident < 5 * few.incident);
}
