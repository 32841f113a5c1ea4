#include "property/for_each_seed.hpp"
#include "property/random_cluster.hpp"
#include "property/random_config.hpp"
#include "support/host.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>

namespace diff_parts_tests {

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// Two hosts of one configuration: one with large diffs, one with diffs in parts.
class Scenario {
 public:
    explicit Scenario(std::uint64_t seed)
        : random_(seed),
          cluster_(random_, sim_.server),
          config_(random_config(random_, sim_.server.url())),
          limit_(1 + random_.below(4)) {
        for (unsigned i = random_.below(80); i > 0; --i) cluster_.change();
    }

    void play() {
        Host whole(sim_.context.get_executor(), config_);
        config_.max_groups_per_diff = limit_;
        Host parts(sim_.context.get_executor(), config_);
        bool more = false, changes = true;
        parts.after_diff = [&](const TargetGroupDiff& diff) {
            const std::size_t size = diff.updated.size() + diff.removed.size();
            CHECK(size <= limit_);
            CHECK((!diff.more || size == limit_));
            more = diff.more;
            if (changes && random_.one_in(4)) cluster_.change();
        };
        whole.run();
        parts.run();
        for (unsigned round = 8; round > 0; --round) {
            for (unsigned i = random_.below(30); i > 0; --i) {
                cluster_.change();
                for (unsigned n = random_.below(20); n > 0; --n) sim_.context.poll_one();
            }
            sim_.advance(3s);  // longer than an interval
            changes = false;
            sim_.advance(3s);
            changes = true;
            CHECK_FALSE(more);
            CHECK(parts.state() == whole.state());
        }
        CHECK(whole.complaints == "");
        CHECK(whole.parts == 0);
        CHECK(parts.complaints == "");
    }

 private:
    Random random_;
    Simulation sim_;
    RandomCluster cluster_;
    DiscoveryConfig config_;
    const std::size_t limit_;
};

}  // namespace

TEST_CASE("Diffs in parts: their sum is that of whole diffs, whatever happens in between") {
    for_each_seed("DIFF_PARTS", 60, [](std::uint64_t seed) { Scenario(seed).play(); });
}

}  // namespace diff_parts_tests
