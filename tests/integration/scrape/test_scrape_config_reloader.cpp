#include "k8s_sd/scrape/scrape_config_reloader.hpp"
#include "support/config_fixtures.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
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
    f.directory.write("p.yml", "scrape_configs: [{job_nme: a}]\n");
    f.advance(1min);
    const Seen bad = f.take();
    REQUIRE(bad.size() == 1);
    CHECK(bad[0].starts_with(f.path + ":1: scrape_configs[0].job_nme: unknown key"));
    std::filesystem::remove(f.path);
    f.advance(1min);
    CHECK(f.take() == Seen{f.path + ": cannot read " + f.path + ": No such file or directory"});
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
