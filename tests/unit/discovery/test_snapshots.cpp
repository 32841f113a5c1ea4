#include "k8s_sd/detail/discovery/packed_groups.hpp"
#include "k8s_sd/detail/discovery/snapshot_file.hpp"
#include "support/config_fixtures.hpp"
#include "support/groups.hpp"

#include <catch2/catch_test_macros.hpp>
#include <sys/stat.h>
#include <unistd.h>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

bool keep_all(std::string_view) { return true; }

std::vector<TargetGroupPtr> some_groups() {
    return {test::make_group("a", {{{"__address__", "h:1"}, {"x", "1"}}, {{"__address__", "h:2"}}},
                             {{"__meta_kubernetes_namespace", "shop"}, {"empty", ""}}),
            test::make_group("b", {{{"__address__", std::string(300, 'h')}}}, {},
                             0xF123'4567'89AB'CDEFU)};
}

TEST_CASE("pack_groups: groups come back equal") {
    const auto groups = some_groups();
    const auto back = unpack_groups(pack_groups(groups, keep_all));
    REQUIRE(back);
    REQUIRE(back->size() == groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
        CHECK((*back)[i]->source() == groups[i]->source());
        CHECK((*back)[i]->share_key() == groups[i]->share_key());
        CHECK(*(*back)[i] == *groups[i]);
        CHECK((*back)[i]->merged(0) == groups[i]->merged(0));
    }
    CHECK(unpack_groups(pack_groups({}, keep_all))->empty());
}

TEST_CASE("pack_groups: labels that are not kept are left out, with their values") {
    const auto bytes =
        pack_groups(some_groups(), [](std::string_view name) { return name != "x"; });
    const auto back = unpack_groups(bytes);
    REQUIRE(back);
    CHECK((*back)[0]->merged(0) ==
          LabelMap{{"__address__", "h:1"}, {"__meta_kubernetes_namespace", "shop"}});
}

TEST_CASE("pack_groups: what groups share is there once") {
    const auto group = test::make_group("a", {{{"__address__", std::string(1000, 'h')}}});
    const auto one = pack_groups(std::vector{group}, keep_all).size();
    const auto many = pack_groups(std::vector<TargetGroupPtr>(100, group), keep_all).size();
    CHECK(many < one + 100 * 20);
}

TEST_CASE(
    "unpack_groups: of bytes that are cut off or changed it takes nothing, or groups that can "
    "be used") {
    const std::string bytes = pack_groups(some_groups(), keep_all);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        CHECK_FALSE(unpack_groups(bytes.substr(0, size)));
    }
    CHECK_FALSE(unpack_groups(bytes + '\0'));
    std::mt19937 random(1);
    for (int i = 0; i < 20'000; ++i) {
        std::string changed = bytes;
        for (unsigned n = random() % 4 + 1; n > 0; --n) {
            changed[random() % changed.size()] = static_cast<char>(random());
        }
        const auto groups = unpack_groups(changed);
        if (!groups) continue;
        for (const auto& group : *groups) {
            for (std::size_t t = 0; t < group->size(); ++t) {
                CHECK(group->merged(t).size() <= 10);
            }
        }
    }
}

TEST_CASE("unpack_groups: bytes that say little do not become much memory") {
    // A million shapes without entries, a byte each.
    std::string shapes{"\xc0\x84\x3d", 3};
    shapes += std::string(1'000'000, '\0');
    shapes += std::string(2, '\0');
    CHECK_FALSE(unpack_groups(shapes));
}

const Digest ours = digest_of("ours");
const auto noon = std::chrono::system_clock::time_point(1'800'000'000s);

TEST_CASE("read_snapshot: gives back what was written") {
    const std::string bytes = snapshot_bytes({ours, noon}, "payload");
    const ReadSnapshot read = read_snapshot(bytes, ours, 1h, noon + 10min);
    CHECK(read.problem.empty());
    CHECK(read.payload == "payload");
    CHECK(read.created == noon);
}

TEST_CASE("read_snapshot: whatever is not as it was written is refused whole") {
    const std::string bytes = snapshot_bytes({ours, noon}, "payload");
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
    CHECK(problem("") == "is no snapshot of this version of the library");
    CHECK(problem(bytes + "x") == "is damaged or cut off");
    CHECK(problem(bytes, 1h + 1s) == "is too old");
    CHECK(problem(bytes, -6min) == "is from the future");
    CHECK(problem(bytes, -1min).empty());
    CHECK(problem(snapshot_bytes({digest_of("theirs"), noon}, "payload")) ==
          "is of another cluster or configuration");
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
    CHECK(d.problem == "may be used by others; chmod 700");
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
    CHECK(d.read(*directory, "a") == "may be read by others");
    fs::create_symlink("a", d.path + "/link");
    CHECK_FALSE(d.read(*directory, "link").empty());
    CHECK_FALSE(d.is_missing);
    fs::create_directory(d.path + "/folder");
    CHECK(d.read(*directory, "folder") == "is no regular file");
    // Nobody writes to it: a reader that opens it as it is waits for ever.
    REQUIRE(mkfifo((d.path + "/fifo").c_str(), 0600) == 0);
    CHECK(d.read(*directory, "fifo") == "is no regular file");
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

}  // namespace
}  // namespace k8s_sd::detail
