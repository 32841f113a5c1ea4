// The files of recordings: their limits, their names, and what can happen to them on disk.

#include "k8s_sd/sim/manual_clock.hpp"
#include "k8s_sd/sim/recording.hpp"
#include "sim/recording/anonymiser.hpp"
#include "sim/recording/recording_format.hpp"
#include "sim/recording/recording_writer.hpp"
#include "support/recordings.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

/// A writer of a test, and what it reports.
class TestedWriter {
 public:
    explicit TestedWriter(const std::string& path, sim::RecordingOptions options = {},
                          std::uint64_t max_text = sim::max_recorded_text)
        : writer(clock, path, reporting(std::move(options)), max_text) {}

    /// Adds bytes of a response.
    void add(const std::string& text) {
        writer.add(sim::RecordedPart::Kind::bytes, {.file = writer.file(), .stream = 1}, text);
    }

    std::vector<std::string> ended{};
    std::vector<std::string> full{};
    const std::shared_ptr<sim::ManualClock> clock = std::make_shared<sim::ManualClock>();
    sim::RecordingWriter writer;

 private:
    sim::RecordingOptions reporting(sim::RecordingOptions options) {
        options.on_end = [this](const std::string& why) { ended.push_back(why); };
        options.on_full = [this](const std::string& line) { full.push_back(line); };
        return options;
    }
};

/// 10 kB that cannot be compressed.
std::string random_text(int seed) {
    std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
    std::string text(10'000, ' ');
    for (char& c : text) c = static_cast<char>(random());
    return text;
}

}  // namespace

TEST_CASE("Recording files: a file is full before its text is too long for a replay") {
    constexpr std::uint64_t max_text = 100'000;
    const std::string zeros(10'000, '0');
    const RecordingFile file;
    TestedWriter tested(file.path, {}, max_text);
    for (int i = 0; i < 20; ++i) tested.add(zeros);
    CHECK(tested.ended ==
          std::vector<std::string>{"it has reached its limit of 100000 bytes of text"});
    CHECK(file.bytes().size() < 10'000);
    CHECK(sim::recorded_text(file.bytes(), max_text).size() > 90'000);
    const sim::Recording recording = sim::parse_recording(file.bytes());
    CHECK(recording.end == sim::RecordingEnd::full);
    CHECK(recording.parts.size() == 9);
}

TEST_CASE("Recording files: each file has its own limit of text") {
    const RecordingFile file;
    const RecordingFile former(file.path + ".1");
    TestedWriter tested(file.path, {.former_files = 1}, 100'000);
    const std::string zeros(10'000, '0');
    for (int i = 0; i < 15; ++i) tested.add(zeros);
    CHECK(tested.ended.empty());
    CHECK(tested.full.size() == 1);
    tested.writer.end();
    CHECK(sim::read_recording(former.path).parts.size() == 9);
    CHECK(sim::read_recording(file.path).parts.size() == 5);
}

TEST_CASE("Recording files: a text beyond the limit is refused, not read in part") {
    const RecordingFile file;
    TestedWriter tested(file.path);
    tested.add(std::string(100'000, '0'));
    tested.writer.end();
    CHECK(sim::recorded_text(file.bytes(), 101'000).size() > 100'000);
    CHECK_THROWS_AS(sim::recorded_text(file.bytes(), 100'000), std::runtime_error);
}

TEST_CASE("Recording files: large files are read to their end") {
    const RecordingFile file;
    TestedWriter tested(file.path);
    for (int i = 0; i < 100; ++i) tested.add(random_text(i));
    tested.writer.end();
    REQUIRE(file.bytes().size() > 900'000);
    const sim::Recording recording = sim::read_recording(file.path);
    CHECK(recording.end == sim::RecordingEnd::complete);
    CHECK(recording.parts.size() == 100);
}

TEST_CASE("Recording files: a full file that cannot be renamed stays, and recording ends") {
    const RecordingFile file;
    const std::filesystem::path obstacle = file.path + ".1";
    std::filesystem::create_directory(obstacle);
    TestedWriter tested(file.path, {.max_bytes = 20'000, .former_files = 1});
    for (int i = 0; i < 5; ++i) tested.add(random_text(i));
    const sim::Recording recording = sim::read_recording(file.path);
    const std::vector<std::string> ended = tested.ended;
    std::filesystem::remove(obstacle);
    REQUIRE(ended.size() == 1);
    CHECK(ended[0].starts_with(file.path + " stays as it is, since it cannot become " +
                               obstacle.string() + ": "));
    CHECK(recording.end == sim::RecordingEnd::full);
    CHECK(recording.parts.size() == 1);
}

TEST_CASE("Recording files: a former recording that cannot be renamed is not overwritten") {
    const RecordingFile file;
    TestedWriter(file.path).add("former");
    const std::string bytes = file.bytes();
    const std::filesystem::path obstacle = file.path + ".1";
    std::filesystem::create_directory(obstacle);
    CHECK_THROWS_AS(TestedWriter(file.path, {.former_files = 1}), std::runtime_error);
    std::filesystem::remove(obstacle);
    CHECK(file.bytes() == bytes);
}

TEST_CASE("Recording files: only the owner may read them, even if they existed") {
    const RecordingFile file;
    for (const std::string& path : {file.path, file.names()}) {
        std::ofstream(path)
            << "a longer text than a recording without any part, which is gone then";
        std::filesystem::permissions(path, std::filesystem::perms{0644});
    }
    TestedWriter(file.path, {.anonymise = true}).writer.end();
    for (const std::string& path : {file.path, file.names()}) {
        CHECK(std::filesystem::status(path).permissions() == std::filesystem::perms{0600});
    }
    CHECK(sim::read_recording(file.path).end == sim::RecordingEnd::complete);
    CHECK(std::filesystem::file_size(file.names()) == 0);
}

TEST_CASE("Recording files: the names of an anonymous file count as well") {
    const RecordingFile file;
    TestedWriter tested(file.path, {.max_bytes = 20'000, .anonymise = true});
    for (int i = 0; i < 1000 && tested.ended.empty(); ++i) {
        tested.add(tested.writer.names()->text(std::string(60, 'x') + std::to_string(i)));
    }
    CHECK(tested.ended == std::vector<std::string>{"it has reached its limit of 20000 bytes"});
    CHECK(std::filesystem::file_size(file.names()) > 5'000);
    CHECK(std::filesystem::file_size(file.names()) + file.bytes().size() <= 20'000);
}

TEST_CASE("Recording files: a plain recording removes the names of the one that it replaces") {
    const RecordingFile file;
    TestedWriter(file.path, {.anonymise = true}).writer.names()->text("orders");
    CHECK(std::filesystem::file_size(file.names()) > 0);
    const TestedWriter plain(file.path);
    CHECK_FALSE(std::filesystem::exists(file.names()));
}

TEST_CASE("Recording files: a limit that no recording fits into is refused") {
    const RecordingFile file;
    CHECK_THROWS_AS(TestedWriter(file.path, {.max_bytes = 100}), std::runtime_error);
    CHECK_FALSE(std::filesystem::exists(file.path));
}

TEST_CASE("Recording files: a full file takes no more, and the next one does") {
    asio::io_context io;
    const RecordingFile file;
    const RecordingFile former(file.path + ".1");
    TestedWriter tested(file.path, {.max_bytes = 20'000, .former_files = 1});
    const sim::RecordingWriter::Place first{.file = 0, .stream = 1};
    CHECK(tested.writer.takes(first));
    // The second file may begin at once, the third one later.
    for (int i = 0; i < 4; ++i) tested.add(random_text(i));
    const sim::RecordingWriter::Place second{.file = 1, .stream = 1};
    CHECK_FALSE(tested.writer.takes(first));
    CHECK_FALSE(tested.writer.takes(second));
    CHECK(tested.writer.file() == 1);
    tested.clock->advance(io, std::chrono::minutes(10));
    CHECK_FALSE(tested.writer.takes(second));
    CHECK(tested.writer.file() == 2);
    CHECK(tested.writer.takes({.file = 2, .stream = 1}));
}

TEST_CASE("Recording files: a list is cut whichever part comes last, and a watch completes it") {
    const bool watches = GENERATE(true, false);
    CAPTURE(watches);
    const RecordingFile file;
    const RecordingFile former(file.path + ".1");
    TestedWriter tested(file.path, {.max_bytes = 20'000, .former_files = 1});
    const auto begin = [&](const std::string& target) {
        tested.writer.begin(1, "server", sim::collection_request("GET " + target + " HTTP/1.1"));
    };
    for (int i = 0; i < 2; ++i) {
        begin("/api/v1/pods?limit=500&resourceVersion=0");
        begin("/api/v1/pods?limit=500&continue=abc");
        if (watches) begin("/api/v1/pods?watch=1&resourceVersion=7");
        tested.add(random_text(i));
        // Of another connection, without a collection.
        tested.writer.add(sim::RecordedPart::Kind::connect,
                          {.file = tested.writer.file(), .stream = 2}, random_text(i));
    }
    const std::vector<std::string> reasons{"the lists do not fit into its limit of 20000 bytes"};
    CHECK(tested.ended == (watches ? std::vector<std::string>{} : reasons));
}
