// Random pods, and views with different selectors that come and go: a view that shares groups with
// others has the same targets as one that generates all of its own.

#include "property/for_each_seed.hpp"
#include "property/random_cluster.hpp"
#include "support/host.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace shared_groups_tests {

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

/// Two hosts with one selector. The settings of the second one are unlike those of any other host,
/// so it shares no group.
struct Twins {
    std::unique_ptr<Host> shares, alone;
};

TargetsBySource without_cluster(TargetsBySource state) {
    for (auto& [source, targets] : state) {
        for (LabelMap& labels : targets) labels.erase("alone");
    }
    return state;
}

class SharingViews : Simulation {
 public:
    explicit SharingViews(std::uint64_t seed) : random_(seed) {
        for (int i = 0; i < 10; ++i) change_pod();
        for (int i = 0; i < 3; ++i) add_views();
        settle();
    }
    void step() {
        for (unsigned n = 1 + random_.below(3); n > 0; --n) change_pod();
        if (views_.size() > 1 && random_.one_in(6))
            views_.erase(views_.begin() + random_.below(static_cast<unsigned>(views_.size())));
        if (views_.size() < 6 && random_.one_in(5)) add_views();
        settle();
    }
    void check() {
        for (const Twins& twins : views_) {
            CHECK(twins.shares->state() == without_cluster(twins.alone->state()));
            CHECK(twins.shares->complaints.empty());
        }
    }
    /// Groups that several views hold.
    std::size_t common_groups() const {
        std::map<const TargetGroup*, std::size_t> holders;
        for (const Twins& twins : views_) {
            for (const auto& [source, group] : twins.shares->groups) ++holders[group.get()];
        }
        std::size_t common = 0;
        for (const auto& [group, count] : holders) common += count > 1 ? 1 : 0;
        return common;
    }

 private:
    void change_pod() {
        const std::string name = random_.numbered("p", 20);
        if (random_.one_in(5)) return static_cast<void>(server.remove("pods", "default", name));
        PodSpec spec{.name = name};
        spec.ip = random_.pick<std::string>({"", "10.0.0.1", "10.0.0.2"});
        spec.labels = {{"app", random_.pick<std::string>({"x", "y", "z"})},
                       {"tier", random_.numbered("t", 3)}};
        spec.uid = random_.one_in(8) ? random_.numbered("uid-", 1000) : "uid-of-" + name;
        server.apply(pod(spec));
    }
    void add_views() {
        DiscoveryConfig config{.watch = plain_lists()};
        config.api_server.url = server.url();
        const std::string selector = random_.pick<std::string>(
            {"", "app=x", "app!=y", "app in (x,z)", "tier=t1", "tier!=t2", "app=x,tier=t0"});
        if (!selector.empty()) config.selectors = {{Role::pod, selector, ""}};
        // Distinct even from a view with the same selector.
        if (!selector.empty()) config.selectors[0].label += ",n!=" + std::to_string(++number_);
        Twins twins;
        twins.shares = start(config);
        config.cluster = {std::to_string(++number_), "alone"};
        twins.alone = start(config);
        views_.push_back(std::move(twins));
    }
    std::unique_ptr<Host> start(const DiscoveryConfig& config) {
        auto host = std::make_unique<Host>(context.get_executor(), config);
        host->run();
        return host;
    }

    Random random_;
    std::vector<Twins> views_;
    int number_ = 0;
};

}  // namespace

TEST_CASE("Shared groups: views that share groups have the targets of views that do not") {
    for_each_seed("SHARED_GROUPS", 20, [](std::uint64_t seed) {
        SharingViews views(seed);
        std::size_t common = views.common_groups();
        for (int i = 0; i < 60; ++i) {
            views.step();
            views.check();
            common += views.common_groups();
        }
        CHECK(common > 0);
    });
}

}  // namespace shared_groups_tests
