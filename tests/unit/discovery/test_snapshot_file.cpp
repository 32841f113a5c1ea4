#include "k8s_sd/detail/discovery/snapshots/snapshot_file.hpp"
#include "support/config_fixtures.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <sys/stat.h>
#include <unistd.h>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

const SnapshotKey ours{"test 1", digest_of("ours")};
const auto noon = std::chrono::system_clock::time_point(1'800'000'000s);

TEST_CASE("read_snapshot: gives back what was written") {
    const std::string bytes = snapshot_bytes(ours, noon, "payload");
    const ReadSnapshot read = read_snapshot(bytes, ours, 1h, noon + 10min);
    CHECK(read.problem.empty());
    CHECK(read.payload == "payload");
    CHECK(read.age == 10min);
}

TEST_CASE("read_snapshot: whatever is not as it was written is refused whole") {
    const std::string bytes = snapshot_bytes(ours, noon, "payload");
    const auto problem = [&](std::string text, Duration age = 1h) {
        const ReadSnapshot read = read_snapshot(std::move(text), ours, 1h, noon + age);
        CHECK((read.problem.empty() || read.payload.empty()));
        return read.problem;
    };
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        std::string flipped = bytes;
        flipped[i] = static_cast<char>(flipped[i] ^ 1);
        CHECK_FALSE(problem(flipped).empty());
        CHECK_FALSE(problem(bytes.substr(0, i)).empty());
    }
    CHECK(problem("") == "is not a snapshot of this version of the library");
    CHECK(problem(bytes + "x") == "is damaged or cut off");
    CHECK(problem(bytes, 1h + 1s) == "is too old");
    CHECK(problem(bytes, -6min) == "is from the future");
    CHECK(problem(bytes, -1min).empty());
    CHECK(problem(snapshot_bytes({ours.kind, digest_of("theirs")}, noon, "payload")) ==
          "is of another cluster or configuration");
    CHECK(problem(snapshot_bytes({"test 2", ours.identity}, noon, "payload")) ==
          "is not a snapshot of this version of the library");
}

struct Directory {
    std::shared_ptr<SnapshotDirectory> open() {
        problem.clear();
        return SnapshotDirectory::open(path, problem);
    }
    std::string read(SnapshotDirectory& directory, const std::string& name) {
        return directory.read(name, 1000, bytes, is_missing);
    }
    test::TemporaryDirectory parent;
    std::string path = parent.path("snapshots");
    std::string problem;
    std::string bytes;
    bool is_missing = false;
};

TEST_CASE("SnapshotDirectory: is made for its owner alone, and so are its files") {
    Directory d;
    const auto directory = d.open();
    REQUIRE(directory);
    CHECK(directory->write("a", "one").empty());
    CHECK(directory->write("a", "two").empty());
    CHECK(d.read(*directory, "a").empty());
    CHECK(d.bytes == "two");
    struct stat status {};
    REQUIRE(stat(d.path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0700U);
    REQUIRE(stat((d.path + "/a").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0600U);
    CHECK_FALSE(d.read(*directory, "b").empty());
    CHECK(d.is_missing);
}

TEST_CASE("SnapshotDirectory: one that others may use, or that is none, is refused") {
    Directory d;
    fs::create_directory(d.path);
    REQUIRE(chmod(d.path.c_str(), 0755) == 0);
    CHECK_FALSE(d.open());
    CHECK(d.problem == "is accessible to others; chmod 700 it");
    REQUIRE(chmod(d.path.c_str(), 0700) == 0);
    CHECK(d.open());
    fs::rename(d.path, d.path + "-real");
    fs::create_directory_symlink(d.path + "-real", d.path);
    CHECK_FALSE(d.open());
    fs::remove(d.path);
    d.parent.write("snapshots", "a file");
    CHECK_FALSE(d.open());
    d.path = d.parent.path("no/such/parent");
    CHECK_FALSE(d.open());
    CHECK(d.problem.starts_with("cannot be made: "));
}

TEST_CASE("SnapshotDirectory: is of one program at a time") {
    Directory d;
    auto first = d.open();
    REQUIRE(first);
    CHECK_FALSE(d.open());
    CHECK(d.problem == "is in use by another program");
    first.reset();
    CHECK(d.open());
}

TEST_CASE("SnapshotDirectory: files that are no files of ours are not read") {
    Directory d;
    const auto directory = d.open();
    REQUIRE(directory);
    REQUIRE(directory->write("a", std::string(2000, 'x')).empty());
    CHECK(d.read(*directory, "a") == "is too large");
    REQUIRE(directory->write("a", "x").empty());
    REQUIRE(chmod((d.path + "/a").c_str(), 0640) == 0);
    CHECK(d.read(*directory, "a") == "is readable by others");
    fs::create_symlink("a", d.path + "/link");
    CHECK_FALSE(d.read(*directory, "link").empty());
    CHECK_FALSE(d.is_missing);
    fs::create_directory(d.path + "/folder");
    CHECK(d.read(*directory, "folder") == "is not a regular file");
    // Nothing writes to it: a blocking open by the reader would never return.
    REQUIRE(mkfifo((d.path + "/fifo").c_str(), 0600) == 0);
    CHECK(d.read(*directory, "fifo") == "is not a regular file");
}

TEST_CASE("SnapshotDirectory: what a program left half written goes, the file before stays") {
    Directory d;
    REQUIRE(d.open()->write("a", "whole").empty());
    std::ofstream(d.path + "/.new-a") << "half";
    const auto directory = d.open();
    REQUIRE(directory);
    CHECK_FALSE(fs::exists(d.path + "/.new-a"));
    CHECK(d.read(*directory, "a").empty());
    CHECK(d.bytes == "whole");
}

TEST_CASE("SnapshotDirectory: only old files of one suffix are removed") {
    Directory d;
    const auto directory = d.open();
    REQUIRE(directory);
    for (const char* name : {"old.targets", "new.targets", "old.view"}) {
        CHECK(directory->write(name, "x").empty());
    }
    const auto yesterday = fs::file_time_type::clock::now() - 25h;
    for (const char* name : {"/old.targets", "/old.view"}) {
        fs::last_write_time(d.path + name, yesterday);
    }
    directory->remove_old(".targets", 24h);
    CHECK_FALSE(fs::exists(d.path + "/old.targets"));
    CHECK(fs::exists(d.path + "/new.targets"));
    CHECK(fs::exists(d.path + "/old.view"));
}

TEST_CASE("SnapshotFiles: what is written is read by another program, and one of a context") {
    Directory d;
    const auto write = [](const SnapshotFiles& files, const std::string& bytes) {
        return files.write("a", 1000, [&] { return bytes; });
    };
    {
        asio::io_context context;
        const auto files = SnapshotFiles::of(context.get_executor(), d.path);
        CHECK(files == SnapshotFiles::of(context.get_executor(), d.path));
        CHECK(files->read("a", 1000).is_missing);
        CHECK(write(*files, "one").empty());
        CHECK(files->read("a", 1000).bytes == "one");
        CHECK(SnapshotFiles(d.path).read("a", 1000).problem ==
              "the directory is in use by another program");
        CHECK(write(*files, std::string(1001, 'x')) == "it takes more than 1000 bytes");
    }
    const SnapshotFiles next(d.path);
    CHECK(next.read("a", 1000).bytes == "one");
    CHECK(next.read("a", 2).problem == "the file is too large");
}

TEST_CASE("SnapshotFiles: a directory that cannot be opened is tried again") {
    Directory d;
    auto other = d.open();
    const SnapshotFiles files(d.path);
    CHECK(files.write("a", 1000, [] { return "one"; }) ==
          "the directory is in use by another program");
    other.reset();
    CHECK(files.write("a", 1000, [] { return "one"; }).empty());
}

}  // namespace
}  // namespace k8s_sd::detail
