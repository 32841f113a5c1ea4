#include "property/for_each_seed.hpp"
#include "property/random_cluster.hpp"
#include "property/random_config.hpp"
#include "property/random_faults.hpp"
#include "support/job_host.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace reloads_tests {

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// A manager with random configuration changes, of a random cluster with random changes and faults.
/// One pod never changes, and one job always has a configuration that finds it.
class Scenario {
 public:
    explicit Scenario(std::uint64_t seed)
        : random_(seed),
          sim_(random_server(random_), random_transport(random_)),
          cluster_(random_, sim_.server),
          faults_(random_, sim_),
          host_(sim_.context.get_executor()) {
        sim_.server.apply(pod({.name = "steady", .ns = "a", .node = "steady"}));
        sim_.server.apply(node("steady"));
        for (unsigned i = random_.below(40); i > 0; --i) cluster_.change();
        for (unsigned i = 0; i < 4; ++i) {
            pool_.push_back(random_config(random_, sim_.server.url()));
        }
        pool_.push_back({});
        pool_.back().kubeconfig_file = "/nonexistent";
        host_.after_diff = [this](const JobDiff& diff) {
            check(diff);
            if (random_.one_in(20)) reload();
        };
        if (random_.one_in(2)) reload();
        host_.run();
    }

    void run() {
        faults_.begin();
        for (unsigned i = 100; i > 0; --i) {
            const unsigned what = random_.below(12);
            if (what == 0) {
                faults_.disturb();
            } else if (what < 4) {
                reload();
            } else {
                cluster_.change();
            }
            for (unsigned n = random_.below(40); n > 0; --n) sim_.context.poll_one();
            if (random_.one_in(3)) sim_.advance(std::chrono::milliseconds(random_.below(4000)));
        }
        faults_.end();
    }

    void check() {
        host_.after_diff = {};
        JobHost anew(sim_.context.get_executor());
        anew.run().manager->apply_config(without_sharing(jobs_));
        sim_.advance(1min);
        CHECK(host_.problems() == "");
        CHECK(anew.problems() == "");
        CHECK(problems_ == "");
        CHECK(host_.jobs.size() == jobs_.size());
        for (const JobStatus& status : host_.manager->status()) {
            CAPTURE(status.name);
            const bool all_usable =
                std::all_of(status.configs.begin(), status.configs.end(),
                            [](const JobConfigStatus& config) { return config.provider; });
            CHECK(status.synced == all_usable);
            // If a configuration is unusable, its predecessors are kept.
            if (all_usable) CHECK(status.superseded == 0);
            if (status.superseded == 0) CHECK(host_.state(status.name) == anew.state(status.name));
        }
    }

    void check_end() {
        host_.manager.reset();
        sim_.settle();
        CHECK(sim_.server.open_connections() == 0);
        CHECK(sim_.clock->next_expiry() == TimePoint::max());
        CHECK(sim_.metrics->providers == 0);
        CHECK(sim_.metrics->jobs == 0);
        CHECK(sim_.metrics->failed_configs == 0);
    }

 private:
    void reload() {
        if (random_.one_in(4)) {
            pool_[random_.below(4)] = random_config(random_, sim_.server.url());
        }
        if (!random_.one_in(5)) jobs_ = random_jobs();
        host_.manager->apply_config(jobs_);
    }
    std::vector<Job> random_jobs() {
        std::vector<Job> jobs{{"steady", {steady_config()}, 0s, std::nullopt}};
        for (const char* name : {"a", "b", "c"}) {
            if (random_.one_in(4)) continue;
            Job job;
            job.name = name;
            for (unsigned n = random_.below(4); n > 0; --n) job.configs.push_back(pick_config());
            if (random_.one_in(3)) job.min_update_interval = 3s;
            if (random_.one_in(3)) job.supersede_timeout = 2s;
            jobs.push_back(job);
        }
        return jobs;
    }
    DiscoveryConfig pick_config() {
        return pool_[random_.below(static_cast<unsigned>(pool_.size()))];
    }
    DiscoveryConfig steady_config() {
        DiscoveryConfig config = pick_config();
        config.role = Role::pod;
        config.namespaces = {"a"};
        config.selectors.clear();
        return config;
    }
    static std::vector<Job> without_sharing(std::vector<Job> jobs) {
        for (Job& job : jobs) {
            job.configs.edit_each([](DiscoveryConfig& config) { --config.watch.max_object_bytes; });
        }
        return jobs;
    }

    void check(const JobDiff& diff) {
        const std::string name(diff.job);
        for (const ProviderDiff& provider : diff.providers) {
            if (!provider.last && removes_steady_pod(provider)) {
                complain(name, "lost the steady pod");
            }
            if (provider.last && configured(name).contains(provider.provider)) {
                complain(name, "lost a configuration that it has");
            }
        }
        const auto has_steady_pod = [](const auto& provider) {
            return provider.second.groups.contains(steady_source);
        };
        if (name != "steady") return;
        const auto& providers = host_.jobs["steady"];
        const bool has = std::any_of(providers.begin(), providers.end(), has_steady_pod);
        if (had_steady_pod_ && !has) complain(name, "was without the steady pod for a moment");
        had_steady_pod_ = had_steady_pod_ || has;
    }
    static bool removes_steady_pod(const ProviderDiff& provider) {
        return std::any_of(provider.diff.removed.begin(), provider.diff.removed.end(),
                           [](const auto& group) { return group->source() == steady_source; });
    }
    std::set<ProviderId> configured(const std::string& job) const {
        std::set<ProviderId> providers;
        for (const JobStatus& status : host_.manager->status()) {
            for (const JobConfigStatus& config : status.configs) {
                if (status.name == job && config.provider) providers.insert(*config.provider);
            }
        }
        return providers;
    }
    void complain(const std::string& job, const std::string& problem) {
        problems_ += job + ": " + problem + "\n";
    }

    static constexpr const char* steady_source = "pod/a/steady";

    Random random_;
    Simulation sim_;
    RandomCluster cluster_;
    RandomFaults faults_;
    JobHost host_;
    std::vector<DiscoveryConfig> pool_;
    std::vector<Job> jobs_;
    bool had_steady_pod_ = false;
    std::string problems_;
};

}  // namespace

TEST_CASE("Reloads: they lead to what the last configuration finds, and drop nothing on the way") {
    for_each_seed("RELOADS", 60, [&](std::uint64_t seed) {
        Scenario scenario(seed);
        scenario.run();
        scenario.check();
        scenario.check_end();
    });
}

}  // namespace reloads_tests
