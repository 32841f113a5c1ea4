// The memory of hosts after a week of changes beside that of a fresh start in the same state:
// rollouts, drained nodes, hourly lists, ends of watches. Time is virtual, memory is real: the
// simulated server is another process.

#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "k8s_sd/scrape/target_pool.hpp"
#include "k8s_sd/sim/manual_clock.hpp"
#include "k8s_sd/target_groups.hpp"
#include "measure.hpp"
#include "recipes.hpp"
#include "soak/cluster.hpp"

#include <boost/asio/io_context.hpp>
#include <malloc.h>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace k8s_sd;
using namespace std::chrono_literals;
using bench::soak::Server;

std::size_t step_of(std::string_view text) {
    std::size_t step = 0;
    std::from_chars(text.data(), text.data() + text.size(), step);
    return step;
}

/// A host in virtual time.
class Host {
 public:
    explicit Host(const Server& server) {
        api_server_.url = "http://127.0.0.1:" + std::to_string(server.port);
        Environment environment;
        environment.clock = clock_;
        install(context_, environment);
    }
    virtual ~Host() = default;
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    /// Until the host has the state of this step, one step later at least. Waits for the server, in
    /// real time, before virtual time passes: it must not seem to be silent.
    void follow(std::size_t step) {
        while (step_ < step) {
            if (!wait_until_quiet(20ms, step)) clock_->advance(context_, 1s);
        }
        // Other kinds are listed again, too, if the pods are.
        const bool lists = std::exchange(has_waited_, false);
        wait_until_quiet(lists ? 100ms : 0ms, step + 1);
        constexpr int parts = 5;
        for (int i = 0; i < parts; ++i) {
            clock_->advance(context_, bench::soak::step_time / parts);
            wait_until_quiet(200us, step + 1);
        }
    }
    virtual std::size_t size() const = 0;

 protected:
    DiscoveryConfig config(Role role) const {
        DiscoveryConfig config;
        config.role = role;
        config.api_server = api_server_;
        config.attach_metadata.node = true;
        return config;
    }
    void on_group(const TargetGroup& group) {
        if (!group.source().ends_with("/" + bench::soak::marker_name)) return;
        step_ = step_of(group.labels().get("__meta_kubernetes_pod_label_step").value_or("0"));
    }
    void on_marker(std::string_view text) { step_ = step_of(text); }

    const std::shared_ptr<sim::ManualClock> clock_ = std::make_shared<sim::ManualClock>();
    asio::io_context context_;
    ApiServerConfig api_server_;

 private:
    /// \returns false if nothing has happened for this time, true if the step was reached
    bool wait_until_quiet(std::chrono::microseconds quiet, std::size_t step) {
        using SystemClock = std::chrono::steady_clock;
        for (auto last = SystemClock::now(); step_ < step;) {
            context_.restart();
            if (context_.poll() > 0) {
                last = SystemClock::now();
                continue;
            }
            if (SystemClock::now() - last >= quiet) {
                has_waited_ = has_waited_ || quiet > 1ms;
                return false;
            }
            std::this_thread::sleep_for(30us);
        }
        return true;
    }

    std::size_t step_ = 0;
    bool has_waited_ = false;  // for more than events
};

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
    return 0;
}
