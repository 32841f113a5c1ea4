#include "k8s_sd/detail/config/config_file.hpp"
#include "k8s_sd/detail/discovery/sources/file_targets.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"
#include "support/dialects.hpp"

#include <catch2/catch_test_macros.hpp>
#include <sys/stat.h>
#include <filesystem>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using detail::FileScan;

namespace {

/// A directory of files, and a configuration that names some of them.
struct Files {
    std::string add(const std::string& name, const std::string& content) const {
        return directory.write(name, content);
    }
    void name(const std::string& pattern) { config.files.push_back(directory.path(pattern)); }
    FileScan scan(const detail::KnownTargetFiles& known = {}) {
        return detail::scan_files(config, known, maker);
    }
    std::vector<std::string> find(const std::string& pattern) const {
        std::vector<std::string> names;
        for (const std::string& path : detail::find_files(directory.path(pattern), 1000).paths) {
            names.push_back(path.substr(directory.path().size() + 1));
        }
        return names;
    }

    TemporaryDirectory directory;
    FileSdConfig config;
    TargetGroupMaker maker;
};

using Names = std::vector<std::string>;

detail::KnownTargetFiles known_after(const FileScan& scan) {
    detail::KnownTargetFiles known;
    for (const auto& [path, file] : scan.files) {
        if (file.problem.empty()) known[path].list = file.content;
        if (!file.content.mistake.empty()) known[path].bad = file.content;
    }
    return known;
}

}  // namespace

// --- patterns ------------------------------------------------------------------------------------

TEST_CASE("find_files: a name without pattern is found where it exists") {
    Files f;
    f.add("a.json", "");
    CHECK(f.find("a.json") == Names{"a.json"});
    CHECK(f.find("b.json").empty());
    CHECK(f.find("a.json/b.json").empty());
    CHECK(detail::find_files(f.directory.path("none/x"), 10).problem == "");
}

TEST_CASE("find_files: patterns match in the order of the names, also those with a dot in front") {
    Files f;
    for (const char* name : {"b.json", "a.json", ".c.json", "x.yml", "d/e.json", "d/f/g.json"}) {
        f.add(name, "");
    }
    CHECK(f.find("*.json") == Names{".c.json", "a.json", "b.json"});
    CHECK(f.find("[ab].json") == Names{"a.json", "b.json"});
    CHECK(f.find("?.yml") == Names{"x.yml"});
    CHECK(f.find("*/*.json") == Names{"d/e.json"});
    CHECK(f.find("d/*/g.json") == Names{"d/f/g.json"});
    CHECK(f.find("none/*.json").empty());
    CHECK(f.find("a.json/*").empty());
}

TEST_CASE("find_files: patterns are those of Go, not of a shell") {
    Files f;
    const Names names{"!.json", "a.json", "ab.json", "b.json", "\xc3\xa9.json", "\xff.json"};
    for (const std::string& name : names) f.add(name, "");
    CHECK(f.find("[!a].json") == Names{"!.json", "a.json"});
    CHECK(f.find("[^!a].json") == Names{"b.json", "\xc3\xa9.json", "\xff.json"});
    CHECK(f.find("?.json") == Names{"!.json", "a.json", "b.json", "\xc3\xa9.json", "\xff.json"});
    CHECK(f.find("[\xc3\xa0-\xc3\xaf].json") == Names{"\xc3\xa9.json"});
    CHECK(f.find("[[:alpha:]].json").empty());
    CHECK(f.find("a*b*.json") == Names{"ab.json"});
    CHECK(f.find("*a*.json") == Names{"a.json", "ab.json"});
    CHECK(f.find("\\a?json") == Names{"a.json"});
    f.add("a/x.json", "");
    CHECK(f.find("?\\/x.json").empty());  // a part that ends with "\\"
    // Every combination is not tried.
    f.add(std::string(200, 'a'), "");
    std::string stars;
    for (int i = 0; i < 100; ++i) stars += "*a";
    CHECK(f.find(stars + "*b").empty());
}

TEST_CASE("find_files: an endless directory is left, and reported") {
    Files f;
    for (int i = 0; i < 5; ++i) f.add(std::to_string(i) + ".json", "");
    const auto found = detail::find_files(f.directory.path("*.json"), 3);
    CHECK(found.paths.size() == 3);
    CHECK(contains(found.problem, "there are too many files"));
}

TEST_CASE("find_files: an overlong path is reported, and costs nothing") {
    std::string path = "/";
    for (int i = 0; i < 1'000'000; ++i) path += "a/";
    CHECK(contains(detail::find_files(path + "*.yml", 10).problem, "more than 4095 bytes"));
    CHECK(detail::find_files(path.substr(0, 4095), 10).problem == "");
    FileSdConfig config;
    config.files = {path + "x.json"};
    CHECK(config_error([&] { validate(config); }) == "files[0]: is longer than 4095 bytes");
}

TEST_CASE("find_files: an endless pattern is reported") {
    for (const char* pattern :
         {"[", "a[.yml", "[]", "[a", "[a-", "[a-]", "[-a]", "x\\", "[^", "[\\"}) {
        CAPTURE(pattern);
        CHECK(contains(detail::find_files(pattern, 10).problem, "is no pattern"));
    }
    for (const char* pattern :
         {"[a]", "[^a]", "[a-z]", "[\\]]", "[ab-cd]", "\\[", "a]", "a-b", "*?"}) {
        CAPTURE(pattern);
        CHECK(detail::find_files(pattern, 1'000'000).problem == "");
    }
}

// --- files ---------------------------------------------------------------------------------------

TEST_CASE("scan_files: each file has groups with its path as label") {
    Files f;
    const std::string path = f.add("a.json", R"([{"targets":["x:1"]},{"targets":["y:1"]}])");
    f.name("*.json");
    const FileScan scan = f.scan();
    REQUIRE(scan.files.size() == 1);
    const auto& groups = scan.files.at(path).groups;
    REQUIRE(groups->size() == 2);
    CHECK((*groups)[1]->source() == path + ":1");
    CHECK((*groups)[1]->merged(0) == LabelMap{{"__address__", "y:1"}, {"__meta_filepath", path}});
}

TEST_CASE("scan_files: to vmagent the path is relative to the configuration") {
    Files f;
    f.config.dialect = vm;
    f.config.directory = f.directory.path();
    const std::string path = f.add("d/a", "- targets: [x]\n");
    f.name("d/a");
    const auto label = [&] {
        const detail::FileScan scan = f.scan();
        return std::string(
            (*scan.files.at(path).groups)[0]->labels().get("__meta_filepath").value_or("none"));
    };
    CHECK(label() == "d/a");
    f.config.directory = "/elsewhere";
    CHECK(label() == path);
}

TEST_CASE("scan_files: what has not changed is not read into groups again") {
    Files f;
    const std::string path = f.add("a.json", R"([{"targets":["x:1"]}])");
    f.name("a.json");
    detail::KnownTargetFiles known = known_after(f.scan());
    CHECK_FALSE(f.scan(known).files.at(path).groups);
    ++known[path].list.hash;
    CHECK(f.scan(known).files.at(path).groups);
    --known[path].list.hash;
    f.add("a.json", R"([{"targets":["x:2"]}])");
    CHECK(f.scan(known).files.at(path).groups);
}

TEST_CASE("scan_files: bad bytes are not parsed again, and the problem stays") {
    Files f;
    const std::string path = f.add("a.json", "[{");
    f.name("a.json");
    const FileScan first = f.scan();
    const std::string problem = first.files.at(path).problem;
    CHECK(contains(problem, "is not JSON"));
    detail::KnownTargetFiles known = known_after(first);
    known[path].bad.mistake = "remembered";
    CHECK(f.scan(known).files.at(path).problem == "remembered");
    f.add("a.json", "[]");
    CHECK(f.scan(known).files.at(path).problem == "");
    // A file refused for its length may be accepted once others are shorter.
    f.config.max_targets = 1;
    f.add("a.json", R"([{"targets":["x","y"]}])");
    CHECK(f.scan().files.at(path).content.mistake == "");
}

TEST_CASE("scan_files: a file that two patterns match is there once") {
    Files f;
    f.add("a.json", "[]");
    f.name("a.json");
    f.name("*.json");
    CHECK(f.scan().files.size() == 1);
}

TEST_CASE("scan_files: a bad file has a problem with its path, and the others are read") {
    Files f;
    const std::string bad = f.add("bad.json", R"([{"targets":["hunter2"]})");
    const std::string yaml = f.add("bad.yml", "- targets: hunter2\n");
    const std::string good = f.add("good.json", "[]");
    f.name("*.json");
    f.name("*.yml");
    const FileScan scan = f.scan();
    CHECK(scan.files.at(good).groups);
    CHECK(scan.files.at(bad).problem.starts_with(bad + ": the list: is not JSON"));
    CHECK(scan.files.at(yaml).problem == yaml + ":1: [0].targets: must be a list");
    for (const auto& [path, file] : scan.files) CHECK_FALSE(contains(file.problem, "hunter2"));
}

TEST_CASE("scan_files: an irregular file is reported and does not block the scan") {
    Files f;
    std::filesystem::create_directory(f.directory.path("d.json"));
    REQUIRE(::mkfifo(f.directory.path("fifo.json").c_str(), 0600) == 0);
    std::filesystem::create_symlink("gone", f.directory.path("link.json"));
    f.name("*.json");
    const FileScan scan = f.scan();
    CHECK(contains(scan.files.at(f.directory.path("d.json")).problem, "not a regular file"));
    CHECK(contains(scan.files.at(f.directory.path("fifo.json")).problem, "not a regular file"));
    CHECK(contains(scan.files.at(f.directory.path("link.json")).problem, "No such file"));
}

TEST_CASE("scan_files: a name without a file is reported, a pattern without one is not") {
    Files f;
    f.name("*.json");
    f.name("a.json");
    const FileScan scan = f.scan();
    CHECK(scan.files.empty());
    CHECK(scan.omissions.empty());
    CHECK(scan.missing == Names{f.directory.path("a.json")});
}

TEST_CASE("scan_files: files, bytes and targets are limited") {
    Files f;
    const std::string a = f.add("a.json", R"([{"targets":["1","2"]}])");
    const std::string b = f.add("b.json", R"([{"targets":["3"]}])");
    f.name("*.json");
    SECTION("files") {
        f.config.max_files = 1;
        const FileScan scan = f.scan();
        CHECK(scan.files.size() == 1);
        CHECK(scan.omissions.at(0) == "there are more than 1 files");
    }
    SECTION("bytes of a file") {
        f.config.max_file_bytes = 20;
        const FileScan scan = f.scan();
        CHECK(scan.files.at(a).problem == "cannot read " + a + ": it is larger than 20 bytes");
        CHECK(scan.files.at(b).groups);
    }
    SECTION("bytes of all") {
        f.config.max_bytes = 30;
        const FileScan scan = f.scan();
        CHECK(scan.files.at(a).groups);
        CHECK(contains(scan.files.at(b).problem, "it is larger than"));
        CHECK(scan.files.at(b).problem.ends_with("(max_bytes applies to all files)"));
    }
    SECTION("targets of a file") {
        f.config.max_targets = 1;
        CHECK(f.scan().files.at(a).problem == a + ": the list: has more than 1 targets");
    }
    SECTION("targets of all, also of those that have not changed") {
        f.config.max_targets = 2;
        for (const FileScan& scan : {f.scan(), f.scan(known_after(f.scan()))}) {
            CHECK(scan.files.at(a).problem == "");
            CHECK(scan.files.at(b).problem ==
                  b + ": together with the previous files it exceeds max_targets or max_bytes");
        }
        f.config.max_targets = 3;
        CHECK(f.scan().files.at(b).groups);
    }
    SECTION("texts of all, whatever anchors make of them") {
        const std::string text(40, 'x');
        for (const char* name : {"c.yml", "d.yml"}) {
            f.add(name, "- targets: &a [" + text + "]\n- targets: *a\n- targets: *a\n");
        }
        f.config.files.clear();
        f.name("*.yml");
        f.config.max_bytes = 200;
        const FileScan scan = f.scan();
        CHECK(scan.files.at(f.directory.path("c.yml")).groups);
        CHECK(contains(scan.files.at(f.directory.path("d.yml")).problem, "it exceeds"));
    }
    SECTION("files: those that are known come before new ones") {
        f.config.max_files = 2;
        const detail::KnownTargetFiles known = known_after(f.scan());
        f.add("0.json", "[]");
        const FileScan scan = f.scan(known);
        CHECK(scan.files.contains(a));
        CHECK(scan.files.contains(b));
        CHECK(scan.omissions.size() == 1);
        std::filesystem::remove(a);
        CHECK(f.scan(known).files.contains(f.directory.path("0.json")));
    }
}
