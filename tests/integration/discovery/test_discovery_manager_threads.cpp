#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "support/job_host.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/wait_until.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// Four threads, with a simulated server.
struct Pool {
    Pool() : server(pool.get_executor()) {
        Environment environment;
        environment.connector = server.connector();
        environment.metrics = metrics;
        environment.logger.level = LogLevel::error;
        install(pool, environment);
    }
    ~Pool() {
        server.disconnect_all();
        pool.stop();
        pool.join();
    }
    DiscoveryConfig config(Role role) const {
        DiscoveryConfig config{.watch = plain_lists()};
        config.role = role;
        config.api_server.url = server.url();
        return config;
    }
    std::int64_t left() const {
        std::int64_t left = static_cast<std::int64_t>(server.open_connections()) + metrics->jobs +
                            metrics->providers + metrics->failed_configs;
        for (const auto& kind : metrics->kinds) {
            left += kind.watchers + kind.objects + kind.synced_watchers;
        }
        return left;
    }

    asio::thread_pool pool{4};
    sim::ApiServer server;
    std::shared_ptr<Metrics> metrics = std::make_shared<Metrics>();
};

}  // namespace

TEST_CASE("DiscoveryManager: four threads, a cluster and a configuration that change") {
    Pool p;
    std::atomic<bool> running = false;
    std::atomic<int> overlaps = 0;
    std::mutex mutex;
    JobLedger ledger;
    DiscoveryManager manager(p.pool.get_executor(), [&](const JobDiff& diff) {
        if (running.exchange(true)) ++overlaps;
        {
            const std::lock_guard lock(mutex);
            ledger.apply(diff);
        }
        running = false;
    });
    std::vector<DiscoveryConfig> configs;
    for (const Role role : {Role::pod, Role::service, Role::node, Role::endpointslice}) {
        configs.push_back(p.config(role));
    }
    DiscoveryConfig bad{.watch = plain_lists()};
    bad.kubeconfig_file = "/nonexistent";
    configs.push_back(bad);
    const auto random_jobs = [&](std::mt19937& random) {
        std::vector<Job> jobs;
        for (unsigned i = 0; i < 4; ++i) {
            if (random() % 4 == 0) continue;
            Job job;
            job.name = "job-" + std::to_string(i);
            for (unsigned n = random() % 4; n > 0; --n) {
                job.configs.push_back(configs[random() % configs.size()]);
            }
            if (random() % 3 == 0) job.min_update_interval = 1ms;
            jobs.push_back(job);
        }
        return jobs;
    };

    std::atomic<int> ended = 0;
    manager.async_run([&](error_code) { ++ended; });
    {
        std::vector<std::jthread> threads;
        for (unsigned t = 0; t < 2; ++t) {
            threads.emplace_back([&, t] {
                std::mt19937 random(t);
                for (int i = 0; i < 300; ++i) manager.apply_config(random_jobs(random));
            });
        }
        threads.emplace_back([&] {
            for (int i = 0; i < 500; ++i) {
                for (const JobStatus& status : manager.status()) manager.snapshot(status.name);
            }
        });
        std::mt19937 random(7);
        for (int step = 0; step < 2000; ++step) {
            const std::string name = "p" + std::to_string(random() % 20);
            const std::string value = std::to_string(step);
            switch (random() % 8) {
                case 0: p.server.remove("pods", "default", name); break;
                case 1: p.server.apply(node("n1", {{"zone", value}})); break;
                case 2: p.server.apply(service("web", {{"v", value}})); break;
                case 3: p.server.apply(slice("web-x", "web", {{"10.0.0.1", name}})); break;
                case 4:
                    if (step % 10 == 0) p.server.end_watches();
                    break;
                default: p.server.apply(pod({.name = name, .labels = {{"v", value}}}));
            }
        }
    }
    manager.apply_config({{"last", {configs[0], configs[1]}}});
    p.server.apply(pod({.name = "last"}));
    const std::size_t all = p.server.count("pods") + p.server.count("services");
    const auto converged = [&] {
        const std::lock_guard lock(mutex);
        return ledger.jobs.size() == 1 && ledger.state("last").size() == all;
    };
    CHECK(wait_until(converged));
    CHECK(overlaps == 0);
    {
        const std::lock_guard lock(mutex);
        CHECK(ledger.complaints == "");
    }
    manager.cancel();
    CHECK(wait_until([&] { return ended == 1 && p.left() == 0; }));
}

TEST_CASE("DiscoveryManager: cancel, and everything else from several threads at once") {
    Pool p;
    p.server.apply(pod({.name = "p"}));
    for (int round = 0; round < 20; ++round) {
        std::atomic<int> ended = 0;
        // At the end of the round a call may still be running.
        const auto calls = std::make_shared<std::atomic<int>>(0);
        DiscoveryManager manager(p.pool.get_executor(), [calls](const JobDiff&) { ++*calls; });
        manager.async_run([&](error_code) { ++ended; });
        {
            std::vector<std::jthread> callers;
            for (int i = 0; i < 3; ++i) {
                callers.emplace_back([&, i] {
                    const std::string name = "job-" + std::to_string(i);
                    manager.apply_config({{name, {p.config(Role::pod)}}});
                    if (i == 0) manager.async_run([&](error_code) { ++ended; });
                    manager.status();
                    manager.snapshot(name);
                    if (round % 2 == 0) std::this_thread::yield();
                    manager.cancel();
                    manager.apply_config({{name, {p.config(Role::service)}}});
                    manager.status();
                });
            }
        }
        const int before = *calls;
        p.server.apply(pod({.name = "p", .labels = {{"v", std::to_string(round)}}}));
        CHECK(wait_until([&] { return ended == 2; }));
        CHECK(*calls <= before + 1);
    }
    CHECK(wait_until([&] { return p.left() == 0; }));
}

TEST_CASE("DiscoveryManager: jobs that work on their diffs in several threads have one at a time") {
    Pool p;
    struct Work {
        std::atomic<int> diffs = 0;
        std::atomic<int> targets = 0;
    };
    std::atomic<int> overlaps = 0;
    std::array<Work, 4> work;
    DiscoveryManager manager(p.pool.get_executor(), [&](JobDiff diff) {
        Work& job = work[static_cast<unsigned char>(diff.job.back() - '0')];
        if (job.diffs.fetch_add(1) != 0) ++overlaps;
        asio::post(p.pool, [&job, diff = std::move(diff)] {
            for (const ProviderDiff& provider : diff.providers) {
                int more = 0;
                for (const GroupChange& change : provider.diff.updated) more += !change.previous;
                job.targets += more - static_cast<int>(provider.diff.removed.size());
            }
            std::this_thread::yield();
            --job.diffs;
        });
    });
    manager.async_run([](error_code) {});
    std::vector<Job> jobs;
    for (unsigned i = 0; i < 4; ++i) jobs.push_back({std::to_string(i), {p.config(Role::pod)}});
    manager.apply_config(jobs);
    for (int step = 0; step < 500; ++step) {
        const std::string name = "p" + std::to_string(step % 50);
        if (step % 3 == 0) {
            p.server.remove("pods", "default", name);
        } else {
            p.server.apply(pod({.name = name, .labels = {{"v", std::to_string(step)}}}));
        }
    }
    const auto all = static_cast<int>(p.server.count("pods"));
    CHECK(wait_until([&] {
        return std::all_of(work.begin(), work.end(),
                           [&](const Work& job) { return job.targets == all; });
    }));
    CHECK(overlaps == 0);
    manager.cancel();
    CHECK(wait_until([&] { return p.left() == 0; }));
    CHECK(wait_until([&] {
        return std::all_of(work.begin(), work.end(),
                           [](const Work& job) { return job.diffs == 0; });
    }));
}

TEST_CASE("DiscoveryManager: a turn may end while the manager and its context go") {
    // A worker that releases the last reference to a diff must not destroy the manager, whose
    // context it would need.
    asio::thread_pool workers{2};
    for (int round = 0; round < 300; ++round) {
        auto context = std::make_unique<asio::io_context>();
        const auto go = std::make_shared<std::atomic<bool>>(false);
        bool received = false;
        auto manager =
            std::make_unique<DiscoveryManager>(context->get_executor(), [&](JobDiff diff) {
                asio::post(workers, [go, diff = std::move(diff)]() mutable {
                    while (!*go) std::this_thread::yield();
                    diff.delivery.reset();
                });
                received = true;
            });
        manager->async_run([](error_code) {});
        manager->apply_config({{"a", {}}});
        for (int i = 0; i < 100 && !received; ++i) context->run_one();
        REQUIRE(received);
        manager->apply_config({});  // so that the end of the delivery has work to do
        *go = true;
        manager.reset();
        context.reset();
    }
    workers.join();
}
