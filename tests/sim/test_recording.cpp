// Recordings: of histories of a simulated shop, replayed, cut, and without secrets.

#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/sim/fixture.hpp"
#include "k8s_sd/sim/recording.hpp"
#include "k8s_sd/sim/shop.hpp"
#include "sim/recording/recording_format.hpp"
#include "support/recordings.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/detached.hpp>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

/// A history of the shop, with or without lost connections. \returns the diffs
Diffs record(const RecordingFile& file, std::uint64_t seed, Role role,
             sim::RecordingOptions options = {}) {
    sim::FixtureOptions set_up;
    set_up.server.token = "a secret token";
    set_up.environment = [&](Environment& environment) {
        environment.connector = std::make_shared<sim::RecordingConnector>(
            environment.connector, environment.clock, file.path, options);
    };
    sim::Fixture cluster(std::move(set_up));
    sim::Shop shop(cluster.server,
                   {.seed = seed,
                    .now = [] { return std::chrono::system_clock::time_point(1'700'000'000s); }});
    Diffs diffs;
    Discoverer discoverer(
        cluster.context.get_executor(), {.role = role, .api_server = cluster.api_server()},
        [&](const TargetGroupDiff& diff) { diffs.push_back(diff_in_words(diff)); });
    discoverer.async_run(asio::detached);
    cluster.settle();
    std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
    for (int step = 0; step < 40; ++step) {
        shop.step();
        if (random() % 16 == 0) cluster.server.disconnect_all();
        cluster.advance(std::chrono::milliseconds(random() % 3000));
    }
    cluster.advance(30s);
    discoverer.cancel();
    cluster.settle();
    return diffs;
}

}  // namespace

TEST_CASE("Recording: replays of a history deliver its diffs, each time the same") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        for (const Role role : {Role::pod, Role::endpointslice}) {
            CAPTURE(seed, to_string(role));
            const RecordingFile file;
            const Diffs diffs = record(file, seed, role);
            REQUIRE(diffs.size() > 5);
            const sim::Recording recording = sim::read_recording(file.path);
            CHECK(recording.end == sim::RecordingEnd::complete);
            std::size_t unknown = 0;
            const Diffs replayed = replay(recording, {.role = role}, 1, &unknown);
            CHECK(unknown == 0);
            CHECK((replay(recording, {.role = role}, 1) == replayed));
            // With several watches changes of one moment may be one diff or two.
            if (role == Role::pod) CHECK((replayed == diffs));
            CHECK(state_after(replayed) == state_after(diffs));
            CHECK(state_after(replay(recording, {.role = role}, 77)) == state_after(diffs));
        }
    }
}

TEST_CASE("Recording: cut at any byte it is readable to there") {
    const RecordingFile file;
    record(file, 3, Role::node);
    const std::string bytes = file.bytes();
    const sim::Recording whole = sim::parse_recording(bytes);
    std::size_t parts = 0;
    for (std::size_t size = 0; size <= bytes.size(); size += size < 2000 ? 1 : 97) {
        const sim::Recording cut = sim::parse_recording(std::string_view(bytes).substr(0, size));
        CHECK(cut.parts.size() >= parts);
        parts = cut.parts.size();
        REQUIRE(parts <= whole.parts.size());
        if (parts > 0) CHECK(cut.parts.back().text == whole.parts[parts - 1].text);
    }
    CHECK(sim::parse_recording(std::string_view(bytes).substr(0, bytes.size() - 1)).parts.size() ==
          whole.parts.size());
}

TEST_CASE("Recording: changed bytes and other files are refused or read in part") {
    const RecordingFile file;
    record(file, 4, Role::node);
    const std::string bytes = file.bytes();
    std::mt19937 random(1);
    for (int i = 0; i < 200; ++i) {
        std::string wrong = bytes;
        wrong[random() % wrong.size()] ^= static_cast<char>(1 + random() % 255);
        try {
            static_cast<void>(sim::parse_recording(wrong));
        } catch (const std::runtime_error&) {
            continue;
        }
    }
    CHECK_THROWS_AS(sim::parse_recording("this is no recording, but a long text; and it goes on, "
                                         "longer than a head"),
                    std::runtime_error);
    CHECK_THROWS_AS(sim::read_recording("/nonexistent/file"), std::runtime_error);
    CHECK_THROWS_AS(sim::RecordingConnector(nullptr, system_clock(), "/nonexistent/file"),
                    std::runtime_error);
}

TEST_CASE("Recording: it contains no credentials") {
    const RecordingFile file;
    record(file, 5, Role::pod);
    for (const sim::RecordedPart& part : sim::read_recording(file.path).parts) {
        CHECK(part.text.find("a secret token") == std::string::npos);
        CHECK(part.text.find("uthorization") == std::string::npos);
    }
}

TEST_CASE("Recording: it has neither Secrets nor lists of other servers") {
    CHECK(sim::is_recorded("GET /api/v1/pods HTTP/1.1\r\nHost: a\r\n\r\n"));
    CHECK_FALSE(sim::is_recorded("GET /api/v1/secrets HTTP/1.1\r\nHost: a\r\n\r\n"));
    CHECK_FALSE(sim::is_recorded("GET /api/plugins/sd/?token=s HTTP/1.1\r\nHost: a\r\n"
                                 "x-prometheus-refresh-interval-seconds: 60\r\n\r\n"));
}

TEST_CASE("Recording: at its limit it ends, and says so once") {
    const RecordingFile file;
    std::vector<std::string> reasons;
    const Diffs diffs = record(
        file, 6, Role::pod,
        {.max_bytes = 6'000, .on_end = [&](const std::string& why) { reasons.push_back(why); }});
    CHECK(reasons == std::vector<std::string>{"it has reached its limit of 6000 bytes"});
    CHECK(file.bytes().size() <= 6'000);
    const sim::Recording recording = sim::read_recording(file.path);
    CHECK(recording.end == sim::RecordingEnd::full);
    CHECK(diffs.size() > replay(recording, {.role = Role::pod}).size());
}
