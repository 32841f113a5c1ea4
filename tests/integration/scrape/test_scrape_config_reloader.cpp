#include "k8s_sd/scrape/scrape_config_reloader.hpp"
#include "support/config_fixtures.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
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

std::string file_with(const std::string& job) {
    return "scrape_configs: [{job_name: " + job + "}]\n";
}

/// A file that is followed; take() tells what came of it since the last time.
struct Followed : Simulation {
    explicit Followed(Duration interval = 5s) {
        directory.write("p.yml", file_with("a"));
        reloader.emplace(context.get_executor(), path, ScrapeConfigOptions{}, interval,
                         [this](const ScrapeConfigUpdate& update) {
                             seen.push_back(update.config
                                                ? update.config->jobs.at(0).scrape.job_name
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

TEST_CASE("ScrapeConfigReloader: tells the content once, and again when it has changed") {
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

TEST_CASE("ScrapeConfigReloader: tells what is wrong once, and when it is mended") {
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
    f.directory.write("v1/p.yml", file_with("one"));
    f.directory.write("v2/p.yml", file_with("two"));
    std::filesystem::create_directory_symlink(f.directory.path("v1"), f.directory.path("data"));
    Seen seen;
    ScrapeConfigReloader reloader(
        f.context.get_executor(), f.directory.path("data/p.yml"), {}, 5s,
        [&](const auto& update) { seen.push_back(update.config->jobs.at(0).scrape.job_name); });
    reloader.start();
    f.settle();
    std::filesystem::create_directory_symlink(f.directory.path("v2"), f.directory.path("next"));
    std::filesystem::rename(f.directory.path("next"), f.directory.path("data"));
    f.advance(5s);
    CHECK(seen == Seen{"one", "two"});
}

TEST_CASE("ScrapeConfigReloader: check() looks at once; without an interval nothing else does") {
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

TEST_CASE("ScrapeConfigReloader: check() tells what the file says also if that is the same") {
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

TEST_CASE("ScrapeConfigReloader: after cancel() nothing is told and nothing keeps the context") {
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
    ScrapeConfigReloader reloader(
        f.context.get_executor(), f.path, {}, 5s,
        [&](const ScrapeConfigUpdate& update) { jobs.push_back(update.config->jobs.size()); });
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

TEST_CASE("ScrapeConfigReloader: a file that hangs stops nothing, and is not looked at twice") {
    Followed f;
    f.reloader->start();
    f.settle();
    f.take();
    f.files->hangs = true;
    f.advance(14s);
    CHECK(f.take().empty());
    f.advance(1s);
    CHECK(f.take() == Seen{f.path + ": has not been read in 10 s; it is still being waited for"});
    f.advance(1h);
    CHECK(f.take().empty());
    CHECK(f.files->stuck() == 1);
    f.files->answer();
    f.settle();
    CHECK(f.take() == Seen{"a"});
    f.directory.write("p.yml", file_with("b"));
    f.advance(5s);
    CHECK(f.take() == Seen{"b"});
}

TEST_CASE(
    "ScrapeConfigReloader: a look that takes longer than 10 s is told, and so is what it shows") {
    Followed f;
    boost::asio::io_context pool;  // slow each time
    Seen seen;
    ScrapeConfigReloader reloader(
        f.context.get_executor(), f.path, {}, 5s,
        [&](const ScrapeConfigUpdate& update) {
            seen.push_back(update.config ? update.config->jobs.at(0).scrape.job_name : "slow");
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

TEST_CASE("ScrapeConfigReloader: ever new checks do not keep back what a look shows") {
    Followed f;
    boost::asio::io_context pool;
    Seen seen;
    ScrapeConfigReloader reloader(
        f.context.get_executor(), f.path, {}, 5s,
        [&](const auto& update) { seen.push_back(update.config->jobs.at(0).scrape.job_name); },
        pool.get_executor());
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

TEST_CASE("ScrapeConfigReloader: check() during a look makes another one") {
    Followed f;
    f.files->hangs = true;
    f.reloader->start();
    f.settle();
    f.reloader->check();
    f.settle();
    CHECK(f.files->stuck() == 1);
    f.files->answer();
    f.settle();
    // Each is told: who has asked meanwhile waits for what the second one shows.
    CHECK(f.take() == Seen{"a", "a"});
    CHECK(f.files->asked == 2);
}

TEST_CASE("ScrapeConfigReloader: an update names the checks that came before its look") {
    Followed f;
    boost::asio::io_context pool;
    std::vector<std::pair<std::string, std::uint64_t>> seen;
    ScrapeConfigReloader reloader(
        f.context.get_executor(), f.path, {}, 5s,
        [&](const ScrapeConfigUpdate& update) {
            seen.emplace_back(update.config ? "read" : "failed", update.checks);
        },
        pool.get_executor());
    const auto look = [&] {
        f.settle();
        pool.restart();
        pool.poll();
        f.settle();
    };
    reloader.start();
    f.settle();
    CHECK(reloader.check() == 1);
    look();
    CHECK(seen == decltype(seen){{"read", 0}});
    // What has not changed is told, too: somebody waits for it.
    look();
    CHECK(seen == decltype(seen){{"read", 0}, {"read", 1}});
    std::filesystem::remove(f.path);
    CHECK(reloader.check() == 2);
    f.settle();
    CHECK(reloader.check() == 3);
    look();
    look();
    CHECK(seen == decltype(seen){{"read", 0}, {"read", 1}, {"failed", 2}, {"failed", 3}});
}

TEST_CASE("ScrapeConfigReloader: reads and parses on the executor that it is given for that") {
    Followed f;
    boost::asio::io_context pool;
    Seen seen;
    ScrapeConfigReloader reloader(
        f.context.get_executor(), f.path, {}, 5s,
        [&](const auto& update) { seen.push_back(update.config->jobs.at(0).scrape.job_name); },
        pool.get_executor());
    reloader.start();
    f.settle();
    CHECK(seen.empty());
    CHECK(pool.poll() == 1);
    CHECK(seen.empty());
    f.settle();
    CHECK(seen == Seen{"a"});
    CHECK(f.files->asked == 0);
}

TEST_CASE(
    "ScrapeConfigReloader: a look that ends after cancel(), or after its context, tells nothing") {
    boost::asio::io_context pool;
    int told = 0;
    {
        Followed f;
        const auto count = [&](const auto&) { ++told; };
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
    CHECK(told == 0);
}

TEST_CASE("ScrapeConfigReloader: an environment that reads no file is told as an error") {
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

TEST_CASE("ScrapeConfigReloader: a lookup of variables that throws is told once") {
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
            seen.push_back(update.config ? update.config->jobs.at(0).scrape.job_name
                                         : update.error->what());
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
                                      // Where the machine is busy it takes more than 10 s.
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
    CHECK(free_turns > 3);  // it went on meanwhile
}
