// The memory of hosts after a week of changes beside that of a fresh start in the same state:
// rollouts, drained nodes, hourly lists, ends of watches. Time is virtual, memory is real: the
// simulated server is another process.

#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "k8s_sd/scrape/target_pool.hpp"
#include "k8s_sd/target_groups.hpp"
#include "measure.hpp"
#include "recipes.hpp"
#include "soak/host.hpp"
#include "soak/program_host.hpp"

#include <malloc.h>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace k8s_sd;
using namespace std::chrono_literals;
using bench::soak::Host;
using bench::soak::Server;

/// Pods, and endpoint slices beside them.
class DiscovererHost final : public Host {
 public:
    explicit DiscovererHost(const Server& server) : Host(server) {
        for (const Role role : {Role::endpointslice, Role::pod}) {
            TargetGroups& groups = *groups_.emplace_back(std::make_unique<TargetGroups>());
            discoverers_.emplace_back(context_.get_executor(), config(role),
                                      [this, &groups](const TargetGroupDiff& diff) {
                                          groups.apply(diff);
                                          for (const auto& change : diff.updated)
                                              on_group(*change.group);
                                      });
            discoverers_.back().async_run([](error_code) {});
        }
    }
    std::size_t size() const override {
        return groups_[0]->target_count() + groups_[1]->target_count();
    }

 private:
    std::vector<std::unique_ptr<TargetGroups>> groups_;
    std::vector<Discoverer> discoverers_;
};

struct NoScraper final : TargetHandler {
    void stop(TargetId, const ScrapeTargetPtr&, StopReason) noexcept override {}
    void keep(TargetId, const ScrapeTargetPtr&) noexcept override {}
    void start(TargetId, const ScrapeTargetPtr&) noexcept override {}
};

/// A job of pods and one of endpoint slices, each with a pool.
class PoolHost final : public Host {
 public:
    explicit PoolHost(const Server& server)
        : Host(server),
          manager_(context_.get_executor(), [this](const JobDiff& diff) { on_diff(diff); }) {
        manager_.async_run([](error_code) {});
        std::vector<Job> jobs(2);
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            ScrapeConfig scrape;
            scrape.job_name = jobs[i].name = "job-" + std::to_string(i);
            scrape.relabel_configs = bench::pods();
            pools_.emplace_back(scrape, scraper_);
            jobs[i].configs = {config(i == 0 ? Role::endpointslice : Role::pod)};
        }
        manager_.apply_config(std::move(jobs));
    }
    std::size_t size() const override {
        return pools_[0].active_count() + pools_[1].active_count();
    }

 private:
    void on_diff(const JobDiff& diff) {
        for (const ProviderDiff& provider : diff.providers) {
            pools_[diff.job == "job-0" ? 0 : 1].apply(provider.diff);
            for (const auto& change : provider.diff.updated) on_group(*change.group);
        }
    }
    NoScraper scraper_;
    std::vector<TargetPool> pools_;
    DiscoveryManager manager_;
};

class StoreHost final : public Host {
 public:
    explicit StoreHost(const Server& server)
        : Host(server), watcher_(context_.get_executor(), watched(), store_, [this](const auto&) {
              const auto marker = store_.find("default", bench::soak::marker_name);
              if (marker) on_marker(marker->metadata.labels.find("step").value_or("0"));
          }) {
        watcher_.async_run([](error_code) {});
    }
    std::size_t size() const override { return store_.size(); }

 private:
    WatcherConfig watched() const {
        WatcherConfig config;
        config.api_server = api_server_;
        return config;
    }
    Store<api::Pod> store_;
    Watcher<api::Pod> watcher_;
};

struct Memory {
    double resident_mb, allocated_mb, size;
};
Memory memory_of(const Host& host) {
    const auto info = ::mallinfo2();
    return {bench::memory_mb("VmRSS"),
            static_cast<double>(info.uordblks + info.hblkhd) / (1024 * 1024),
            static_cast<double>(host.size())};
}

void print(const char* when, const Memory& memory) {
    std::printf("  %-14s %8.2f MB resident, %8.2f MB allocated, %7.0f objects or targets\n", when,
                memory.resident_mb, memory.allocated_mb, memory.size);
    std::fflush(stdout);
}

constexpr std::size_t steps_of_hour = 60min / bench::soak::step_time;
constexpr std::size_t steps_of_day = 24 * steps_of_hour;

/// \returns the memory at the end
template <class HostType>
Memory pass_steps(const Server& server, std::size_t first, std::size_t steps) {
    HostType host(server);
    for (std::size_t step = first + 1; step <= first + steps; ++step) {
        server.pass_step();
        host.follow(step);
        const std::size_t passed = step - first;
        if (passed == 5 && steps > steps_of_day) print("after a start", memory_of(host));
        if (passed % steps_of_day != 0) continue;
        char text[32];
        std::snprintf(text, sizeof text, "day %zu", passed / steps_of_day);
        print(text, memory_of(host));
    }
    return memory_of(host);
}

template <class HostType>
void measure(const char* title, std::size_t pods, std::size_t hours) {
    const Server server = bench::soak::serve(pods);
    const std::size_t steps = hours * steps_of_hour;
    std::printf("%s\n", title);
    std::fflush(stdout);
    const auto run = [&](std::size_t first, std::size_t count) {
        return bench::in_process([&] { return pass_steps<HostType>(server, first, count); });
    };
    const Memory after = run(0, steps);
    const Memory fresh = run(steps, 5);
    bench::stop(server);
    print("at the end", after);
    print("a fresh start", fresh);
    std::printf("  after %zu hours, of a fresh start: %.3f resident, %.3f allocated\n", hours,
                after.resident_mb / fresh.resident_mb, after.allocated_mb / fresh.allocated_mb);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--help") {
        std::puts("usage: bench_soak [PODS=10000] [HOURS=168]");
        return 0;
    }
    const std::size_t pods = bench::argument(argc, argv, 1, 10'000);
    const std::size_t hours = bench::argument(argc, argv, 2, 168);
    measure<DiscovererHost>("Discoverers of pods and of endpoint slices", pods, hours);
    measure<PoolHost>("a DiscoveryManager with pools of both", pods, hours);
    measure<StoreHost>("a Store of pods", pods, hours);
    measure<bench::soak::ProgramHost>("k8s-sd with lists of both, requested in each step", pods,
                                      hours);
    return 0;
}
