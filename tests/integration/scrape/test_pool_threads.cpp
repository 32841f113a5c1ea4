#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/scrape/target_pool.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/strict_scraper.hpp"
#include "support/wait_until.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/packaged_task.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

namespace asio = boost::asio;
using Strand = asio::strand<asio::thread_pool::executor_type>;

/// A pool with a strand of its own.
struct PoolOnStrand {
    PoolOnStrand(asio::thread_pool& threads, const ScrapeConfig& config)
        : strand(asio::make_strand(threads)), pool(config, scraper) {}

    /// Calls the function on the strand.
    template <class Ask>
    auto ask(Ask ask) {
        return asio::post(strand, std::packaged_task<decltype(ask(*this))()>(
                                      [this, ask] { return ask(*this); }))
            .get();
    }

    Strand strand;
    StrictScraper scraper;
    TargetPool pool;
};

/// A manager on one strand, and the pools of its jobs on others, in four threads.
struct ThreadedHost {
    ThreadedHost() {
        Environment environment;
        environment.connector = server.connector();
        environment.metrics = metrics;
        environment.logger.level = LogLevel::error;
        install(threads, environment);
        manager.emplace(strand, [this](JobDiff diff) {
            const auto job = jobs.at(diff.job);
            asio::post(job->strand, [job, diff = std::move(diff)] {
                job->pool.apply(diff);
                job->scraper.forget_calls();
            });
        });
        manager->async_run([](error_code) {});
    }
    ~ThreadedHost() {
        on_strand([this] { manager.reset(); });
        server.disconnect_all();
        threads.stop();
        threads.join();
    }
    template <class Work>
    void on_strand(Work work) {
        asio::post(strand, std::packaged_task<void()>(work)).get();
    }

    DiscoveryConfig config(Role role) const {
        DiscoveryConfig config{.watch = plain_lists()};
        config.role = role;
        config.api_server.url = server.url();
        return config;
    }
    static ScrapeConfig rules(const std::string& job, int version) {
        RelabelRule rule;
        rule.target_label = "version";
        rule.replacement = std::to_string(version);
        RelabelRule name;
        name.source_labels = {"__meta_kubernetes_pod_name"};
        name.target_label = "pod";
        ScrapeConfig config;
        config.job_name = job;
        config.relabel_configs = {rule, name};
        return config;
    }
    void reload(Role role, int version) {
        on_strand([=, this] {
            std::vector<Job> wanted;
            for (int i = 0; i < 6; ++i) {
                const std::string name = "job-" + std::to_string(i);
                wanted.push_back({name, {config(role)}});
                auto& job = jobs[name];
                if (!job) job = std::make_shared<PoolOnStrand>(threads, rules(name, version));
            }
            manager->apply_config(wanted);
            for (const auto& [name, job] : jobs) {
                asio::post(job->strand, [job, config = rules(name, version),
                                         providers = manager->providers(name)] {
                    job->pool.reload(config, {}, providers);
                    job->scraper.forget_calls();
                });
            }
        });
    }

    asio::thread_pool threads{4};
    asio::strand<asio::thread_pool::executor_type> strand = asio::make_strand(threads);
    sim::ApiServer server{threads.get_executor()};
    std::shared_ptr<Metrics> metrics = std::make_shared<Metrics>();
    std::map<std::string, std::shared_ptr<PoolOnStrand>> jobs;  // accessed on the strand only
    std::optional<DiscoveryManager> manager;                    // accessed on the strand only
};

}  // namespace

TEST_CASE("TargetPool: pools on strands of their own follow a cluster and reloads") {
    ThreadedHost host;
    for (int i = 0; i < 20; ++i) {
        host.server.apply(pod({.name = "p" + std::to_string(i)}));
        host.server.apply(node("n" + std::to_string(i)));
    }
    host.reload(Role::pod, 0);
    for (int step = 1; step <= 400; ++step) {
        const std::string name = "p" + std::to_string(step % 30);
        if (step % 4 == 0) {
            host.server.remove("pods", "default", name);
        } else {
            host.server.apply(pod({.name = name, .labels = {{"v", std::to_string(step)}}}));
        }
        if (step % 20 == 0) host.reload(step % 40 == 0 ? Role::pod : Role::node, step);
    }
    const std::size_t pods = host.server.count("pods");
    const auto is_complete = [&](PoolOnStrand& job) {
        const auto active = job.pool.active();
        return active.size() == pods && job.scraper.count() == pods &&
               std::all_of(active.begin(), active.end(), [](const ScrapeTargetPtr& target) {
                   return target->get("version") == "400" && !target->get("pod").empty();
               });
    };
    for (int i = 0; i < 6; ++i) {
        const auto job = host.jobs.at("job-" + std::to_string(i));
        CHECK(wait_until([&] { return job->ask(is_complete); }));
        CHECK(job->ask([](PoolOnStrand& j) { return j.scraper.complaints; }) == "");
    }
}
