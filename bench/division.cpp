// The cost of a fleet member that discovers only its part of the pods: memory, CPU and received
// bytes as the number of members grows, beside a member that discovers everything.

#include "child.hpp"
#include "cluster.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/fleet/divided_discovery.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/scrape/target_pool.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "measure.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/json/parse.hpp>
#include <malloc.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using namespace k8s_sd;
using namespace std::chrono_literals;
using Gate = sim::ApiServer::ShardGate;

/// A simulated API server in a process of its own. Each byte that it receives changes `changes`
/// pods.
struct SimServer : bench::Child {
    std::string url;
};

class Serving {
 public:
    template <class Report>
    Serving(std::size_t pods, std::size_t changes, Gate gate, int burst, const Report& report)
        : pods_(pods),
          changes_(changes),
          context_(),
          server_(context_.get_executor()),
          burst_(context_, burst) {
        for (std::size_t pod = 0; pod < pods; ++pod) change(pod);
        server_.set_shard_gate(gate);
        report(server_.listen());
        wait();
        context_.run();
    }

 private:
    void change(std::size_t pod) {
        std::string event;
        cluster_.append_event(event, pod, ++revision_);
        server_.apply(json::parse(event).at("object").as_object());
    }
    void wait() {
        burst_.async_read_some(asio::buffer(&byte_, 1), [this](error_code ec, std::size_t) {
            if (ec) return;
            for (std::size_t i = 0; i < changes_; ++i) change(i * (pods_ / changes_));
            wait();
        });
    }

    const std::size_t pods_;
    const std::size_t changes_;
    const bench::Cluster cluster_{pods_};
    asio::io_context context_;
    sim::ApiServer server_;
    asio::posix::stream_descriptor burst_;
    char byte_ = 0;
    std::size_t revision_ = 0;
};

SimServer serve(std::size_t pods, std::size_t changes, Gate gate) {
    unsigned short port = 0;
    const bench::Child child = bench::start_child(port, [&](int burst, const auto& report) {
        const Serving serving(pods, changes, gate, burst, report);
    });
    return {child, "http://127.0.0.1:" + std::to_string(port)};
}

struct NoScraper final : TargetHandler {
    void stop(TargetId, const ScrapeTargetPtr&, StopReason) noexcept override {}
    void keep(TargetId, const ScrapeTargetPtr&) noexcept override {}
    void start(TargetId, const ScrapeTargetPtr&) noexcept override {}
};

struct Cost {
    double memory = 0;    // MB above the baseline
    double list_cpu = 0;  // seconds
    double burst_cpu = 0;
    double received = 0;  // MB
    double targets = 0;
};

/// One member: lists, then applies a burst of changes.
Cost run_member(const SimServer& server, const FleetShare& share, const Division& division) {
    const double memory = bench::memory_mb("VmRSS");
    const double begun = bench::cpu_seconds();
    asio::io_context context;
    NoScraper scraper;
    TargetPool pool({.job_name = "job"}, scraper);
    pool.share(share, TimePoint());
    auto last_diff = std::chrono::steady_clock::now();
    std::size_t diffs = 0;
    DiscoveryManager manager(context.get_executor(), [&](const JobDiff& diff) {
        pool.apply(diff);
        ++diffs;
        last_diff = std::chrono::steady_clock::now();
    });
    DividedDiscovery discovery;
    discovery.share(share, TimePoint());
    DiscoveryConfig config{.division = division};
    config.api_server.url = server.url;
    manager.apply_config({{.name = "job", .configs = discovery.parts_of({config})}});
    manager.async_run(asio::detached);
    // Waiting costs no CPU.
    const auto run_until_quiet = [&] {
        last_diff = std::chrono::steady_clock::now();
        for (const std::size_t before = diffs;
             diffs == before || std::chrono::steady_clock::now() - last_diff < 300ms;) {
            context.run_for(50ms);
            context.restart();
        }
    };
    run_until_quiet();
    Cost cost;
    ::malloc_trim(0);
    cost.memory = bench::memory_mb("VmRSS") - memory;
    cost.list_cpu = bench::cpu_seconds() - begun;
    if (::write(server.input, "x", 1) != 1) std::_Exit(1);
    run_until_quiet();
    cost.burst_cpu = bench::cpu_seconds() - begun - cost.list_cpu;
    cost.targets = static_cast<double>(pool.active_count());
    cost.received =
        static_cast<double>(metrics_of(context)->of(Kind::pod).bytes_received) / (1024 * 1024);
    return cost;
}

/// The mean over all members, and the maximum memory of one.
struct FleetCost {
    Cost mean;
    double max_memory = 0;
    double all_targets = 0;
};

FleetCost run_fleet(const SimServer& server, unsigned members, const Division& division) {
    std::vector<std::string> names;
    for (unsigned i = 0; i < members; ++i) names.push_back("agent-" + std::to_string(i));
    const auto view = std::make_shared<const FleetView>(names);
    FleetCost fleet;
    for (const std::string& name : names) {
        const Cost cost =
            bench::in_process([&] { return run_member(server, FleetShare(view, name), division); });
        for (const auto part :
             {&Cost::memory, &Cost::list_cpu, &Cost::burst_cpu, &Cost::received, &Cost::targets}) {
            fleet.mean.*part += cost.*part / members;
        }
        fleet.all_targets += cost.targets;
        fleet.max_memory = std::max(fleet.max_memory, cost.memory);
    }
    return fleet;
}

void print_head(const char* title) {
    std::printf("%s\n%8s %10s %16s %9s %16s %16s %16s\n", title, "members", "targets", "memory MB",
                "most MB", "list CPU s", "changes CPU s", "received MB");
}

void print_line(unsigned members, const FleetCost& fleet, const Cost& one) {
    const auto beside = [](double value, double of_one) {
        char text[48];
        std::snprintf(text, sizeof text, "%.2f (x %.2f)", value, value / of_one);
        return std::string(text);
    };
    std::printf("%8u %10.0f %16s %9.1f %16s %16s %16s\n", members, fleet.mean.targets,
                beside(fleet.mean.memory, one.memory).c_str(), fleet.max_memory,
                beside(fleet.mean.list_cpu, one.list_cpu).c_str(),
                beside(fleet.mean.burst_cpu, one.burst_cpu).c_str(),
                beside(fleet.mean.received, one.received).c_str());
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--help") {
        std::puts("usage: bench_division [PODS=20000] [CHANGES=4000]");
        return 0;
    }
    const std::size_t pods = bench::argument(argc, argv, 1, 20'000);
    const std::size_t changes = bench::argument(argc, argv, 2, 4'000);
    struct Setting {
        const char* title;
        Gate gate;
        Division division;
    };
    const Setting settings[] = {
        {"everything is discovered by each member", Gate::off, {}},
        {"divided; the server does not know shares", Gate::off, {DivideBy::objects}},
        {"divided; the server sends shares (KEP-5866)", Gate::on, {DivideBy::objects}}};
    double all_targets = 0;
    bool complete = true;
    for (const Setting& setting : settings) {
        const SimServer server = serve(pods, changes, setting.gate);
        print_head(setting.title);
        Cost one;
        for (const unsigned members : {1U, 2U, 4U, 8U}) {
            const FleetCost fleet = run_fleet(server, members, setting.division);
            if (members == 1) one = fleet.mean;
            if (all_targets == 0) all_targets = fleet.all_targets;
            complete = complete && fleet.all_targets == all_targets;
            print_line(members, fleet, one);
        }
        stop(server);
    }
    if (!complete) std::puts("the members do not have all targets together");
    return complete ? 0 : 1;
}
