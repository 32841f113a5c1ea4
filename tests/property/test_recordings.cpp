// Recordings of random histories, anonymous or not: a replay ends in the state of the recorded run.

#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/sim/fixture.hpp"
#include "k8s_sd/sim/recording.hpp"
#include "property/for_each_seed.hpp"
#include "property/random_cluster.hpp"
#include "property/random_config.hpp"
#include "sim/recording/anonymiser.hpp"
#include "support/recordings.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/detached.hpp>
#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace recordings_tests {

using namespace std::chrono_literals;
using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

constexpr std::uint64_t library_seed = 1;

/// A random history, with lost connections and expired versions.
void record_history(Random& random, const DiscoveryConfig& config, const RecordingFile& file,
                    const sim::RecordingOptions& options, const OnDiff& on_diff) {
    sim::FixtureOptions set_up;
    set_up.environment = [&](Environment& environment) {
        environment.seed = library_seed;
        environment.connector = std::make_shared<sim::RecordingConnector>(
            environment.connector, environment.clock, file.path, options);
    };
    sim::Fixture fixture(std::move(set_up));
    RandomCluster cluster(random, fixture.server);
    for (unsigned i = random.below(20); i > 0; --i) cluster.change();
    const TimePoint begin = fixture.clock->now();
    Discoverer discoverer(fixture.context.get_executor(), config, [&](const TargetGroupDiff& diff) {
        on_diff(diff, fixture.clock->now() - begin);
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
}

Diffs record_history(Random& random, const DiscoveryConfig& config, const RecordingFile& file,
                     const sim::RecordingOptions& options = {}) {
    Diffs diffs;
    record_history(random, config, file, options, [&](const TargetGroupDiff& diff, Duration) {
        diffs.push_back(diff_in_words(diff));
    });
    return diffs;
}

/// The state at the end of each moment with a change, by time. Changes of one moment may be one
/// diff or several: that depends on the order of handlers.
class Moments {
 public:
    OnDiff on_diff() {
        return [this](const TargetGroupDiff& diff, Duration at) {
            add_diff(diff_in_words(diff), state_);
            // A replay keeps the order of parts of one moment by nanoseconds between them.
            states_[std::chrono::floor<std::chrono::milliseconds>(at)] = state_;
        };
    }
    std::map<Duration, State> states() const {
        std::map<Duration, State> changes;
        const State* before = nullptr;
        for (const auto& [at, state] : states_) {
            if (!before || *before != state) changes.emplace(at, state);
            before = &state;
        }
        return changes;
    }

 private:
    State state_;
    std::map<Duration, State> states_;
};

/// The names of an anonymous recording.
class RecordedNames {
 public:
    explicit RecordedNames(const RecordingFile& file) {
        std::ifstream in(file.names());
        std::string replacement;
        std::string original;
        while (in >> replacement && std::getline(in >> std::ws, original)) {
            // Replacements are numbered in order.
            REQUIRE(anonymiser_.text(original) == replacement);
            originals_[replacement] = original;
        }
    }

    /// What finds the same objects under their new names.
    DiscoveryConfig anonymous(DiscoveryConfig config) {
        for (std::string& name : config.namespaces) name = anonymiser_.text(name);
        for (Selector& selector : config.selectors) {
            selector.label = anonymous("labelSelector", selector.label);
            selector.field = anonymous("fieldSelector", selector.field);
        }
        return config;
    }
    /// The state under the original names.
    State original(const State& state) const {
        State result;
        for (const auto& [source, group] : state) result[original(source)] = original(group);
        return result;
    }

 private:
    std::string anonymous(const std::string& parameter, std::string selector) {
        std::replace(selector.begin(), selector.end(), ' ', '+');
        const std::string head = "GET /api/v1/pods?" + parameter + "=";
        const std::string request = anonymiser_.request(head + selector + " HTTP/1.1");
        selector = request.substr(head.size(), request.rfind(' ') - head.size());
        std::replace(selector.begin(), selector.end(), '+', ' ');
        return selector;
    }
    std::string original(std::string_view text) const {
        std::string result;
        while (!text.empty()) {
            std::string_view word = prefix(text, ".");
            if (!originals_.contains(word)) word = prefix(text, "");  // no address
            const auto found = originals_.find(word);
            if (word.empty()) word = text.substr(0, 1);
            result += found == originals_.end() ? word : std::string_view(found->second);
            text.remove_prefix(word.size());
        }
        return result;
    }
    /// The leading letters, digits and other characters.
    static std::string_view prefix(std::string_view text, std::string_view others) {
        const auto end = std::find_if(text.begin(), text.end(), [&](char c) {
            return !std::isalnum(static_cast<unsigned char>(c)) && others.find(c) == others.npos;
        });
        return text.substr(0, static_cast<std::size_t>(end - text.begin()));
    }

    sim::Anonymiser anonymiser_{[](std::string_view, std::string_view) {}};
    std::map<std::string, std::string, std::less<>> originals_;
};

/// The targets of a group have the order of their names and addresses.
State in_order_of_targets(State state) {
    for (auto& [source, group] : state) {
        std::istringstream in(group);
        std::multiset<std::string> lines;
        for (std::string line; std::getline(in, line);) lines.insert(line + '\n');
        group.clear();
        for (const std::string& line : lines) group += line;
    }
    return state;
}

}  // namespace

TEST_CASE("Recordings: each replay of a random history is the same and ends in its state") {
    for_each_seed("RECORDINGS", 1000, [&](std::uint64_t seed) {
        Random random(seed);
        const DiscoveryConfig config = random_config(random, "http://cluster");
        const RecordingFile file;
        const Diffs diffs = record_history(random, config, file);
        const sim::Recording recording = sim::read_recording(file.path);
        REQUIRE(recording.end == sim::RecordingEnd::complete);
        const Diffs replayed = replay(recording, config);
        REQUIRE(state_after(replayed) == state_after(diffs));
        REQUIRE((replay(recording, config) == replayed));
    });
}

TEST_CASE("Recordings: a replay has the changes of the recorded run, each at its time") {
    for_each_seed("RECORDINGS", 1000, [&](std::uint64_t seed) {
        Random random(seed);
        const DiscoveryConfig config = random_config(random, "http://cluster");
        const RecordingFile file;
        Moments recorded;
        record_history(random, config, file, {}, recorded.on_diff());
        Moments replayed;
        const std::size_t unknown =
            replay(sim::read_recording(file.path), config, library_seed, replayed.on_diff());
        CHECK(unknown == 0);
        REQUIRE(replayed.states() == recorded.states());
    });
}

TEST_CASE("Recordings: for pods a replay has the diffs of the recorded run, one by one") {
    for_each_seed("RECORDINGS", 1000, [&](std::uint64_t seed) {
        Random random(seed);
        DiscoveryConfig config = random_config(random, "http://cluster");
        config.role = Role::pod;
        config.selectors.clear();
        config.attach_metadata = {};
        const RecordingFile file;
        const Diffs diffs = record_history(random, config, file);
        REQUIRE((replay(sim::read_recording(file.path), config, library_seed) == diffs));
    });
}

TEST_CASE("Recordings: an anonymous one replays to the same state under other names") {
    for_each_seed("RECORDINGS", 1000, [&](std::uint64_t seed) {
        Random random(seed);
        const DiscoveryConfig config = random_config(random, "http://cluster");
        const RecordingFile file;
        const Diffs diffs = record_history(random, config, file, {.anonymise = true});
        const sim::Recording recording = sim::read_recording(file.path);
        REQUIRE(recording.end == sim::RecordingEnd::complete);
        RecordedNames names(file);
        const Diffs replayed = replay(recording, names.anonymous(config));
        REQUIRE(in_order_of_targets(names.original(state_after(replayed))) ==
                in_order_of_targets(state_after(diffs)));
    });
}

}  // namespace recordings_tests
