#include "k8s_sd/scrape/scrape_config_reloader.hpp"
#include "support/config_fixtures.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace std::chrono_literals;
using k8s_sd::test::Simulation;
using k8s_sd::test::TemporaryDirectory;

namespace {

/// With the jobs from "a" to this one, so that a later version only adds jobs.
std::string file_with(const std::string& last) {
    std::string jobs;
    for (char job = 'a'; job <= last.at(0); ++job) {
        jobs += (jobs.empty() ? "{job_name: " : ", {job_name: ") + std::string(1, job) + "}";
    }
    return "scrape_configs: [" + jobs + "]\n";
}

const std::string& last_job(const ScrapeConfigUpdate& update) {
    return update.config->jobs.back().scrape.job_name;
}

/// A followed file; take() returns the updates since the last call.
struct Followed : Simulation {
    explicit Followed(Duration interval = 5s) {
        directory.write("p.yml", file_with("a"));
        reloader.emplace(context.get_executor(), path, ScrapeConfigOptions{}, interval,
                         [this](const ScrapeConfigUpdate& update) {
                             seen.push_back(update.config ? last_job(update)
                                                          : update.error->what());
                             if (after) after();
                         });
    }
    std::vector<std::string> take() { return std::exchange(seen, {}); }

    TemporaryDirectory directory;
    std::string path = directory.path("p.yml");
    std::vector<std::string> seen;
    std::function<void()> after;
    std::optional<ScrapeConfigReloader> reloader;
};

using Seen = std::vector<std::string>;

}  // namespace

TEST_CASE("ScrapeConfigReloader: delivers the content once, and again when it has changed") {
    Followed f;
    f.reloader->start();
    CHECK(f.take().empty());
    f.settle();
    CHECK(f.take() == Seen{"a"});
    f.advance(1min);
    CHECK(f.take().empty());
    f.directory.write("p.yml", file_with("b"));
    f.advance(4s);
    CHECK(f.take().empty());
    f.advance(1s);
    CHECK(f.take() == Seen{"b"});
    f.advance(1min);
    CHECK(f.take().empty());
}

TEST_CASE("ScrapeConfigReloader: reports a mistake once, and its end") {
    Followed f;
    f.reloader->start();
    f.settle();
    f.take();
    f.directory.write("p.yml", "scrape_configs: none\nglobal: 1\n");
    f.advance(1min);
    CHECK(f.take() == Seen{f.path + ":2: global: must be a mapping of keys to values\n" + f.path +
                           ":1: scrape_configs: must be a list"});
    std::filesystem::remove(f.path);
    f.advance(1min);
    CHECK(f.take() == Seen{f.path + ": cannot be read: No such file or directory"});
    f.directory.write("p.yml", file_with("a"));
    f.advance(1min);
    CHECK(f.take() == Seen{"a"});
}

TEST_CASE("ScrapeConfigReloader: notices a file that is swapped under a symbolic link") {
    // A mounted ConfigMap: the link points to another directory after each change.
    Followed f;
    f.directory.write("v1/p.yml", file_with("a"));
    f.directory.write("v2/p.yml", file_with("b"));
    std::filesystem::create_directory_symlink(f.directory.path("v1"), f.directory.path("data"));
    Seen seen;
    ScrapeConfigReloader reloader(f.context.get_executor(), f.directory.path("data/p.yml"), {}, 5s,
                                  [&](const auto& update) { seen.push_back(last_job(update)); });
    reloader.start();
    f.settle();
    std::filesystem::create_directory_symlink(f.directory.path("v2"), f.directory.path("next"));
    std::filesystem::rename(f.directory.path("next"), f.directory.path("data"));
    f.advance(5s);
    CHECK(seen == Seen{"a", "b"});
}

TEST_CASE("ScrapeConfigReloader: check() scans at once; without an interval nothing else does") {
    Followed f(0s);
    f.reloader->check();
    f.settle();
    CHECK(f.take().empty());  // not started
    f.reloader->start();
    f.settle();
    f.take();
    f.directory.write("p.yml", file_with("b"));
    f.advance(1h);
    CHECK(f.take().empty());
    f.reloader->check();
    f.settle();
    CHECK(f.take() == Seen{"b"});
}

TEST_CASE("ScrapeConfigReloader: check() delivers unchanged content, too") {
    Followed f;
    f.reloader->start();
    f.settle();
    f.take();
    f.reloader->check();
    f.settle();
    CHECK(f.take() == Seen{"a"});
    f.advance(1min);
    CHECK(f.take().empty());
}

TEST_CASE(
    "ScrapeConfigReloader: after cancel() nothing is delivered and nothing keeps the context") {
    Followed f;
    f.reloader->start();
    f.settle();
    f.take();
    f.reloader->cancel();
    f.reloader->cancel();
    f.directory.write("p.yml", file_with("b"));
    f.advance(1min);
    CHECK(f.take().empty());
    CHECK(f.clock->next_expiry() == TimePoint::max());
    f.reloader->start();
    f.settle();
    CHECK(f.take().empty());
}

TEST_CASE("ScrapeConfigReloader: may be destroyed in its callback") {
    Followed f;
    f.after = [&] { f.reloader.reset(); };
    f.reloader->start();
    f.settle();
    CHECK(f.take() == Seen{"a"});
    f.advance(1min);
    CHECK(f.take().empty());
}

TEST_CASE("ScrapeConfigReloader: goes on after an exception of the callback") {
    Followed f;
    f.after = [&] { throw std::runtime_error("host"); };
    f.reloader->start();
    CHECK_THROWS_AS(f.settle(), std::runtime_error);
    f.after = nullptr;
    f.take();
    f.directory.write("p.yml", file_with("b"));
    f.advance(5s);
    CHECK(f.take() == Seen{"b"});
}

TEST_CASE("ScrapeConfigReloader: follows the files that scrape_config_files name") {
    Followed f;
    f.directory.write("p.yml", "scrape_config_files: [d/*.yml]\nscrape_configs: [{job_name: a}]\n");
    std::vector<std::size_t> jobs;
    ScrapeConfigReloader reloader(f.context.get_executor(), f.path, {}, 5s,
                                  [&](const ScrapeConfigUpdate& update) {
                                      if (update.config) jobs.push_back(update.config->jobs.size());
                                  });
    reloader.start();
    f.settle();
    f.advance(1min);
    f.directory.write("d/b.yml", file_with("b"));
    f.advance(1min);
    f.directory.write("d/b.yml", "scrape_configs: [{job_name: b}, {job_name: c}]\n");
    f.advance(1min);
    std::filesystem::remove(f.directory.path("d/b.yml"));
    f.advance(1min);
    CHECK(jobs == std::vector<std::size_t>{1, 2, 3, 1});
}

// --- removals from known jobs
// ---------------------------------------------------------

namespace {

constexpr const char* two_jobs = R"yaml(
global:
  scrape_interval: 20s
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

/// A host that applies each received configuration.
struct Applying : Simulation {
    explicit Applying(const std::string& text, Duration interval = 5s) {
        write(text);
        reloader.emplace(context.get_executor(), directory.path("p.yml"), ScrapeConfigOptions{},
                         interval, [this](const ScrapeConfigUpdate& update) {
                             updates.push_back(update);
                             if (update.config && update.config->failures.empty()) {
                                 jobs = update.config->jobs;
                             }
                         });
    }
    void write(const std::string& text) const { directory.write("p.yml", text); }
    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const ScrapeJob& job : jobs) names.push_back(job.scrape.job_name);
        return names;
    }

    TemporaryDirectory directory;
    std::vector<ScrapeConfigUpdate> updates;
    std::vector<ScrapeJob> jobs;
    std::optional<ScrapeConfigReloader> reloader;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("ScrapeConfigReloader: a missing job is removed after a second equal scan") {
    Applying f(file_with("b"));
    f.reloader->start();
    f.settle();
    f.write(file_with("a"));
    f.advance(5s);
    CHECK(f.names() == Names{"a", "b"});
    REQUIRE(f.updates.size() == 2);
    CHECK(f.updates[1].removed == Names{"b"});
    CHECK(f.updates[1].error->what() ==
          f.directory.path("p.yml") +
              ": job b is missing; it is removed when a second read of the file finds the same");
    f.advance(4s);
    CHECK(f.names() == Names{"a", "b"});
    f.advance(1s);
    CHECK(f.names() == Names{"a"});
    REQUIRE(f.updates.size() == 3);
    CHECK(f.updates[2].removed == Names{"b"});
    f.advance(1min);
    CHECK(f.updates.size() == 3);
}

TEST_CASE("ScrapeConfigReloader: a job is kept if the second scan finds other bytes") {
    Applying f(file_with("c"));
    f.reloader->start();
    f.settle();
    for (const char* text : {"b", "a", "b", "a"}) {
        f.write(file_with(text));
        f.advance(5s);
        CHECK(f.names() == Names{"a", "b", "c"});
    }
    f.write(file_with("c"));
    f.advance(5s);
    CHECK(f.names() == Names{"a", "b", "c"});
    // The host can forget earlier removals.
    CHECK(f.updates.back().config);
    CHECK(f.updates.back().removed.empty());
}

TEST_CASE("ScrapeConfigReloader: a host that asked is answered a second after a removal") {
    const Duration interval = GENERATE(Duration(0s), Duration(1h));
    Applying f(file_with("b"), interval);
    f.reloader->start();
    f.settle();
    f.write(file_with("a"));
    CHECK(f.reloader->check() == 1);
    f.settle();
    REQUIRE(f.updates.size() == 2);
    CHECK(f.updates[1].removed == Names{"b"});
    CHECK(f.updates[1].checks == 0);
    f.advance(999ms);
    CHECK(f.names() == Names{"a", "b"});
    f.advance(1ms);
    CHECK(f.names() == Names{"a"});
    REQUIRE(f.updates.size() == 3);
    CHECK(f.updates[2].checks == 1);
}

TEST_CASE(
    "ScrapeConfigReloader: check() while a removal waits for its second scan shortens the wait") {
    Applying f(file_with("b"), 1h);
    f.reloader->start();
    f.settle();
    f.write(file_with("a"));
    f.advance(1h);
    CHECK(f.names() == Names{"a", "b"});
    CHECK(f.reloader->check() == 1);
    f.advance(1s);
    CHECK(f.names() == Names{"a"});
    CHECK(f.updates.back().checks == 1);
}

TEST_CASE("ScrapeConfigReloader: a file that lists no jobs is refused once there were jobs") {
    const std::string empty =
        GENERATE("", "\n", "# nothing yet\n", "---\n", "global: {scrape_interval: 5s}\n",
                 "scrape_configs:\n", "scrape_configs: null\nscrape_config_files:\n");
    CAPTURE(empty);
    Applying f(file_with("b"));
    f.reloader->start();
    f.settle();
    f.write(empty);
    f.advance(1h);
    CHECK(f.names() == Names{"a", "b"});
    REQUIRE(f.updates.size() == 2);
    CHECK(f.updates[1].error->what() ==
          f.directory.path("p.yml") + ": lists no jobs, so it may be truncated; to remove all "
                                      "jobs, write scrape_configs: []");
    f.reloader->check();
    f.advance(1min);
    CHECK(f.names() == Names{"a", "b"});
    CHECK(f.updates.back().checks == 1);
    // A host that starts with it has no state to lose.
    Applying first(empty);
    first.reloader->start();
    first.settle();
    REQUIRE(first.updates.size() == 1);
    CHECK(first.updates[0].config);
    // An explicit empty list removes all jobs.
    f.write("scrape_configs: []\n");
    f.advance(10s);
    CHECK(f.names().empty());
    CHECK(f.updates.back().removed == Names{"a", "b"});
}

TEST_CASE("ScrapeConfigReloader: a file truncated in one scan removes nothing, wherever it ends") {
    const std::string whole = two_jobs;
    Applying f(whole);
    f.reloader->start();
    f.settle();
    const std::vector<ScrapeJob> before = f.jobs;
    REQUIRE(before.size() == 2);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        CAPTURE(size);
        f.write(whole.substr(0, size));
        if (size % 2 == 0) {
            f.advance(5s);
        } else {
            f.reloader->check();
            f.settle();
        }
        REQUIRE(f.jobs == before);
        f.write(whole);
        f.advance(10s);
        REQUIRE(f.jobs == before);
        REQUIRE(f.updates.back().config);
    }
}

TEST_CASE("ScrapeConfigReloader: jobs of before a restart need a second scan of the first file") {
    Applying f(file_with("a"), 1h);
    f.reloader->expect_jobs({"a", "b"});
    f.reloader->start();
    f.settle();
    REQUIRE(f.updates.size() == 1);
    CHECK(f.updates[0].removed == Names{"b"});
    CHECK(f.names().empty());
    f.advance(1s);
    CHECK(f.names() == Names{"a"});
    CHECK(f.updates.back().removed == Names{"b"});
}

TEST_CASE("ScrapeConfigReloader: a job with a mistake is left out, not removed") {
    Applying f(file_with("b"));
    f.reloader->start();
    f.settle();
    f.write("scrape_configs: [{job_name: a}, {job_name: b, target_limit: x}]\n");
    f.advance(5s);
    REQUIRE(f.updates.size() == 2);
    CHECK(f.updates[1].config->failures.size() == 1);
    CHECK(f.updates[1].removed.empty());
    // The host may still have it.
    f.write(file_with("a"));
    f.advance(5s);
    CHECK(f.updates.back().removed == Names{"b"});
    CHECK_FALSE(f.updates.back().config);
}

TEST_CASE(
    "ScrapeConfigReloader: keys without effect on targets, and new jobs, need no second scan") {
    Applying f(file_with("a"));
    f.reloader->start();
    f.settle();
    for (const char* text : {"scrape_configs: [{job_name: a, honor_labels: true}]\n",
                             "scrape_configs: [{job_name: b}, {job_name: a}]\n"}) {
        f.write(text);
        f.advance(5s);
        CHECK(f.updates.back().config);
    }
    CHECK(f.updates.size() == 3);
    f.write("scrape_configs: [{job_name: b}, {job_name: a, target_limit: 7}]\n");
    f.advance(5s);
    CHECK(f.updates.size() == 3);
    f.advance(5s);
    CHECK(f.updates.size() == 4);
}

// --- slow files
// -------------------------------------------------------------------------

TEST_CASE("ScrapeConfigReloader: a hanging file stops nothing, and is not read twice") {
    Followed f;
    f.reloader->start();
    f.settle();
    f.take();
    f.files->hold();
    f.advance(14s);
    CHECK(f.take().empty());
    f.advance(1s);
    CHECK(f.take() == Seen{f.path + ": has not been read in 10 s; the read is still in progress"});
    f.advance(1h);
    CHECK(f.take().empty());
    CHECK(f.files->held() == 1);
    f.files->release();
    f.settle();
    CHECK(f.take() == Seen{"a"});
    f.directory.write("p.yml", file_with("b"));
    f.advance(5s);
    CHECK(f.take() == Seen{"b"});
}

TEST_CASE("ScrapeConfigReloader: a scan of more than 10 s is reported, and its result delivered") {
    Followed f;
    boost::asio::io_context pool;  // slow on each call
    Seen seen;
    ScrapeConfigReloader reloader(
        f.context.get_executor(), f.path, {}, 5s,
        [&](const ScrapeConfigUpdate& update) {
            seen.push_back(update.config ? last_job(update) : "slow");
        },
        pool.get_executor());
    reloader.start();
    for (const char* name : {"a", "b", "c"}) {
        CAPTURE(name);
        f.directory.write("p.yml", file_with(name));
        f.advance(16s);
        CHECK(std::exchange(seen, {}) == Seen{"slow"});
        pool.restart();
        CHECK(pool.poll() == 1);
        f.settle();
        CHECK(std::exchange(seen, {}) == Seen{name});
    }
}

TEST_CASE("ScrapeConfigReloader: continuous checks do not hold back the result of a scan") {
    Followed f;
    boost::asio::io_context pool;
    Seen seen;
    ScrapeConfigReloader reloader(
        f.context.get_executor(), f.path, {}, 5s,
        [&](const auto& update) { seen.push_back(last_job(update)); }, pool.get_executor());
    reloader.start();
    f.settle();
    for (const char* name : {"a", "b"}) {
        f.directory.write("p.yml", file_with(name));
        reloader.check();
        f.settle();
        pool.restart();
        CHECK(pool.poll() == 1);
        reloader.check();
        f.settle();
    }
    CHECK(seen == Seen{"a", "b"});
}

TEST_CASE("ScrapeConfigReloader: check() during a scan starts another one") {
    Followed f;
    f.files->hold();
    f.reloader->start();
    f.settle();
    f.reloader->check();
    f.settle();
    CHECK(f.files->held() == 1);
    f.files->release();
    f.settle();
    // Each check completes: a check made meanwhile waits for the second read.
    CHECK(f.take() == Seen{"a", "a"});
    CHECK(f.files->calls() == 2);
}

TEST_CASE("ScrapeConfigReloader: an update names the checks received before its scan") {
    Followed f;
    boost::asio::io_context pool;
    std::vector<std::pair<std::string, std::uint64_t>> seen;
    ScrapeConfigReloader reloader(
        f.context.get_executor(), f.path, {}, 5s,
        [&](const ScrapeConfigUpdate& update) {
            seen.emplace_back(update.config ? "read" : "failed", update.checks);
        },
        pool.get_executor());
    const auto scan_once = [&] {
        f.settle();
        pool.restart();
        pool.poll();
        f.settle();
    };
    reloader.start();
    f.settle();
    CHECK(reloader.check() == 1);
    scan_once();
    CHECK(seen == decltype(seen){{"read", 0}});
    // An unchanged file is reported, too, because a check waits for it.
    scan_once();
    CHECK(seen == decltype(seen){{"read", 0}, {"read", 1}});
    std::filesystem::remove(f.path);
    CHECK(reloader.check() == 2);
    f.settle();
    CHECK(reloader.check() == 3);
    scan_once();
    scan_once();
    CHECK(seen == decltype(seen){{"read", 0}, {"read", 1}, {"failed", 2}, {"failed", 3}});
}

TEST_CASE("ScrapeConfigReloader: reads and parses on the executor that it is given for that") {
    Followed f;
    boost::asio::io_context pool;
    Seen seen;
    ScrapeConfigReloader reloader(
        f.context.get_executor(), f.path, {}, 5s,
        [&](const auto& update) { seen.push_back(last_job(update)); }, pool.get_executor());
    reloader.start();
    f.settle();
    CHECK(seen.empty());
    CHECK(pool.poll() == 1);
    CHECK(seen.empty());
    f.settle();
    CHECK(seen == Seen{"a"});
    CHECK(f.files->calls() == 0);
}

TEST_CASE("ScrapeConfigReloader: a scan that ends after cancel(), or after its context, delivers "
          "nothing") {
    boost::asio::io_context pool;
    int received = 0;
    {
        Followed f;
        const auto count = [&](const auto&) { ++received; };
        ScrapeConfigReloader cancelled(f.context.get_executor(), f.path, {}, 5s, count,
                                       pool.get_executor());
        ScrapeConfigReloader outlived(f.context.get_executor(), f.path, {}, 5s, count,
                                      pool.get_executor());
        cancelled.start();
        outlived.start();
        f.settle();
        cancelled.cancel();
        f.settle();
    }
    CHECK(pool.poll() == 2);
    CHECK(received == 0);
}

TEST_CASE("ScrapeConfigReloader: an environment without file access is reported as an error") {
    struct NoCalls final : FileCalls {
        bool run(std::function<void()>) override { return false; }
    };
    boost::asio::io_context context;
    Environment environment;
    environment.file_calls = std::make_shared<NoCalls>();
    install(context, environment);
    std::string problem;
    ScrapeConfigReloader reloader(
        context.get_executor(), "p.yml", {}, 0s,
        [&](const ScrapeConfigUpdate& update) { problem = update.error->what(); });
    reloader.start();
    context.run();
    CHECK(problem == "p.yml: too many files are being read");
}

TEST_CASE("ScrapeConfigReloader: a throwing lookup of variables is reported once") {
    Followed f;
    f.directory.write("p.yml", "scrape_configs: [{job_name: '%{A}'}]\n");
    ScrapeConfigOptions options;
    options.dialect = LabelDialect::victoriametrics;
    const auto works = std::make_shared<bool>(false);
    options.variables = [works](std::string_view) -> std::optional<std::string> {
        if (!*works) throw std::runtime_error("no variables");
        return "a";
    };
    Seen seen;
    ScrapeConfigReloader reloader(
        f.context.get_executor(), f.path, options, 5s, [&](const ScrapeConfigUpdate& update) {
            seen.push_back(update.config ? last_job(update) : update.error->what());
        });
    reloader.start();
    f.settle();
    f.advance(1min);
    CHECK(std::exchange(seen, {}) == Seen{f.path + ": no variables"});
    reloader.check();
    f.settle();
    CHECK(std::exchange(seen, {}) == Seen{f.path + ": no variables"});
    *works = true;
    f.advance(5s);
    CHECK(seen == Seen{"a"});
}

TEST_CASE("ScrapeConfigReloader: a large file does not hold up the host") {
    const TemporaryDirectory directory;
    std::string text = "scrape_configs:\n";
    for (int i = 0; i < 20'000; ++i) {
        text += "- {job_name: j" + std::to_string(i) + ", relabel_configs: [{target_label: a}]}\n";
    }
    const std::string path = directory.write("p.yml", text);
    boost::asio::io_context context;
    bool done = false;
    ScrapeConfigReloader reloader(context.get_executor(), path, {}, 0s,
                                  [&](const ScrapeConfigUpdate& update) {
                                      // On a busy machine it takes more than 10 s.
                                      if (!update.config) return;
                                      done = update.config->jobs.size() == 20'000;
                                      context.stop();
                                  });
    reloader.start();
    int free_turns = 0;
    boost::asio::steady_timer timer(context);
    std::function<void()> again = [&] {
        ++free_turns;
        timer.expires_after(1ms);
        timer.async_wait([&](boost::system::error_code ec) {
            if (!ec) again();
        });
    };
    again();
    context.run();
    CHECK(done);
    CHECK(free_turns > 3);  // the executor kept running
}
