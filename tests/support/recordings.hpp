#pragma once

#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/sim/manual_clock.hpp"
#include "k8s_sd/sim/recording.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <unistd.h>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::test {

/// A file of this test.
class RecordingFile {
 public:
    RecordingFile() {
        static int count = 0;
        path = "/tmp/k8s-sd-recording-" + std::to_string(::getpid()) + "-" +
               std::to_string(++count) + ".gz";
    }
    explicit RecordingFile(std::string file) : path(std::move(file)) {}
    ~RecordingFile() {
        std::remove(path.c_str());
        std::remove(names().c_str());
    }
    RecordingFile(const RecordingFile&) = delete;
    RecordingFile& operator=(const RecordingFile&) = delete;

    /// With the originals of an anonymous recording.
    std::string names() const { return path + ".names"; }
    std::string bytes() const {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    }

    std::string path;
};

/// The order of the groups in a diff is no part of it.
inline std::set<std::string> diff_in_words(const TargetGroupDiff& diff) {
    std::set<std::string> words{diff.full ? "full" : "change"};
    for (const GroupChange& change : diff.updated) {
        std::ostringstream text;
        text << "+ " << change.group->source() << '\n';
        for (std::size_t i = 0; i < change.group->size(); ++i) {
            for (const auto& [name, value] : change.group->merged(i))
                text << ' ' << name << '=' << value;
            text << '\n';
        }
        words.insert(text.str());
    }
    for (const auto& group : diff.removed) words.insert("- " + std::string(group->source()));
    return words;
}

/// The sources and targets after these diffs.
using State = std::map<std::string, std::string>;

using Diffs = std::vector<std::set<std::string>>;

inline void add_diff(const std::set<std::string>& diff, State& state) {
    if (diff.contains("full")) state.clear();
    for (const std::string& change : diff) {
        const std::string source = change.substr(2, change.find('\n') - 2);
        if (change.starts_with("+ ")) state[source] = change;
        if (change.starts_with("- ")) state.erase(source);
    }
}

inline State state_after(const Diffs& diffs) {
    State state;
    for (const auto& diff : diffs) add_diff(diff, state);
    return state;
}

/// A diff, and the time since the beginning.
using OnDiff = std::function<void(const TargetGroupDiff&, Duration)>;

/// Replays the whole recording with this configuration, at an invented server.
/// \param seed  of the library \returns the number of unknown requests
inline std::size_t replay(const sim::Recording& recording, DiscoveryConfig config,
                          std::uint64_t seed, const OnDiff& on_diff) {
    asio::io_context io;
    const auto clock = std::make_shared<sim::ManualClock>();
    const auto connector = std::make_shared<sim::ReplayConnector>(recording, clock);
    Environment environment;
    environment.clock = clock;
    environment.connector = connector;
    environment.seed = seed;
    environment.logger.level = LogLevel::off;
    install(io, environment);
    config.api_server.url = "http://recording";
    const TimePoint begin = clock->now();
    Discoverer discoverer(io.get_executor(), config, [&](const TargetGroupDiff& diff) {
        on_diff(diff, clock->now() - begin);
    });
    discoverer.async_run(asio::detached);
    clock->advance(io, recording.duration());
    discoverer.cancel();
    clock->advance(io, {});
    return connector->unknown_requests();
}

/// The same. \param unknown  receives the number of unknown requests
inline Diffs replay(const sim::Recording& recording, DiscoveryConfig config, std::uint64_t seed = 1,
                    std::size_t* unknown = nullptr) {
    Diffs diffs;
    const std::size_t all =
        replay(recording, std::move(config), seed, [&](const TargetGroupDiff& diff, Duration) {
            diffs.push_back(diff_in_words(diff));
        });
    if (unknown) *unknown = all;
    return diffs;
}

}  // namespace k8s_sd::test
