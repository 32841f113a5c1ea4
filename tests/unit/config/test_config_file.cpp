#include "k8s_sd/detail/config/config_file.hpp"
#include "support/config_fixtures.hpp"

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::detail;
using k8s_sd::test::config_error;
using k8s_sd::test::TemporaryDirectory;

TEST_CASE("matching_files: a pattern matches in every part between slashes") {
    const TemporaryDirectory directory;
    for (const char* name : {"a/1.yml", "a/2.yml", "b/1.yml", "b/.3.yml", "b/x.json"}) {
        directory.write(name, "");
    }
    const auto match = [&](const std::string& pattern) {
        std::vector<std::string> names;
        for (const std::string& path : matching_files(directory.path(pattern)).paths) {
            names.push_back(path.substr(directory.path().size() + 1));
        }
        return names;
    };
    using Names = std::vector<std::string>;
    CHECK(match("a/*.yml") == Names{"a/1.yml", "a/2.yml"});
    CHECK(match("*/1.yml") == Names{"a/1.yml", "b/1.yml"});
    // like Go, including hidden ones
    CHECK(match("b/*") == Names{"b/.3.yml", "b/1.yml", "b/x.json"});
    CHECK(match("[ab]/?.yml") == Names{"a/1.yml", "a/2.yml", "b/1.yml"});
    CHECK(match("a/1.yml") == Names{"a/1.yml"});
    CHECK(match("c/*.yml").empty());
    CHECK(match("a/3.yml").empty());
    CHECK(match("a/[").empty());
}

TEST_CASE("ConfigFiles: notices what has changed since it was read") {
    const TemporaryDirectory directory;
    const std::string path = directory.write("p.yml", "one");
    ConfigFiles files(100);
    CHECK(files.read(path, "w") == "one");
    CHECK(files.matching(directory.path("*.json"), "w").paths.empty());
    const std::string missing = directory.path("missing");
    CHECK(config_error([&] { (void)files.read(missing, "w"); }) ==
          "w: cannot read " + missing + ": No such file or directory");
    CHECK_FALSE(files.changed());
    directory.write("p.yml", "two");
    CHECK(files.changed());
    directory.write("p.yml", "one");
    CHECK_FALSE(files.changed());
    directory.write("a.json", "");
    CHECK(files.changed());
    std::filesystem::remove(directory.path("a.json"));
    directory.write("missing", "");
    CHECK(files.changed());
}

TEST_CASE("ConfigFiles: all files together have a limit") {
    const TemporaryDirectory directory;
    const std::string a = directory.write("a", std::string(60, 'x'));
    const std::string b = directory.write("b", std::string(60, 'x'));
    const std::string c = directory.write("c", std::string(101, 'x'));
    const std::string d = directory.write("d", "x");
    ConfigFiles files(100);
    CHECK(files.read(a, "w").size() == 60);
    CHECK(files.read(a, "w").size() == 60);
    const std::string problem = "w: the files of the configuration are larger than 100 bytes";
    CHECK(config_error([&] { (void)files.read(b, "w"); }) == problem);
    CHECK(config_error([&] { (void)files.read(c, "w"); }) == problem);
    CHECK(config_error([&] { (void)files.read(d, "w"); }) == problem);
    CHECK_FALSE(files.changed());
    directory.write("b", std::string(40, 'x'));
    CHECK(files.changed());
    ConfigFiles others(100);
    CHECK(config_error([&] { (void)others.read(c, "w"); }) ==
          "w: " + c + " is larger than 100 bytes");
    CHECK(config_error([&] { (void)read_config_file(c, "w", 0); }).ends_with("0 bytes"));
}

TEST_CASE("ConfigFiles: files and names of files are counted") {
    const TemporaryDirectory directory;
    ConfigFiles files(100);
    for (int i = 0; i < 1'000; ++i) {
        const std::string path = directory.path(std::to_string(i));
        CHECK_THROWS_AS(files.read(path, "w"), ConfigError);
        CHECK(files.matching(path, "w").paths.empty());
    }
    CHECK(config_error([&] { (void)files.read(directory.path("x"), "w"); }) ==
          "w: the configuration has more than 1000 files");
    CHECK(config_error([&] { (void)files.matching(directory.path("x"), "w"); }) ==
          "w: the configuration has more than 1000 names of files");
    CHECK_FALSE(files.changed());
    for (int i = 0; i < 1'001; ++i) directory.write("d/" + std::to_string(i), "");
    const MatchingFiles found = matching_files(directory.path("d/*"));
    CHECK(found.paths.empty());
    CHECK(found.problem == "matches more than 1000 files");
}
