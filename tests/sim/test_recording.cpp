// Recordings: of histories of a simulated shop, replayed, cut, and without secrets.

#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/sim/fixture.hpp"
#include "k8s_sd/sim/recording.hpp"
#include "k8s_sd/sim/shop.hpp"
#include "sim/recording/recording_format.hpp"
#include "support/effort.hpp"
#include "support/recordings.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <boost/asio/detached.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;
using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

/// How long a history is.
struct History {
    int steps = 40;
    unsigned max_pause = 3000;  ///< milliseconds between them
    bool watch_list = true;     ///< of the server
    unsigned page_size = 500;   ///< of lists
    Compression gzip = Compression::automatic;
};

/// A history of the shop, with or without lost connections. \returns the diffs
Diffs record(const RecordingFile& file, std::uint64_t seed, Role role,
             sim::RecordingOptions options = {}, const History& history = {}) {
    sim::FixtureOptions set_up;
    set_up.server.token = "a secret token";
    set_up.server.watch_list = history.watch_list;
    if (history.gzip == Compression::always) set_up.server.gzip_threshold = 0;
    set_up.environment = [&](Environment& environment) {
        environment.connector = std::make_shared<sim::RecordingConnector>(
            environment.connector, environment.clock, file.path, options);
    };
    sim::Fixture cluster(std::move(set_up));
    sim::Shop shop(cluster.server,
                   {.seed = seed,
                    .now = [] { return std::chrono::system_clock::time_point(1'700'000'000s); }});
    Diffs diffs;
    DiscoveryConfig config{.role = role, .api_server = cluster.api_server()};
    config.watch.page_size = history.page_size;
    config.watch.gzip = history.gzip;
    Discoverer discoverer(cluster.context.get_executor(), config, [&](const TargetGroupDiff& diff) {
        diffs.push_back(diff_in_words(diff));
    });
    discoverer.async_run(asio::detached);
    cluster.settle();
    std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
    for (int step = 0; step < history.steps; ++step) {
        shop.step();
        if (random() % 16 == 0) cluster.server.disconnect_all();
        cluster.advance(std::chrono::milliseconds(random() % history.max_pause));
    }
    cluster.advance(30s);
    discoverer.cancel();
    cluster.settle();
    return diffs;
}

bool is_same(const sim::RecordedPart& a, const sim::RecordedPart& b) {
    return a.kind == b.kind && a.stream == b.stream && a.time == b.time && a.text == b.text;
}

}  // namespace

TEST_CASE("Recording: replays of a history deliver its diffs, each time the same") {
    for (std::uint64_t seed = 1; seed <= rounds(20U); ++seed) {
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
    sim::RecordingOptions options;
    History history{.steps = 2};
    SECTION("plain") {}
    SECTION("anonymous") { options.anonymise = true; }
    SECTION("with lists that the server has compressed") { history.gzip = Compression::always; }
    const RecordingFile file;
    record(file, 3, Role::node, options, history);
    const std::string bytes = file.bytes();
    const sim::Recording whole = sim::parse_recording(bytes);
    const bool has_gzip =
        std::any_of(whole.parts.begin(), whole.parts.end(), [](const sim::RecordedPart& part) {
            return part.text.find("Content-Encoding: gzip") != std::string::npos;
        });
    CHECK(has_gzip == (history.gzip == Compression::always));
    std::size_t parts = 0;
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
        const sim::Recording cut = sim::parse_recording(std::string_view(bytes).substr(0, size));
        REQUIRE(cut.parts.size() >= parts);
        parts = cut.parts.size();
        REQUIRE(parts <= whole.parts.size());
        REQUIRE(std::equal(cut.parts.begin(), cut.parts.end(), whole.parts.begin(), is_same));
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

namespace {

/// The files of a recording that was continued in further files.
class RecordingFiles {
 public:
    explicit RecordingFiles(unsigned former_files) : names_(former_files) {}
    ~RecordingFiles() {
        for (unsigned number = 1; number <= names_ + 1; ++number) {
            std::remove(former(number).c_str());
            std::remove((former(number) + ".names").c_str());
        }
    }
    RecordingFiles(const RecordingFiles&) = delete;
    RecordingFiles& operator=(const RecordingFiles&) = delete;

    std::string former(unsigned number) const { return last.path + "." + std::to_string(number); }
    /// The newest file first.
    std::vector<sim::Recording> read() const {
        std::vector<sim::Recording> recordings{sim::read_recording(last.path)};
        for (unsigned number = 1; number <= names_; ++number) {
            if (std::ifstream(former(number))) {
                recordings.push_back(sim::read_recording(former(number)));
            }
        }
        return recordings;
    }

    const RecordingFile last;

 private:
    const unsigned names_;
};

std::size_t removed_groups(const Diffs& diffs) {
    std::size_t count = 0;
    for (const auto& diff : diffs) {
        count += static_cast<std::size_t>(
            std::count_if(diff.begin(), diff.end(),
                          [](const std::string& change) { return change.starts_with("- "); }));
    }
    return count;
}

/// The first lines of the requests of a recording.
std::string requests_in(const sim::Recording& recording) {
    std::string text;
    for (const sim::RecordedPart& part : recording.parts) {
        if (part.kind != sim::RecordedPart::Kind::request) continue;
        text += part.text.substr(0, part.text.find('\r')) + '\n';
    }
    return text;
}

constexpr std::string_view next_file = "the recording goes on in a new file, for which everything";

/// About four hours.
constexpr History long_history{.steps = 1500, .max_pause = 18'000};

}  // namespace

TEST_CASE("Recording: each of several files replays alone, and the targets are not disturbed") {
    const Role role = GENERATE(Role::pod, Role::endpointslice);
    History history = long_history;
    history.watch_list = role == Role::pod;
    CAPTURE(to_string(role));
    const RecordingFile whole;
    const Diffs undisturbed = record(whole, 7, role, {}, history);
    const RecordingFiles files(3);
    std::vector<std::string> lines;
    std::vector<std::string> reasons;
    const Diffs diffs = record(files.last, 7, role,
                               {.max_bytes = 40'000,
                                .former_files = 3,
                                .on_end = [&](const std::string& why) { reasons.push_back(why); },
                                .on_full = [&](const std::string& line) { lines.push_back(line); }},
                               history);
    CHECK(reasons == std::vector<std::string>());
    CHECK(state_after(diffs) == state_after(undisturbed));
    CHECK(removed_groups(diffs) <= removed_groups(undisturbed));
    const auto next_files = std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
        return line.starts_with(next_file);
    });
    CHECK(next_files > 3);
    CHECK(next_files < 26);

    const std::vector<sim::Recording> recordings = files.read();
    REQUIRE(recordings.size() == 4);
    CHECK_FALSE(std::ifstream(files.former(4)));
    CHECK(recordings[0].end == sim::RecordingEnd::complete);
    for (const sim::Recording& recording : recordings) {
        INFO(requests_in(recording));
        if (&recording != &recordings[0]) CHECK(recording.end == sim::RecordingEnd::full);
        std::size_t unknown = 0;
        const Diffs replayed = replay(recording, {.role = role}, 1, &unknown);
        CHECK(unknown == 0);
        REQUIRE_FALSE(replayed.empty());
        CHECK(replayed.front().contains("full"));
        CHECK(replayed.front().size() > 3);
        CHECK((replay(recording, {.role = role}, 1) == replayed));
    }
    CHECK(state_after(replay(recordings[0], {.role = role})) == state_after(diffs));
}

TEST_CASE("Recording: each of several anonymous files has its own names") {
    const RecordingFiles files(2);
    record(files.last, 8, Role::pod, {.max_bytes = 40'000, .former_files = 2, .anonymise = true},
           long_history);
    const std::vector<sim::Recording> recordings = files.read();
    REQUIRE(recordings.size() == 3);
    for (const sim::Recording& recording : recordings) {
        INFO(requests_in(recording));
        CHECK_FALSE(replay(recording, {.role = Role::pod}).empty());
    }
    CHECK(std::ifstream(files.former(2) + ".names"));
}

TEST_CASE("Recording: lists larger than a file end it, after one more try") {
    const RecordingFiles files(2);
    std::vector<std::string> reasons;
    std::vector<std::string> lines;
    const Diffs diffs = record(files.last, 9, Role::pod,
                               {.max_bytes = 3'000,
                                .former_files = 2,
                                .on_end = [&](const std::string& why) { reasons.push_back(why); },
                                .on_full = [&](const std::string& line) { lines.push_back(line); }},
                               {.max_pause = 18'000});
    CHECK(reasons == std::vector<std::string>{"the lists do not fit into its limit of 3000 bytes"});
    CHECK(lines.size() == 1);
    CHECK(diffs.size() > 5);
}

TEST_CASE("Recording: lists of several pages or collections that are too large end it as well") {
    const bool in_pages = GENERATE(true, false);
    const History history{.steps = 600,
                          .max_pause = 18'000,
                          .watch_list = !in_pages,
                          .page_size = in_pages ? 2U : 500U};
    CAPTURE(in_pages);
    const RecordingFiles files(1);
    std::vector<std::string> reasons;
    std::vector<std::string> lines;
    const Diffs diffs = record(files.last, 11, in_pages ? Role::pod : Role::endpointslice,
                               {.max_bytes = 3'000,
                                .former_files = 1,
                                .on_end = [&](const std::string& why) { reasons.push_back(why); },
                                .on_full = [&](const std::string& line) { lines.push_back(line); }},
                               history);
    CHECK(reasons == std::vector<std::string>{"the lists do not fit into its limit of 3000 bytes"});
    CHECK(lines.size() < 5);
    CHECK(diffs.size() > 5);
}

TEST_CASE("Recording: a file that is full too soon is followed by the next one in time") {
    const RecordingFiles files(1);
    std::vector<std::string> lines;
    record(files.last, 10, Role::pod,
           {.max_bytes = 40'000,
            .former_files = 1,
            .min_time_between_files = 2h,
            .on_full = [&](const std::string& line) { lines.push_back(line); }},
           long_history);
    CAPTURE(lines);
    REQUIRE(lines.size() >= 3);
    CHECK(lines.size() <= 5);
    CHECK(lines[0].starts_with(next_file));
    CHECK(lines[1].starts_with("the file of the recording is full; the next one begins in "));
    CHECK(lines[2] == lines[0]);
}
