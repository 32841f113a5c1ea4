#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "support/objects.hpp"
#include "support/server_threads.hpp"
#include "support/wait_until.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// A discoverer, and the sources it has received.
struct SharingJob {
    SharingJob(asio::io_context& context, const DiscoveryConfig& config)
        : discoverer(
              context.get_executor(), config,
              [received = received](const TargetGroupDiff& diff) { received->apply(diff); }) {
        discoverer.async_run(asio::detached);
    }
    struct Received {
        void apply(const TargetGroupDiff& diff) {
            const std::lock_guard lock(mutex);
            if (diff.full) sources.clear();
            for (const auto& change : diff.updated) {
                sources.insert(std::string(change.group->source()));
            }
            for (const auto& group : diff.removed) sources.erase(std::string(group->source()));
        }
        std::set<std::string> now() {
            const std::lock_guard lock(mutex);
            return sources;
        }
        std::mutex mutex;
        std::set<std::string> sources;
    };

    std::shared_ptr<Received> received = std::make_shared<Received>();
    Discoverer discoverer;
};

}  // namespace

TEST_CASE("Shared watches: jobs come and go on several threads while pods change") {
    ServerThreads threads(4);
    asio::io_context& context = threads.context;
    sim::ApiServer& server = threads.server;

    const std::vector<std::string> selectors = {"", "app=x", "app!=x", "app in (x,y)", "!app"};
    const auto config = [&](unsigned draw) {
        DiscoveryConfig drawn;
        drawn.api_server.url = server.url();
        const std::string& label = selectors[draw % selectors.size()];
        if (!label.empty()) drawn.selectors = {{Role::pod, label, ""}};
        if (draw % 3 == 0) drawn.namespaces = {"a"};
        return drawn;
    };
    const auto change = [&](unsigned draw) {
        const std::string name = "p" + std::to_string(draw % 7);
        const std::string ns = draw % 2 == 0 ? "a" : "b";
        if (draw % 5 == 0) {
            server.remove("pods", ns, name);
        } else {
            server.apply(pod({.name = name,
                              .ns = ns,
                              .ip = "10.0.0." + std::to_string(draw % 200),
                              .labels = {{"app", draw % 3 == 0 ? "x" : "y"}}}));
        }
    };
    std::minstd_rand random(7);
    std::vector<std::unique_ptr<SharingJob>> jobs(8);
    for (int step = 0; step < 400; ++step) {
        auto& job = jobs[random() % jobs.size()];
        if (random() % 3 == 0) {
            job = std::make_unique<SharingJob>(context, config(static_cast<unsigned>(random())));
        } else if (random() % 6 == 0) {
            job.reset();
        }
        change(static_cast<unsigned>(random()));
    }
    for (unsigned draw = 0; draw < selectors.size() * 3; ++draw) {
        DiscoveryConfig alone = config(draw);
        alone.watch.share_selectors = SelectorSharing::never;
        SharingJob job(context, alone);
        jobs.push_back(std::make_unique<SharingJob>(context, config(draw)));
        const SharingJob& shared = *jobs.back();
        const auto synced = [](const SharingJob& j) { return j.discoverer.status().synced; };
        CHECK(wait_until([&] { return synced(job) && synced(shared); }));
        CHECK(wait_until([&] { return job.received->now() == shared.received->now(); }));
    }
    jobs.clear();
    CHECK(wait_until([&] { return server.open_connections() == 0; }));
    CHECK(threads.metrics->of(Kind::pod).objects == 0);
}
