// A host with targets from its own source, here an inventory with some delay: a TargetSource beside
// a static list and pods of a simulated cluster, all in one job.
//
//     own_targets      with a simulated cluster, until the inventory has changed and failed

#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/target_group.hpp"
#include "k8s_sd/target_source.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// The origin of the targets. It has two machines, then three, then it is out of order.
class Inventory {
 public:
    using Handler = std::function<void(std::optional<std::vector<std::string>>)>;
    explicit Inventory(asio::io_context& io) : timer_(io) {}

    void async_list(Handler done) {
        timer_.expires_after(200ms);
        timer_.async_wait([this, done = std::move(done)](boost::system::error_code ec) {
            if (ec) return;
            switch (++asked_) {
                case 1: return done(std::vector<std::string>{"db-1:9104", "db-2:9104"});
                case 2:
                    return done(std::vector<std::string>{"db-1:9104", "db-2:9104", "db-3:9104"});
                default: return done(std::nullopt);
            }
        });
    }

 private:
    asio::steady_timer timer_;
    int asked_ = 0;
};

//[own_targets
/// Polls the inventory and passes each answer to a source. An answer equal to the previous one
/// costs the jobs nothing; without an answer they keep their targets.
class InventoryTargets {
 public:
    explicit InventoryTargets(Inventory& inventory) : inventory_(inventory) {}

    const k8s_sd::TargetSource& source() const noexcept { return source_; }

    void ask() {
        inventory_.async_list([this](const std::optional<std::vector<std::string>>& machines) {
            if (!machines) return source_.fail("the inventory does not answer");
            std::vector<k8s_sd::LabelMap> targets;
            for (const std::string& machine : *machines) {
                targets.push_back({{"__address__", machine}});
            }
            source_.set({maker_.make("inventory/db", {{"team", "storage"}}, targets)});
            ask();
        });
    }

 private:
    Inventory& inventory_;
    k8s_sd::TargetGroupMaker maker_;
    k8s_sd::TargetSource source_;
};
//]

void print(const k8s_sd::JobDiff& diff) {
    for (const k8s_sd::ProviderDiff& provider : diff.providers) {
        for (const k8s_sd::GroupChange& change : provider.diff.updated) {
            std::cout << diff.job << ": " << change.group->source() << ':';
            for (std::size_t i = 0; i < change.group->size(); ++i) {
                std::cout << ' ' << (*change.group)[i].get("__address__").value_or("");
            }
            std::cout << std::endl;
        }
    }
}

}  // namespace

int main(int argc, char**) {
    if (argc > 1) {
        std::cerr << "usage: own_targets\n";
        return 2;
    }
    asio::io_context io;
    std::optional<k8s_sd::sim::ApiServer> server(std::in_place, io.get_executor());
    server->apply(R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "status":
                     {"addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
                      "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}}}})");
    server->listen();

    Inventory inventory(io);
    InventoryTargets machines(inventory);
    k8s_sd::Job job{"all", {}};
    k8s_sd::DiscoveryConfig nodes;
    nodes.role = k8s_sd::Role::node;
    nodes.api_server.url = server->url();
    job.configs = {nodes};
    job.sources = {machines.source()};
    job.static_configs = {{{"gateway.example.com:9100"}, {{"team", "network"}}}};

    k8s_sd::DiscoveryManager manager(io.get_executor(), print);
    manager.apply_config({job});
    manager.async_run([&](boost::system::error_code ec) {
        std::cout << "discovery ended: " << ec.message() << std::endl;
        server.reset();  // otherwise its work keeps the context running
    });
    machines.ask();

    asio::steady_timer timer(io);
    timer.expires_after(1500ms);
    timer.async_wait([&](boost::system::error_code) {
        const std::vector<k8s_sd::JobStatus> jobs = manager.status();
        for (const k8s_sd::JobConfigStatus& config : jobs.at(0).configs) {
            if (config.status.error) {
                std::cout << to_string(config.origin) << ": " << config.status.message << std::endl;
            }
        }
        manager.cancel();
    });
    io.run();
}
