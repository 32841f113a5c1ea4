#include "client.hpp"
#include "program.hpp"
#include "support/config_fixtures.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

using namespace std::chrono_literals;
using k8s_sd::test::Simulation;
using k8s_sd::test::TemporaryDirectory;
using k8s_sd_program::Program;
using k8s_sd_program::test::Answered;
namespace fs = std::filesystem;

namespace {

constexpr const char* whole = R"yaml(
scrape_configs:
- job_name: a
  static_configs:
  - targets:
    - 10.0.0.1:80
    - 10.0.0.2:80
- job_name: b
  relabel_configs:
  - source_labels: [__address__]
    regex: 10\.0\.0\..+
    action: keep
  static_configs:
  - targets: [10.0.0.3:80, 10.0.0.4:80]
    labels:
      team: red
)yaml";

/// The configuration and the files; they survive restarts.
struct Disk {
    Disk() { fs::create_directory(written()); }

    std::string config() const { return directory.path("p.yml"); }
    std::string written() const { return directory.path("written"); }
    void configure(const std::string& text) const { directory.write("p.yml", text); }
    std::map<std::string, std::string> files() const {
        std::map<std::string, std::string> files;
        for (const auto& entry : fs::directory_iterator(written())) {
            if (entry.is_directory()) continue;
            std::ifstream in(entry.path(), std::ios::binary);
            files[entry.path().filename()] = {std::istreambuf_iterator<char>(in), {}};
        }
        return files;
    }

    TemporaryDirectory directory;
};

/// A program with time and threads under the test's control.
struct Running : Simulation {
    explicit Running(const Disk& disk, bool ready_with_left_out_jobs = false) {
        k8s_sd_program::Options options;
        options.config_file = disk.config();
        options.write_folder = disk.written();
        options.file_worker = context.get_executor();
        options.listen = "127.0.0.1:0";
        options.allocator.collectors = 1;
        options.serve.clock = clock;
        options.serve.hold = 0ns;
        options.ready_with_left_out_jobs = ready_with_left_out_jobs;
        program.emplace(context, options);
        settle();
    }
    ~Running() {
        program->stop("the test ends");
        settle();
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    Answered ask(const std::string& url, const std::string& method = "GET") {
        Answered answered;
        k8s_sd_program::test::ask(program->routes(), {.url = url, .method = method},
                                  [&](const Answered& answer) { answered = answer; });
        settle();
        return answered;
    }
    /// Starts a reload; the response may arrive later.
    std::shared_ptr<Answered> reload() {
        const auto answered = std::make_shared<Answered>();
        k8s_sd_program::test::ask(program->routes(), {.url = "/-/reload", .method = "POST"},
                                  [answered](const Answered& answer) { *answered = answer; });
        settle();
        return answered;
    }
    /// The responses to agents and collectors.
    std::map<std::string, std::string> seen() {
        std::map<std::string, std::string> seen;
        for (const char* url : {"/sd/a", "/sd/b", "/sd/a/targets", "/sd/b/targets",
                                "/scrape_configs", "/jobs/a/targets", "/jobs/b/targets"}) {
            const Answered answer = ask(url);
            seen[url] = std::to_string(answer.status) + " " + answer.body;
        }
        return seen;
    }

    std::optional<Program> program;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

std::set<std::string> names_of(const std::map<std::string, std::string>& files) {
    std::set<std::string> names;
    for (const auto& [name, text] : files) names.insert(name);
    return names;
}

const std::string mistake = [] {
    std::string text = whole;
    return text + "  scrape_intervall: 5s\n";
}();

using NameSet = std::set<std::string>;

}  // namespace

TEST_CASE("Program: a configuration truncated in one scan removes no target, wherever it ends") {
    const Disk disk;
    disk.configure(whole);
    Running f(disk);
    f.advance(5s);
    const auto before = f.seen();
    const auto files = disk.files();
    REQUIRE(names_of(files) == NameSet{"a.json", "b.json"});
    REQUIRE(has(before.at("/sd/b"), "10.0.0.4:80"));
    const std::string text = whole;
    for (std::size_t size = 0; size < text.size(); ++size) {
        CAPTURE(size);
        disk.configure(text.substr(0, size));
        const auto answer = size % 2 == 0 ? f.reload() : nullptr;
        if (!answer) f.advance(5s);
        REQUIRE(f.seen() == before);
        REQUIRE(disk.files() == files);
        REQUIRE(f.ask("/readyz").status == 200);
        disk.configure(text);
        f.advance(10s);
        REQUIRE(f.ask("/readyz").body == "ok\n");
        if (answer) REQUIRE(answer->status != 0);
    }
    CHECK(f.seen() == before);
    CHECK(disk.files() == files);
}

TEST_CASE("Program: a start with a configuration that is just being written takes no target") {
    const Disk disk;
    disk.configure(whole);
    const auto files = [&] {
        Running f(disk);
        f.advance(5s);
        return disk.files();
    }();
    REQUIRE(names_of(files) == NameSet{"a.json", "b.json"});
    const std::string text = whole;
    for (std::size_t size = 0; size < text.size(); ++size) {
        CAPTURE(size);
        disk.configure(text.substr(0, size));
        try {
            Running f(disk);
            REQUIRE(disk.files() == files);
            disk.configure(text);
            f.advance(10s);
            REQUIRE(f.ask("/readyz").body == "ok\n");
        } catch (const k8s_sd::ConfigError&) {
            // The program ends with status 2, and is started again.
        }
        REQUIRE(disk.files() == files);
    }
}

TEST_CASE("Program: a start with a mistake in a job takes no target from its agents") {
    const Disk disk;
    disk.configure(whole);
    const auto files = [&] {
        Running f(disk);
        f.advance(5s);
        return disk.files();
    }();
    disk.configure(mistake);
    Running f(disk);
    f.advance(1min);
    CHECK(disk.files() == files);
    CHECK(f.ask("/sd/a").status == 200);
    for (const char* url : {"/sd/b", "/sd/b/targets", "/jobs/b/targets", "/v1/watch?job=b"}) {
        CAPTURE(url);
        const Answered answer = f.ask(url);
        CHECK(answer.status == 503);
        CHECK(has(answer.body, "job b is left out: " + disk.config()));
        CHECK(has(answer.body, "scrape_intervall"));
    }
    CHECK(f.ask("/api/ui/targets?job=b").status == 503);
    CHECK(f.ask("/sd/c").status == 404);
    CHECK(f.ask("/scrape_configs").status == 503);
    CHECK_FALSE(has(f.ask("/scrape_configs").body, ": "));
    const Answered ready = f.ask("/readyz");
    CHECK(ready.status == 503);
    CHECK(has(ready.body, "job b is left out: "));
    CHECK(has(f.ask("/api/ui/health").body, "job b is left out: "));
    // An equally bad file remains a note, and the omitted parts stay omitted.
    const auto answer = f.reload();
    f.advance(5s);
    CHECK(answer->status == 500);
    CHECK(f.ask("/readyz").status == 503);

    disk.configure(whole);
    f.advance(1min);
    CHECK(f.ask("/readyz").body == "ok\n");
    CHECK(f.ask("/scrape_configs").status == 200);
    CHECK(disk.files() == files);
}

TEST_CASE("Program: a mistake in a job's name, or in a file of jobs, keeps the files of all jobs") {
    for (const char* const bad : {"- job_nam: b\n", "scrape_config_files: [missing.yml]\n"}) {
        CAPTURE(bad);
        const Disk disk;
        disk.configure(whole);
        const auto files = [&] {
            Running f(disk);
            f.advance(5s);
            return disk.files();
        }();
        disk.directory.write("missing.yml", "scrape_configs: 7\n");
        disk.configure("scrape_configs:\n- job_name: a\n  static_configs:\n  - targets: "
                       "[10.0.0.1:80, 10.0.0.2:80]\n" +
                       std::string(bad));
        Running f(disk);
        f.advance(1min);
        CHECK(disk.files() == files);
        CHECK(f.ask("/sd/b").status == 503);
        CHECK(f.ask("/scrape_configs").status == 503);
        CHECK(f.ask("/readyz").status == 503);
    }
}

TEST_CASE("Program: an option makes it ready although jobs are left out") {
    const Disk disk;
    disk.configure(mistake);
    Running f(disk, true);
    f.advance(5s);
    const Answered ready = f.ask("/readyz");
    CHECK(ready.status == 200);
    CHECK(has(ready.body, "ok\njob b is left out: "));
    CHECK(f.ask("/sd/b").status == 503);
    CHECK(f.ask("/scrape_configs").status == 503);
}

TEST_CASE("Program: a missing job is removed after a second scan, which /readyz reports") {
    const Disk disk;
    disk.configure(whole);
    Running f(disk);
    f.advance(5s);
    const auto before = f.seen();
    const std::string text = whole;
    disk.configure(text.substr(0, text.find("- job_name: b")));
    f.advance(5s);
    CHECK(f.seen() == before);
    const std::string note = "job b is missing; it is removed when a second read of the file";
    CHECK(f.ask("/readyz").status == 200);
    CHECK(has(f.ask("/readyz").body, note));
    CHECK(has(f.ask("/api/ui/health").body, note));
    f.advance(5s);
    CHECK(f.ask("/sd/b").status == 404);
    CHECK(names_of(disk.files()) == NameSet{"a.json"});
    CHECK(f.ask("/readyz").body == "ok\n");
    CHECK_FALSE(has(f.ask("/scrape_configs").body, "\"b\""));
}

TEST_CASE("Program: a reload that removes a job is answered when it is removed") {
    const Disk disk;
    disk.configure(whole);
    Running f(disk);
    f.advance(5s);
    const std::string text = whole;
    disk.configure(text.substr(0, text.find("- job_name: b")));
    f.advance(1s);
    const auto answer = f.reload();
    CHECK(answer->status == 0);
    f.advance(1s);
    CHECK(answer->status == 200);
    CHECK(f.ask("/sd/b").status == 404);
    disk.configure("");
    CHECK(f.reload()->status == 500);
    CHECK(f.ask("/sd/a").status == 200);
    CHECK(has(f.ask("/readyz").body, "lists no jobs"));
}

TEST_CASE("Program: after a restart a job that left meanwhile is removed after a second scan") {
    const Disk disk;
    disk.configure(whole);
    {
        Running f(disk);
        f.advance(5s);
    }
    const std::string text = whole;
    disk.configure(text.substr(0, text.find("- job_name: b")));
    Running f(disk);
    CHECK(names_of(disk.files()) == NameSet{"a.json", "b.json"});
    f.advance(1s);
    CHECK(names_of(disk.files()) == NameSet{"a.json"});
    CHECK(f.ask("/sd/a").status == 200);
}

TEST_CASE("Program: an empty configuration is none to start with") {
    const Disk disk;
    for (const char* const text : {"", "# later\n", "scrape_configs:\n"}) {
        disk.configure(text);
        CHECK_THROWS_AS(Running(disk), k8s_sd::ConfigError);
    }
    disk.configure("scrape_configs: []\n");
    Running f(disk);
    CHECK(f.ask("/readyz").body == "ok\n");
}

TEST_CASE("Program: is not ready where no job can be used") {
    const std::string bad = "- job_name: bad\n  kubernetes_sd_configs:\n"
                            "  - {role: pod, kubeconfig_file: /nonexistent}\n";
    const Disk disk;
    disk.configure("scrape_configs:\n" + bad);
    {
        Running f(disk);
        const Answered ready = f.ask("/readyz");
        CHECK(ready.status == 503);
        CHECK(has(ready.body, "job bad cannot be discovered until its configuration is "
                              "corrected; "));
        CHECK(has(f.ask("/sd/bad").body, "until its configuration is corrected"));
    }
    disk.configure(whole + bad);
    Running f(disk);
    f.advance(5s);
    const Answered ready = f.ask("/readyz");
    CHECK(ready.status == 200);
    CHECK(has(ready.body, "job bad cannot be discovered"));
}

TEST_CASE("Program: targets beyond a limit of relabelling are in /readyz and in the metrics") {
    std::string text = whole;
    text += "  - targets: [10.0.0.5:80]\n    labels: {x: xx}\n";
    std::string rules;
    for (int i = 0; i < 24; ++i) {
        rules += "  - {source_labels: [x], regex: (.+), target_label: x, replacement: $1$1}\n";
    }
    text.insert(text.find("  - source_labels: [__address__]"), rules);
    const Disk disk;
    disk.configure(text);
    Running f(disk);
    f.advance(5s);
    CHECK_FALSE(has(f.ask("/sd/b/targets").body, "10.0.0.5"));
    CHECK(has(f.ask("/sd/b/targets").body, "10.0.0.4"));
    CHECK(f.ask("/readyz").body == "ok\njob b: 1 target cannot be scraped; "
                                   "/api/ui/targets?state=failed has the reasons\n");
    CHECK(has(f.ask("/metrics").body, "k8s_sd_program_targets{job=\"b\",state=\"failed\"} 1"));
    disk.configure(whole);
    f.advance(1min);
    CHECK(f.ask("/readyz").body == "ok\n");
}

TEST_CASE("Program: a failed write of a file is reported in /readyz and Health while it lasts") {
    const Disk disk;
    disk.configure(whole);
    const std::string in_the_way = disk.written() + "/a.json";
    fs::create_directory(in_the_way);
    Running f(disk);
    const std::string note = "job a: cannot write " + in_the_way + ": Is a directory";
    CHECK(f.ask("/readyz").body == "ok\n" + note + "\n");
    CHECK(has(f.ask("/api/ui/health").body, note));
    fs::remove(in_the_way);
    f.advance(2min);
    CHECK(f.ask("/readyz").body == "ok\n");
    CHECK(names_of(disk.files()) == NameSet{"a.json", "b.json"});
}
