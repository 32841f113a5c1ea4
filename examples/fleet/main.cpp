// Three scrapers in processes of their own share the targets of one simulated cluster. One leaves,
// another one joins, one is killed; the targets report their scrapers and the longest time without
// a scrape. See docs/guide/scale-out.md.

#include "cli/command_line.hpp"
#include "cli/option_values.hpp"
#include "cli/signals.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "scraped_targets.hpp"
#include "small_kubelet.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace fleet {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct Options {
    unsigned targets = 30;
    std::string scraper;
    bool divide = false;
    bool verbose = false;
};

constexpr const char* scrape_config = R"yaml(
scrape_configs:
- job_name: web
  scrape_interval: 1s
  scrape_timeout: 500ms
  kubernetes_sd_configs:
  - role: pod
)yaml";

constexpr auto start_timeout = 60s;
// An interval, plus possible delays of a busy machine.
constexpr auto without_gap = 2500ms;
// In addition: a failed probe, --fleet-hold-down and --fleet-debounce.
constexpr auto detection = 5000ms;

/// A file deleted together with the object.
class TemporaryFile {
 public:
    explicit TemporaryFile(const std::string& content) {
        std::string name = (std::filesystem::temp_directory_path() / "fleet-XXXXXX").string();
        const int file = mkstemp(name.data());
        if (file < 0) throw std::runtime_error("no temporary file can be made");
        close(file);
        path_ = name;
        std::ofstream(path_) << content;
    }
    ~TemporaryFile() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    const std::string& path() const { return path_; }

 private:
    std::string path_;
};

/// The scenario, step by step.
class Story {
 public:
    Story(asio::io_context& io, const Options& options)
        : io_(io),
          config_(scrape_config),
          server_(io.get_executor()),
          targets_(io.get_executor(), options.targets),
          kubelet_(io.get_executor(), server_, command(options),
                   [verbose = options.verbose](const std::string& pod, const std::string& line) {
                       if (verbose) std::cout << "  [" << pod << "] " << line << std::endl;
                   }),
          timer_(io),
          signals_(io.get_executor()) {
        if (options.divide) server_.set_shard_gate(k8s_sd::sim::ApiServer::ShardGate::on);
        for (const boost::json::object& pod : targets_.pods()) server_.apply(pod);
        server_.listen();
        signals_.wait([this](int) { stop(cli::exit_fine); });
    }

    void start() {
        kubelet_.start();
        say(std::to_string(targets_.pods().size()) +
            " targets; agent-0, agent-1 and agent-2 start");
        for (const char* pod : {"agent-0", "agent-1", "agent-2"}) kubelet_.add(pod);
        until([this] { return kubelet_.are_ready(3) && targets_.all_scraped(); },
              [this] { settle(3s, [this] { scale_down(); }); });
    }
    cli::ExitStatus status() const { return status_; }

 private:
    std::vector<std::string> command(const Options& options) const {
        std::vector<std::string> command{options.scraper, "--config", config_.path()};
        if (options.divide) command.emplace_back("--fleet-divide");
        return command;
    }

    void scale_down() {
        say("agent-1 terminates: it continues until the other members have started");
        targets_.begin_phase();
        kubelet_.remove("agent-1");
        until([this] { return kubelet_.are_ready(2); },
              [this] { settle(2s, [this] { scale_up(); }); });
    }
    void scale_up() {
        if (!end_phase(without_gap)) return;
        say("agent-3 starts: it gets its share once it is ready");
        kubelet_.add("agent-3");
        until([this] { return kubelet_.are_ready(3); },
              [this] { settle(4s, [this] { crash(); }); });
    }
    void crash() {
        if (!end_phase(without_gap)) return;
        say("agent-0 is killed: its targets wait 1 s for its return");
        kubelet_.kill("agent-0");
        settle(6s, [this] {
            if (!end_phase(detection)) return;
            say("every target has an owner");
            stop(cli::exit_fine);
        });
    }

    /// \param bound  maximum time of a target without a scrape
    bool end_phase(std::chrono::milliseconds bound) {
        const std::chrono::milliseconds gap = targets_.max_gap();
        say("  scraped by " + targets_.owners());
        say("  longest time between two scrapes of a target: " + std::to_string(gap.count()) +
            " ms; the limit is " + std::to_string(bound.count()) + " ms");
        targets_.begin_phase();
        if (gap > bound) fail("a target was left alone");
        return gap <= bound;
    }

    void settle(std::chrono::milliseconds time, std::function<void()> then) {
        timer_.expires_after(time);
        timer_.async_wait([then = std::move(then)](boost::system::error_code ec) {
            if (!ec) then();
        });
    }
    void until(std::function<bool()> condition, std::function<void()> then) {
        deadline_ = std::chrono::steady_clock::now() + start_timeout;
        poll(std::move(condition), std::move(then));
    }
    void poll(std::function<bool()> condition, std::function<void()> then) {
        if (condition()) return then();
        if (std::chrono::steady_clock::now() > deadline_) return fail("the agents are not ready");
        settle(50ms, [this, condition = std::move(condition), then = std::move(then)]() mutable {
            poll(std::move(condition), std::move(then));
        });
    }

    void say(const std::string& text) const {
        const auto now = std::chrono::steady_clock::now() - begun_;
        std::printf("%6.1f s  %s\n", std::chrono::duration<double>(now).count(), text.c_str());
        std::fflush(stdout);
    }
    void fail(const std::string& why) {
        std::cerr << "fleet: " << why << std::endl;
        stop(cli::exit_failed);
    }
    void stop(cli::ExitStatus status) {
        status_ = status;
        signals_.cancel();
        timer_.cancel();
        kubelet_.stop();
        io_.stop();
    }

    const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
    asio::io_context& io_;
    TemporaryFile config_;
    k8s_sd::sim::ApiServer server_;
    ScrapedTargets targets_;
    SmallKubelet kubelet_;
    asio::steady_timer timer_;
    cli::Signals signals_;
    std::chrono::steady_clock::time_point deadline_;
    cli::ExitStatus status_ = cli::exit_fine;
};

/// The scraper in the directory of this program.
std::string scraper_beside() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "scraper";
}

cli::CommandLine command_line(Options& o) {
    return {
        .program = "fleet",
        .about = "Shows how scrapers share targets: three processes, one simulated cluster. One "
                 "leaves, one\njoins, one is killed. Prints the longest time of a target "
                 "without a scrape.\n",
        .sections = {{"",
                      {{"--targets", "N", "how many there are (default 30)",
                        [&o](const std::string& v) {
                            o.targets = cli::number(v, 1u, 500u, "a number from 1 to 500");
                        }},
                       {"--scraper", "FILE",
                        "the program to run (default: scraper, beside this one)",
                        cli::text(o.scraper)},
                       {"--divide", "",
                        "each scraper discovers its part of the pods only, instead of all of them",
                        cli::flag(o.divide)},
                       {"--verbose", "", "print what the scrapers print", cli::flag(o.verbose)}}}},
        .notes = "Exit status: 0 fine, 2 unusable arguments, 1 if a target was left alone, or "
                 "anything else.\n"};
}

cli::ExitStatus run(Options options) {
    if (options.scraper.empty()) options.scraper = scraper_beside();
    if (access(options.scraper.c_str(), X_OK) != 0) {
        throw cli::UsageError("--scraper: " + options.scraper + " is no program");
    }
    asio::io_context io(1);
    Story story(io, options);
    story.start();
    io.run();
    return story.status();
}

}  // namespace
}  // namespace fleet

int main(int argc, char** argv) {
    fleet::Options options;
    return cli::run_program(fleet::command_line(options), argc, argv,
                            [&] { return fleet::run(options); });
}
