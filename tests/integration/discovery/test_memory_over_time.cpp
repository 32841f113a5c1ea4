// A week of changes in a cluster leaves no memory behind: a host that was there takes hardly more
// bytes than one that starts in the final state. Counts allocated bytes, in virtual time.

#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/objects/store.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "k8s_sd/scrape/target_pool.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/sim/builders.hpp"
#include "k8s_sd/sim/manual_clock.hpp"
#include "k8s_sd/target_groups.hpp"
#include "support/allocations.hpp"
#include "support/effort.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t node_count = 10;

sim::ApiServerOptions server_options(std::shared_ptr<Clock> clock) {
    sim::ApiServerOptions options;
    options.clock = std::move(clock);
    options.history = 500;
    return options;
}

/// A server with deployments that roll out, nodes that are drained, and watches that end.
class ChangingCluster {
 public:
    ChangingCluster() {
        for (std::size_t i = 0; i < node_count; ++i) apply_node(i, "a");
        for (std::size_t i = 0; i < deployments_.size(); ++i) {
            const std::string name = "app-" + std::to_string(i);
            server.apply(sim::service("shop", name).port("http", 80).label("app", name));
            roll_out(i);
        }
    }

    void pass_hour() {
        ++hour_;
        roll_out(hour_ % deployments_.size());
        if (hour_ % 6 == 0) drain(hour_ / 6 % node_count);
        for (std::size_t i = 0; i < node_count; ++i) apply_node(i, std::to_string(hour_));
        advance(10min);
        server.compact();
        hour_ % 5 == 0 ? server.disconnect_all() : server.end_watches();
        advance(50min);
    }
    /// Of the clients, too.
    void advance(Duration time) {
        const TimePoint end = clock->now() + time;
        settle_all();
        for (auto next = clock->next_expiry(); next <= end; next = clock->next_expiry()) {
            clock->advance(next - clock->now());
            settle_all();
        }
        clock->advance(end - clock->now());
        settle_all();
    }
    std::size_t pod_count() const { return server.count("pods"); }

    const std::shared_ptr<sim::ManualClock> clock = std::make_shared<sim::ManualClock>();

 private:
    struct Pod {
        std::string name;
        std::size_t node = 0;
    };

    void settle_all() {
        for (std::size_t handlers = 1; handlers > 0;) {
            handlers = settle(context_);
            for (asio::io_context* client : clients) handlers += settle(*client);
        }
    }
    void apply_node(std::size_t i, const std::string& pool) {
        const std::string name = "node-" + std::to_string(i);
        server.apply(sim::node(name).address("10.1.0." + std::to_string(i)).label("pool", pool));
    }
    void roll_out(std::size_t deployment) {
        std::vector<Pod>& pods = deployments_[deployment];
        pods.resize(20);
        for (std::size_t i = 0; i < pods.size(); ++i) replace(deployment, pods[i], i % node_count);
        apply_slice(deployment);
    }
    void drain(std::size_t node) {
        server.remove("nodes", "", "node-" + std::to_string(node));
        for (std::size_t i = 0; i < deployments_.size(); ++i) {
            for (Pod& pod : deployments_[i]) {
                if (pod.node == node) replace(i, pod, (node + 1) % node_count);
            }
            apply_slice(i);
        }
    }
    /// Another pod with a name, an address and labels of its own.
    void replace(std::size_t deployment, Pod& pod, std::size_t node) {
        if (!pod.name.empty()) server.remove("pods", "shop", pod.name);
        const std::string app = "app-" + std::to_string(deployment);
        const std::string serial = std::to_string(100'000 + ++serial_);
        pod = {app + '-' + serial, node};
        sim::PodBuilder starting("shop", pod.name);
        starting.label("app", app)
            .label("pod-template-hash", std::to_string(hour_))
            .annotation("started-by", serial)
            .controller("ReplicaSet", app + '-' + std::to_string(hour_))
            .node("node-" + std::to_string(node))
            .container("web", "registry.example.com/web:" + std::to_string(hour_), 8080)
            .phase("Pending");
        server.apply(starting);
        server.apply(starting.phase("Running").ip(address(serial_)).ready());
    }
    static std::string address(std::size_t serial) {
        return "10.64." + std::to_string(serial / 250 % 250) + '.' + std::to_string(serial % 250);
    }
    void apply_slice(std::size_t deployment) {
        const std::string app = "app-" + std::to_string(deployment);
        sim::EndpointSliceBuilder slice("shop", app + "-slice", app);
        slice.port("http", 8080);
        for (const Pod& pod : deployments_[deployment]) {
            slice.endpoint("10.0.0.1").pod(pod.name).node("node-" + std::to_string(pod.node));
        }
        server.apply(slice);
    }

    asio::io_context context_;
    std::vector<std::vector<Pod>> deployments_{8};
    std::size_t hour_ = 0, serial_ = 0;

 public:
    sim::ApiServer server{context_.get_executor(), server_options(clock)};
    std::set<asio::io_context*> clients;
};

/// A host with a context of its own, whose destruction frees all of its memory.
class Client {
 public:
    explicit Client(ChangingCluster& cluster) : cluster_(cluster) {
        Environment environment;
        environment.clock = cluster.clock;
        environment.connector = cluster.server.connector();
        environment.metrics = std::make_shared<Metrics>();
        environment.seed = 1;
        install(context, environment);
        cluster_.clients.insert(&context);
    }
    virtual ~Client() { cluster_.clients.erase(&context); }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;
    virtual std::size_t size() const = 0;

 protected:
    ApiServerConfig api_server() const { return {.url = cluster_.server.url()}; }
    DiscoveryConfig config() const {
        DiscoveryConfig config{.role = Role::endpointslice, .api_server = api_server()};
        config.attach_metadata.node = true;
        return config;
    }
    asio::io_context context;

 private:
    ChangingCluster& cluster_;
};

class DiscovererHost final : public Client {
 public:
    explicit DiscovererHost(ChangingCluster& cluster) : Client(cluster) {
        discoverer_.async_run([](error_code) {});
    }
    std::size_t size() const override { return groups_.target_count(); }

 private:
    TargetGroups groups_;
    Discoverer discoverer_{context.get_executor(), config(),
                           [this](const TargetGroupDiff& diff) { groups_.apply(diff); }};
};

struct NoScraper final : TargetHandler {
    void stop(TargetId, const ScrapeTargetPtr&, StopReason) noexcept override {}
    void keep(TargetId, const ScrapeTargetPtr&) noexcept override {}
    void start(TargetId, const ScrapeTargetPtr&) noexcept override {}
};

/// Two jobs with a pool each, the second one of role pod.
class PoolHost final : public Client {
 public:
    explicit PoolHost(ChangingCluster& cluster) : Client(cluster) {
        manager_.async_run([](error_code) {});
        std::vector<Job> jobs(2);
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            ScrapeConfig scrape;
            scrape.job_name = jobs[i].name = "job-" + std::to_string(i);
            scrape.relabel_configs = {{.action = RelabelAction::labelmap,
                                       .regex = "__meta_kubernetes_pod_(label|annotation)_(.+)",
                                       .replacement = "$2"}};
            pools_.emplace_back(scrape, scraper_);
            jobs[i].configs = {config()};
        }
        jobs[1].configs.edit(0, [](DiscoveryConfig& config) { config.role = Role::pod; });
        manager_.apply_config(std::move(jobs));
    }
    std::size_t size() const override {
        return pools_[0].active_count() + pools_[1].active_count();
    }

 private:
    void on_diff(const JobDiff& diff) {
        for (const ProviderDiff& provider : diff.providers) {
            pools_[diff.job == "job-0" ? 0 : 1].apply(provider.diff);
        }
    }
    NoScraper scraper_;
    std::vector<TargetPool> pools_;
    DiscoveryManager manager_{context.get_executor(),
                              [this](const JobDiff& diff) { on_diff(diff); }};
};

class StoreHost final : public Client {
 public:
    explicit StoreHost(ChangingCluster& cluster) : Client(cluster) {
        watcher_.async_run([](error_code) {});
    }
    std::size_t size() const override { return store_.size(); }

 private:
    WatcherConfig watched() const {
        WatcherConfig config;
        config.api_server = api_server();
        return config;
    }
    Store<api::Pod> store_;
    Watcher<api::Pod> watcher_{context.get_executor(), watched(), store_};
};

/// The bytes that its destruction frees.
long bytes_of(std::unique_ptr<Client> client) {
    const long before = memory_use.bytes;
    client.reset();
    return before - memory_use.bytes;
}

struct Bytes {
    long after_week, at_start;
};

template <class Host>
void pass_week() {
    memory_use = {.on = true};
    Bytes bytes{};
    {
        ChangingCluster cluster;
        std::unique_ptr<Client> old = std::make_unique<Host>(cluster);
        constexpr int hours = rounds(7 * 24);
        for (int i = 0; i < hours; ++i) cluster.pass_hour();
        std::unique_ptr<Client> fresh = std::make_unique<Host>(cluster);
        cluster.advance(1h);
        CHECK(old->size() == fresh->size());
        CHECK(fresh->size() >= cluster.pod_count());
        bytes = {bytes_of(std::move(old)), bytes_of(std::move(fresh))};
    }
    memory_use.on = false;
    CAPTURE(bytes.after_week, bytes.at_start);
    // Tables and caches keep some room, which counts in so small a cluster.
    CHECK(bytes.after_week * 100 <= bytes.at_start * 110);
}

}  // namespace

TEST_CASE(
    "Memory over time: a Discoverer takes no more after a week of changes than at its start") {
    pass_week<DiscovererHost>();
}

TEST_CASE("Memory over time: jobs with pools take no more after a week of changes than at first") {
    pass_week<PoolHost>();
}

TEST_CASE("Memory over time: a Store takes no more after a week of changes than at its start") {
    pass_week<StoreHost>();
}
