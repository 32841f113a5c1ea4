#include "cli/command_line.hpp"
#include "files/folder_file.hpp"
#include "files/retry_delays.hpp"
#include "files/target_folder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <sys/stat.h>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <system_error>
#include <vector>

using k8s_sd_program::file_name_of;
using k8s_sd_program::FolderFile;
using k8s_sd_program::job_name_of;
using k8s_sd_program::TargetFolder;
namespace fs = std::filesystem;

namespace {

/// A temporary folder.
class Folder {
 public:
    Folder() {
        std::string name = fs::temp_directory_path() / "k8s-sd-XXXXXX";
        REQUIRE(::mkdtemp(name.data()));
        path_ = name;
    }
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    const fs::path& path() const { return path_; }
    void put(const std::string& file, const std::string& text) const {
        std::ofstream(path_ / file) << text;
    }
    std::string text(const std::string& file) const {
        std::ifstream in(path_ / file, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    /// The matches of a glob, including hidden files.
    std::set<std::string> files() const {
        std::set<std::string> names;
        for (const auto& entry : fs::directory_iterator(path_)) {
            if (!entry.is_directory()) names.insert(entry.path().filename());
        }
        return names;
    }

 private:
    fs::path path_;
};

}  // namespace

TEST_CASE("file_name_of: different names have different files, which are not hidden") {
    CHECK(file_name_of("pods") == "pods.json");
    CHECK(file_name_of("serviceMonitor/shop/a b/0") == "serviceMonitor%2Fshop%2Fa%20b%2F0.json");
    CHECK(file_name_of("a%2Fb") == "a%252Fb.json");
    CHECK(file_name_of("..") == "%2E..json");
    CHECK(file_name_of(".hidden") == "%2Ehidden.json");
    CHECK(file_name_of("A-z_0.9") == "A-z_0.9.json");
    CHECK(file_name_of("*[?\n\xC3\xA4") == "%2A%5B%3F%0A%C3%A4.json");
}

TEST_CASE("file_name_of: a name too long for a file ends in its hash") {
    const std::string longest(250, 'x');
    CHECK(file_name_of(longest) == longest + ".json");
    const std::string name = longest + "x";
    const std::string file = file_name_of(name);
    CHECK(file.starts_with(std::string(233, 'x') + "~"));
    CHECK(file.ends_with(".json"));
    CHECK(file.size() <= 255);
    CHECK(file != file_name_of(name + "x"));
    CHECK(job_name_of(file).empty());
    const Folder folder;
    const TargetFolder targets(folder.path());
    CHECK(targets.write(file, "[]"));
    CHECK(folder.text(file) == "[]");
}

TEST_CASE("TargetFolder: knows after a restart the job of a file with a hash in its name") {
    const Folder folder;
    const std::string job(300, 'x');
    const std::string file = file_name_of(job);
    {
        k8s_sd_program::FileMetrics metrics;
        const TargetFolder targets(folder.path());
        FolderFile(
            targets, job, [](const std::string&) {}, metrics)
            .write("[]");
        FolderFile(
            targets, "short", [](const std::string&) {}, metrics)
            .write("[]");
    }
    const TargetFolder targets(folder.path());
    CHECK(targets.job_of(file) == job);
    CHECK(targets.job_of("short.json") == "short");
    CHECK(targets.job_of(file_name_of(job + "x")).empty());
    folder.put(fs::path(".k8s-sd") / file, std::string(200, 'x'));
    CHECK(targets.job_of(file).empty());
    targets.write(file, "[]", job);
    CHECK(targets.job_of(file) == job);
    targets.remove(file);
    CHECK(targets.job_of(file).empty());
}

TEST_CASE("job_name_of: the name of a file names its job") {
    for (const char* name : {"pods", "serviceMonitor/shop/a b/0", "a%2Fb", "..", ".hidden",
                             "A-z_0.9", "*[?\n\xC3\xA4", "a.json", "%"}) {
        CHECK(job_name_of(file_name_of(name)) == name);
    }
    for (const char* other : {"lock", "", ".json", "a%2.json", "a%.json", "a%2g.json"}) {
        CHECK(job_name_of(other).empty());
    }
}

TEST_CASE("TargetFolder: is made if it is missing") {
    const Folder folder;
    const fs::path path = folder.path() / "made";
    CHECK(TargetFolder(path).write("a.json", "[]"));
    CHECK(fs::exists(path / "a.json"));
}

TEST_CASE(
    "TargetFolder: a file is replaced by another one, readable for all, and nothing is left") {
    const Folder folder;
    const TargetFolder targets(folder.path());
    CHECK(targets.write("a.json", "[1]"));
    struct stat before {};
    REQUIRE(::stat((folder.path() / "a.json").c_str(), &before) == 0);
    CHECK((before.st_mode & 0777U) == 0644);
    std::ifstream reader(folder.path() / "a.json");
    CHECK(targets.write("a.json", "[2, 2]"));
    // A reader with the file open reads the old content.
    CHECK(std::string{std::istreambuf_iterator<char>(reader), {}} == "[1]");
    CHECK(folder.text("a.json") == "[2, 2]");
    CHECK(folder.files() == std::set<std::string>{"a.json"});
}

TEST_CASE("TargetFolder: equal bytes are not written again, whoever wrote them") {
    const Folder folder;
    folder.put("a.json", "[]");
    const auto time = fs::last_write_time(folder.path() / "a.json");
    const TargetFolder targets(folder.path());
    CHECK_FALSE(targets.write("a.json", "[]"));
    CHECK(fs::last_write_time(folder.path() / "a.json") == time);
    CHECK(targets.write("a.json", "{}"));
}

TEST_CASE("TargetFolder: knows after a restart which files it wrote, and removes no other ones") {
    const Folder folder;
    folder.put("theirs.json", "[]");
    TargetFolder(folder.path()).write("ours.json", "[]");
    const TargetFolder targets(folder.path());
    CHECK(targets.written() == std::set<std::string>{"ours.json"});
    for (const char* file : {"theirs.json", "ours.json", "none.json"}) targets.remove(file);
    CHECK(folder.files() == std::set<std::string>{"theirs.json"});
    CHECK(targets.written().empty());
}

TEST_CASE("TargetFolder: belongs to one process at a time") {
    const Folder folder;
    const TargetFolder first(folder.path());
    CHECK_THROWS_AS(TargetFolder(folder.path()), cli::Unusable);
    CHECK_THROWS_AS(TargetFolder(folder.path() / "none" / "below"), cli::Unusable);
    folder.put("file", "");
    CHECK_THROWS_AS(TargetFolder(folder.path() / "file"), cli::Unusable);
}

TEST_CASE("TargetFolder: what cannot be written is said, and what was there stays") {
    const Folder folder;
    const TargetFolder targets(folder.path());
    // A folder cannot be replaced by a file.
    fs::create_directory(folder.path() / "a.json");
    CHECK_THROWS_AS(targets.write("a.json", "[]"), std::system_error);
    CHECK_THROWS_AS(targets.write(std::string(300, 'x') + ".json", "[]"), std::system_error);
    CHECK(fs::is_directory(folder.path() / "a.json"));
}

TEST_CASE("FolderFile: a problem is reported once, and again after it was gone") {
    const Folder folder;
    const TargetFolder targets(folder.path());
    k8s_sd_program::FileMetrics metrics;
    std::vector<std::string> received;
    k8s_sd_program::FolderFile file(
        targets, "a", [&](const auto& text) { received.push_back(text); }, metrics);
    fs::create_directory(folder.path() / "a.json");
    for (int i = 0; i < 3; ++i) {
        CHECK(file.write("[]") >= std::chrono::milliseconds(500));
        CHECK_FALSE(file.good());
    }
    REQUIRE(received.size() == 1);
    CHECK(received[0].starts_with("cannot write " + (folder.path() / "a.json").string() + ": "));
    fs::remove(folder.path() / "a.json");
    CHECK(file.write("[]") == std::chrono::milliseconds(250));
    CHECK(file.good());
    CHECK(file.write("[]") == std::chrono::milliseconds(250));
    CHECK(metrics.errors == 3);
    CHECK(metrics.writes == 1);
    fs::remove(folder.path() / "a.json");
    fs::create_directory(folder.path() / "a.json");
    file.write("[]");
    CHECK(received.size() == 2);
}

TEST_CASE("RetryDelays: doubles to a minute, less by chance, and begins anew") {
    using std::chrono::milliseconds;
    k8s_sd_program::RetryDelays backoff(1);
    for (const int most : {1'000, 2'000, 4'000, 8'000, 16'000, 32'000, 60'000, 60'000}) {
        const milliseconds wait = backoff.next();
        CHECK(wait >= milliseconds(most / 2));
        CHECK(wait <= milliseconds(most));
    }
    backoff.reset();
    CHECK(backoff.next() <= milliseconds(1'000));
}
