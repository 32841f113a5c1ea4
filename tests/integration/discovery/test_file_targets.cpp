#include "integration/discovery/job_fixture.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"
#include "support/dialects.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <filesystem>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

std::string listed(const std::string& target) { return R"([{"targets":[")" + target + R"("]}])"; }

/// A job "a" with the files of a directory.
struct FileJobs : Jobs {
    Job job(const std::vector<std::string>& patterns, LabelDialect dialect = prom) {
        FileSdConfig config;
        for (const std::string& pattern : patterns) {
            config.files.push_back(directory.path(pattern));
        }
        config.dialect = dialect;
        Job job{"a", {}};
        job.file_sd_configs = {config};
        return job;
    }
    /// The diff after the next scan.
    std::string next() {
        advance(5s);
        return host.take_diffs();
    }
    /// Addresses of all targets.
    std::string addresses() {
        std::string text;
        for (const auto& [source, targets] : host.state("a")) {
            for (const LabelMap& target : targets) {
                text += (text.empty() ? "" : " ") + target.at("__address__");
            }
        }
        return text;
    }
    DiscovererStatus state() { return status("a").configs.front().status; }

    TemporaryDirectory directory;
};

}  // namespace

TEST_CASE("file_sd: the files of a job are its targets, and are followed") {
    FileJobs f;
    f.directory.write("t.json", R"([{"targets":["x:1"]},{"targets":["y:1","z:1"]}])");
    f.settle_with({f.job({"*.json"})});
    CHECK(f.host.take_diffs() == "a(full): 1(full)[~t.json:0 ~t.json:1]");
    CHECK(f.state().synced);
    CHECK(f.status("a").configs[0].origin == TargetOrigin::files);
    CHECK(f.next() == "");
    f.directory.write("t.json", R"([{"targets":["x:1"]}])");
    CHECK(f.next() == "a: 1[-t.json:1]");
    f.directory.write("u.json", R"([{"targets":["u:1"]}])");
    CHECK(f.next() == "a: 1[~u.json:0]");
    f.directory.write("t.json", "[]");
    CHECK(f.next() == "a: 1[-t.json:0]");
    CHECK(f.host.problems() == "");
}

TEST_CASE("file_sd: a file that is gone takes its targets with it, in both dialects") {
    for (const LabelDialect dialect : dialects) {
        FileJobs f;
        const std::string path = f.directory.write("t.yml", "- targets: [x]\n");
        f.settle_with({f.job({"t.yml"}, dialect)});
        CHECK(f.host.take_diffs() == "a(full): 1(full)[~t.yml:0]");
        std::filesystem::remove(path);
        CHECK(f.next() == "a: 1[-t.yml:0]");
        CHECK(f.state().error == errc::target_file_failed);
        CHECK(f.state().message == path + ": there is no such file");
        f.directory.write("t.yml", "- targets: [x]\n");
        CHECK(f.next() == "a: 1[~t.yml:0]");
        CHECK_FALSE(f.state().error);
        CHECK(f.host.problems() == "");
    }
}

TEST_CASE("file_sd: no file is no target and no failure") {
    FileJobs f;
    f.settle_with({f.job({"*.yml"})});
    CHECK(f.host.take_diffs() == "a(full): 1(full)[]");
    CHECK_FALSE(f.state().error);
}

TEST_CASE("file_sd: targets of a file that turns bad stay in Prometheus' dialect") {
    FileJobs f;
    f.directory.write("t.json", listed("x:1"));
    f.directory.write("u.json", listed("u:1"));
    f.settle_with({f.job({"*.json"})});
    f.host.take_diffs();
    f.directory.write("t.json", R"([{"targets":["y:1)");
    f.directory.write("u.json", listed("u:2"));
    CHECK(f.next() == "a: 1[~u.json:0]");
    CHECK(f.addresses() == "x:1 u:2");
    CHECK(f.state().error == errc::target_file_failed);
    CHECK(contains(f.state().message, "t.json: the list: is not JSON"));
    CHECK(f.metrics->target_file_failures == 1);
    CHECK(f.next() == "");
    f.directory.write("t.json", listed("y:1"));
    CHECK(f.next() == "a: 1[~t.json:0]");
    CHECK_FALSE(f.state().error);
}

TEST_CASE("file_sd: targets of a file that turns bad go in vmagent's dialect, and come back") {
    FileJobs f;
    f.directory.write("t.json", listed("x:1"));
    f.settle_with({f.job({"*.json"}, vm)});
    f.host.take_diffs();
    f.directory.write("t.json", R"([{"targets":["y:1)");
    CHECK(f.next() == "a: 1[-t.json:0]");
    CHECK(f.state().error == errc::target_file_failed);
    f.directory.write("t.json", listed("x:1"));
    CHECK(f.next() == "a: 1[~t.json:0]");
    CHECK(f.host.problems() == "");
}

TEST_CASE("file_sd: an empty list is never delivered before a file has been read") {
    FileJobs f;
    f.settle_with({{"a", {f.pods()}}});
    f.host.take_diffs();
    f.directory.write("t.json", "{");
    f.settle_with({f.job({"*.json"})});
    CHECK(f.next() == "");
    CHECK(f.status("a").superseded == 1);
    CHECK_FALSE(f.state().synced);
    CHECK(f.state().error == errc::target_file_failed);
    f.directory.write("t.json", listed("x:1"));
    CHECK(f.next() == "a: 1(last)[-p1 -p2] 2(full)[~t.json:0]");
    CHECK(f.host.problems() == "");
}

TEST_CASE("file_sd: one bad file among good ones does not keep them back") {
    FileJobs f;
    f.directory.write("bad.json", "{");
    f.directory.write("good.json", listed("x:1"));
    f.settle_with({f.job({"*.json"})});
    CHECK(f.host.take_diffs() == "a(full): 1(full)[~good.json:0]");
    CHECK(f.state().error == errc::target_file_failed);
}

TEST_CASE("file_sd: targets under a directory that cannot be read stay in Prometheus' dialect") {
    FileJobs f;
    f.directory.write("d/t.json", listed("x:1"));
    Job job = f.job({"d/*.json"});
    f.settle_with({job});
    f.host.take_diffs();
    // A symlink loop stands for a directory that cannot be read.
    std::filesystem::rename(f.directory.path("d"), f.directory.path("e"));
    std::filesystem::create_symlink("d", f.directory.path("d"));  // a loop
    CHECK(f.next() == "");
    CHECK(f.addresses() == "x:1");
    CHECK(contains(f.state().message, "cannot look into"));
    std::filesystem::remove(f.directory.path("d"));
    std::filesystem::rename(f.directory.path("e"), f.directory.path("d"));
    CHECK(f.next() == "");
    CHECK_FALSE(f.state().error);
}

TEST_CASE("file_sd: files that come and go never add up, also where there are too many") {
    FileJobs f;
    Job job = f.job({"*.json"});
    job.file_sd_configs[0].max_files = 3;
    const auto name = [](int i) { return std::to_string(100 + i) + ".json"; };
    for (int i = 0; i < 5; ++i) f.directory.write(name(i), listed(std::to_string(i)));
    f.settle_with({job});
    CHECK(f.addresses() == "0 1 2");
    for (int i = 0; i < 20; ++i) {
        std::filesystem::remove(f.directory.path(name(i)));
        f.directory.write(name(i + 5), listed(std::to_string(i + 5)));
        f.next();
        CHECK(f.host.state("a").size() == 3);
        CHECK(contains(f.state().message, "there are more than 3 files"));
    }
    CHECK(f.addresses() == "20 21 22");
}

TEST_CASE("file_sd: new files of one pattern push out none of another one") {
    FileJobs f;
    Job job = f.job({"a*.json", "b*.json"}, GENERATE(prom, vm));
    job.file_sd_configs[0].max_files = 2;
    f.directory.write("b1.json", listed("b:1"));
    f.settle_with({job});
    f.host.take_diffs();
    for (int i = 0; i < 5; ++i) {
        f.directory.write("a" + std::to_string(i) + ".json", listed("a:" + std::to_string(i)));
    }
    CHECK(f.next() == "a: 1[~a0.json:0]");
    CHECK(f.addresses() == "a:0 b:1");
    CHECK(contains(f.state().message, "there are more than 2 files"));
}

TEST_CASE("file_sd: a file beyond a limit keeps the targets that it had, in each dialect") {
    FileJobs f;
    Job job = f.job({"*.json"}, GENERATE(prom, vm));
    job.file_sd_configs[0].max_targets = 3;
    job.file_sd_configs[0].max_file_bytes = 1000;
    f.directory.write("a.json", listed("a:1"));
    f.directory.write("b.json", listed("b:1"));
    f.settle_with({job});
    f.host.take_diffs();
    SECTION("it has too many targets itself") {
        f.directory.write("b.json", R"([{"targets":["1","2","3","4"]}])");
    }
    SECTION("others leave no room for it") {
        f.directory.write("a.json", R"([{"targets":["a:1"]},{"targets":["1","2"]}])");
        f.next();
        CHECK(f.addresses() == "a:1 1 2 b:1");
    }
    SECTION("it has too many bytes") {
        f.directory.write("b.json", listed("b:2") + std::string(1000, ' '));
    }
    f.next();
    CHECK(f.state().error == errc::target_file_failed);
    CHECK(f.addresses().starts_with("a:1"));
    CHECK(f.addresses().ends_with(" b:1"));
}

TEST_CASE("file_sd: a missing file is missing, even if other files cannot be scanned") {
    FileJobs f;
    f.directory.write("a/t.json", listed("a:1"));
    f.directory.write("b/t.json", listed("b:1"));
    f.settle_with({f.job({"a/t*.json", "b/t*.json", "c/t*.json"})});
    CHECK(f.addresses() == "a:1 b:1");
    std::filesystem::create_symlink("c", f.directory.path("c"));  // a loop
    std::filesystem::remove(f.directory.path("b/t.json"));
    f.next();
    CHECK(contains(f.state().message, "cannot look into"));
    CHECK(f.addresses() == "a:1");
}

TEST_CASE("file_sd: equal configurations of two jobs are scanned once") {
    FileJobs f;
    f.directory.write("t.json", listed("x:1"));
    Job other = f.job({"*.json"});
    other.name = "b";
    f.settle_with({f.job({"*.json"}), other});
    CHECK(f.metrics->providers == 1);
    CHECK(f.metrics->target_file_scans == 1);
    f.advance(60s);
    CHECK(f.metrics->target_file_scans == 13);
}

TEST_CASE("file_sd: scans come once a second at most") {
    FileJobs f;
    Job job = f.job({"*.json"});
    job.file_sd_configs[0].interval = 1ms;
    f.settle_with({job});
    f.advance(10s);
    CHECK(f.metrics->target_file_scans == 11);
}

TEST_CASE(
    "file_sd: a hanging scan is reported after 10 s, keeps the targets, and stays the only one") {
    FileJobs f;
    f.directory.write("t.json", listed("x:1"));
    f.settle_with({f.job({"*.json"})});
    f.host.take_diffs();
    f.files->hold();
    f.advance(5s + 9s);
    CHECK_FALSE(f.state().error);
    f.advance(1s);
    CHECK(f.state().error == errc::target_file_failed);
    CHECK(f.state().message == "reading the files takes longer than 10 s");
    f.advance(10min);
    CHECK(f.files->held() == 1);
    f.directory.write("t.json", listed("y:1"));
    f.files->release();
    CHECK(f.next() == "a: 1[~t.json:0]");
    CHECK(f.addresses() == "y:1");
    CHECK_FALSE(f.state().error);
}

TEST_CASE("file_sd: the result of a scan of more than 10 s is not lost") {
    FileJobs f;
    f.files->hold();  // each time
    f.settle_with({f.job({"*.json"})});
    for (const char* target : {"x:1", "y:1"}) {
        CAPTURE(target);
        f.directory.write("t.json", listed(target));
        f.advance(16s);
        CHECK(f.state().error == errc::target_file_failed);
        f.files->release();
        f.files->hold();
        f.settle();
        CHECK(f.addresses() == target);
        CHECK_FALSE(f.state().error);
    }
    CHECK(f.metrics->target_file_scans == 2);
    CHECK(f.metrics->target_file_failures == 2);
}

TEST_CASE("file_sd: nothing is left of a job removed during a hanging scan") {
    FileJobs f;
    f.directory.write("t.json", listed("x:1"));
    f.files->hold();
    f.settle_with({f.job({"*.json"})});
    f.settle_with({});
    CHECK(f.is_quiet());
    f.files->release();
    CHECK(f.is_quiet());
    CHECK(f.host.take_diffs() == "");
}

TEST_CASE("file_sd: before the manager runs nothing is read, and a mistake is reported at once") {
    FileJobs f;
    JobHost host(f.context.get_executor());
    Job job = f.job({"*.json"});
    host.manager->apply_config({job});
    f.settle();
    CHECK(f.metrics->target_file_scans == 0);
    job.file_sd_configs[0].files = {"x.txt"};
    const auto failures = host.manager->apply_config({job});
    REQUIRE(failures.size() == 1);
    CHECK(failures[0].origin == TargetOrigin::files);
    CHECK(contains(failures[0].message, "files[0]: must end with .json"));
}
