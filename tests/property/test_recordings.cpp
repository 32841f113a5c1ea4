// Recordings of random histories: a replay ends in the state of the recorded run.

#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/sim/fixture.hpp"
#include "k8s_sd/sim/recording.hpp"
#include "property/random_cluster.hpp"
#include "property/random_config.hpp"
#include "support/recordings.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/detached.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

using namespace std::chrono_literals;
using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

#if defined(K8S_SD_ADDRESS_SANITIZER)
constexpr std::uint64_t histories = 100;
#else
constexpr std::uint64_t histories = 1000;
#endif

/// \returns the diffs of a random history, with lost connections and expired versions
Diffs record_history(Random& random, const DiscoveryConfig& config, const RecordingFile& file) {
    sim::FixtureOptions set_up;
    set_up.environment = [&](Environment& environment) {
        environment.connector = std::make_shared<sim::RecordingConnector>(
            environment.connector, environment.clock, file.path);
    };
    sim::Fixture fixture(std::move(set_up));
    RandomCluster cluster(random, fixture.server);
    for (unsigned i = random.below(20); i > 0; --i) cluster.change();
    Diffs diffs;
    Discoverer discoverer(fixture.context.get_executor(), config, [&](const TargetGroupDiff& diff) {
        diffs.push_back(diff_in_words(diff));
    });
    discoverer.async_run(asio::detached);
    for (int step = 0; step < 15; ++step) {
        fixture.advance(std::chrono::milliseconds(random.below(3000)));
        for (unsigned i = random.below(4); i > 0; --i) cluster.change();
        if (random.one_in(8)) fixture.server.disconnect_all();
        if (random.one_in(8)) fixture.server.compact();
    }
    fixture.advance(90s);
    discoverer.cancel();
    fixture.settle();
    return diffs;
}

}  // namespace

TEST_CASE("Recordings: a replay of a random history ends in the state of the recorded run") {
    for (std::uint64_t seed = 1; seed <= histories; ++seed) {
        CAPTURE(seed);
        Random random(seed);
        const DiscoveryConfig config = random_config(random, "http://cluster");
        const RecordingFile file;
        const Diffs diffs = record_history(random, config, file);
        const sim::Recording recording = sim::read_recording(file.path);
        REQUIRE(recording.end == sim::RecordingEnd::complete);
        const Diffs replayed = replay(recording, config);
        REQUIRE(state_after(replayed) == state_after(diffs));
        if (seed % 10 == 0) REQUIRE((replay(recording, config) == replayed));
    }
}
