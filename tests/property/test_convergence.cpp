#include "property/expected_targets.hpp"
#include "property/for_each_seed.hpp"
#include "property/random_cluster.hpp"
#include "property/random_config.hpp"
#include "property/random_faults.hpp"
#include "support/host.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// A changing random cluster, random faults between it and some random hosts; finally the faults
/// stop.
class Scenario {
 public:
    explicit Scenario(std::uint64_t seed)
        : random_(seed),
          sim_(random_server(random_), random_transport(random_)),
          cluster_(random_, sim_.server),
          faults_(random_, sim_) {
        for (unsigned i = random_.below(60); i > 0; --i) cluster_.change();
        for (unsigned i = 0; i < 6; ++i) {
            add_host(i == 0 || !random_.one_in(3) ? other_config() : configs_[0]);
        }
    }

    void run() {
        faults_.begin();
        for (unsigned i = 100; i > 0; --i) {
            step();
            for (unsigned n = random_.below(40); n > 0; --n) sim_.context.poll_one();
            if (random_.one_in(3)) sim_.advance(std::chrono::milliseconds(random_.below(4000)));
        }
    }

    void end_faults() { faults_.end(); }

    void check() {
        for (std::size_t i = 0; i < hosts_.size(); ++i) {
            const Host& host = *hosts_[i];
            CAPTURE(i, to_string(configs_[i].role), to_string(configs_[i].dialect));
            CHECK(host.complaints == "");
            CHECK(host.discoverer->status().synced);
            CHECK_FALSE(host.discoverer->status().error);
            CHECK(host.state() == ExpectedTargets(sim_.server, configs_[i]).state());
            CHECK(host.state() == discovered_anew(configs_[i]));
        }
    }

    void check_end() {
        hosts_.clear();
        sim_.settle();
        CHECK(sim_.server.open_connections() == 0);
        CHECK(sim_.clock->next_expiry() == TimePoint::max());
        for (const auto& kind : sim_.metrics->kinds) {
            CHECK(kind.objects == 0);
            CHECK(kind.watchers == 0);
            CHECK(kind.synced_watchers == 0);
        }
    }

 private:
    void add_host(const DiscoveryConfig& config) {
        configs_.push_back(config);
        hosts_.push_back(std::make_unique<Host>(sim_.context.get_executor(), config));
        hosts_.back()->run();
    }

    /// Most hosts watch the same objects, and so share their watches.
    DiscoveryConfig other_config() {
        DiscoveryConfig config = random_config(random_, sim_.server.url());
        if (!configs_.empty() && !random_.one_in(4)) config.watch = configs_[0].watch;
        if (random_.one_in(3)) config.max_groups_per_diff = 1 + random_.below(3);
        return config;
    }

    void step() {
        const unsigned what = random_.below(24);
        if (what < 7) return faults_.disturb();
        if (what == 7) return replace_host();
        cluster_.change();
    }
    void replace_host() {
        const std::size_t i = random_.below(static_cast<unsigned>(hosts_.size()));
        if (random_.one_in(2)) configs_[i] = other_config();
        hosts_[i] = std::make_unique<Host>(sim_.context.get_executor(), configs_[i]);
        hosts_[i]->run();
    }

    /// The targets of a new discoverer that shares nothing with the others.
    TargetsBySource discovered_anew(DiscoveryConfig config) {
        --config.watch.max_object_bytes;
        config.max_groups_per_diff = 0;
        config.watch.watch_list = false;  // because detecting that it does not work may take time
        Host host(sim_.context.get_executor(), config);
        host.run();
        sim_.settle();
        CHECK(host.diffs == 1);
        return host.state();
    }

    Random random_;
    Simulation sim_;
    RandomCluster cluster_;
    RandomFaults faults_;
    std::vector<DiscoveryConfig> configs_;
    std::vector<std::unique_ptr<Host>> hosts_;
};

}  // namespace

TEST_CASE("Convergence: once faults stop, diffs add up to the cluster's targets") {
    for_each_seed("CONVERGENCE", 60, [&](std::uint64_t seed) {
        Scenario scenario(seed);
        scenario.run();
        scenario.end_faults();
        scenario.check();
        scenario.check_end();
    });
}
