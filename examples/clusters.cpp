// Several clusters, one process: follows the ClusterProfiles of a hub (experimental), discovers the
// nodes of each cluster, and prints the targets with the name of their cluster, and the health of
// each cluster.
//
//     clusters [OPTION]... [URL]      URL: the hub; without a server: a simulated hub with two
//                                     clusters, one of which goes away and is removed

#include "cli/cluster.hpp"
#include "cli/server_options.hpp"
#include "cli/terminal_text.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/inventory/cluster_inventory.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/sim/builders.hpp"
#include "support/small_example.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/json/object.hpp>
#include <csignal>
#include <cstddef>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace {

namespace asio = boost::asio;
namespace sim = k8s_sd::sim;

/// A hub with two ClusterProfiles, and the two clusters.
class SimulatedClusters {
 public:
    explicit SimulatedClusters(const asio::any_io_executor& executor)
        : hub_(executor), blue_(executor), green_(executor) {
        hub_.add_resource({.group = "multicluster.x-k8s.io",
                           .kind = "ClusterProfile",
                           .plural = "clusterprofiles",
                           .versions = {"v1alpha1"}});
        hub_.listen();
        add("blue", blue_, 2);
        add("green", green_, 3);
    }

    std::string url() const { return hub_.url(); }
    /// Makes the next change once the host has seen the previous one.
    /// \param blue, green  targets known to the host
    /// \returns its description; empty: it is not time yet
    std::string step(std::size_t blue, std::size_t green) {
        if (steps_ == 0 && blue == 2 && green == 3) {
            ++steps_;
            blue_.apply(sim::node("blue-new").address("10.9.0.1"));
            return "blue grows";
        }
        if (steps_ == 1 && blue == 3) {
            ++steps_;
            hub_.remove("clusterprofiles", "fleet", "green");
            return "green leaves the inventory";
        }
        return {};
    }
    /// Whether the host has seen the last change.
    bool is_over(std::size_t green) const { return steps_ == 2 && green == 0; }

 private:
    void add(const std::string& name, sim::ApiServer& cluster, int nodes) {
        cluster.listen();
        for (int i = 0; i < nodes; ++i) {
            const std::string number = std::to_string(i + 1);
            cluster.apply(sim::node(name + "-" + number).address("10.0.0." + number));
        }
        hub_.apply(boost::json::object{
            {"apiVersion", "multicluster.x-k8s.io/v1alpha1"},
            {"kind", "ClusterProfile"},
            {"metadata", boost::json::object{{"namespace", "fleet"}, {"name", name}}},
            {"spec", boost::json::object{{"displayName", "the " + name + " cluster"}}}});
        hub_.apply(sim::secret("fleet", name + "-kubeconfig")
                       .label("x-k8s.io/cluster-profile", name)
                       .data("Config", "clusters: [{name: c, cluster: {server: '" + cluster.url() +
                                           "'}}]\ncontexts: [{name: c, context: {cluster: c}}]\n"
                                           "current-context: c\n"));
    }

    sim::ApiServer hub_, blue_, green_;
    int steps_ = 0;
};

class Host {
 public:
    Host(asio::io_context& io, const k8s_sd::InventoryConfig& config, unsigned diffs,
         std::unique_ptr<SimulatedClusters> simulation)
        : diffs_(diffs),
          simulation_(std::move(simulation)),
          signals_(io, SIGINT, SIGTERM),
          manager_(io.get_executor(), [this](const k8s_sd::JobDiff& diff) { on_diff(diff); }),
          inventory_(io.get_executor(), config,
                     [this](const k8s_sd::InventoryDiff& diff) { on_clusters(diff); }) {
        signals_.async_wait([this](boost::system::error_code ec, int) {
            if (!ec) end();
        });
        manager_.async_run(asio::detached);
        inventory_.async_run(asio::detached);
    }

 private:
    void on_clusters(const k8s_sd::InventoryDiff& diff) {
        for (const k8s_sd::InventoryCluster& cluster : diff.updated) {
            // These texts are foreign.
            std::cout << "cluster " << name_of(cluster) << ": "
                      << cli::printable(
                             cluster.problem.empty() ? cluster.display_name : cluster.problem, 1000)
                      << std::endl;
        }
        for (const k8s_sd::InventoryCluster& cluster : diff.removed)
            std::cout << "cluster " << name_of(cluster) << " is gone" << std::endl;
        // Configurations that stay equal keep their watches and targets.
        const k8s_sd::DiscoveryConfig nodes{.role = k8s_sd::Role::node};
        manager_.apply_config({{"nodes", configs_of_clusters(nodes, inventory_.clusters())}});
    }

    static std::string name_of(const k8s_sd::InventoryCluster& cluster) {
        return cli::printable(cluster.ns + "/" + cluster.name, 200);
    }

    void on_diff(const k8s_sd::JobDiff& diff) {
        for (const k8s_sd::ProviderDiff& provider : diff.providers) {
            for (const k8s_sd::GroupChange& change : provider.diff.updated) {
                if (change.previous) print('-', *change.previous);
                print('+', *change.group);
            }
            for (const k8s_sd::TargetGroupPtr& group : provider.diff.removed) print('-', *group);
        }
        if (++seen_ == diffs_) return end();
        if (!simulation_) return;
        if (simulation_->is_over(targets_["fleet/green"])) return end();
        const std::string what = simulation_->step(targets_["fleet/blue"], targets_["fleet/green"]);
        if (what.empty()) return;
        print_health();
        std::cout << "# " << what << std::endl;
    }

    /// A node has one target.
    void print(char sign, const k8s_sd::TargetGroup& group) {
        for (std::size_t i = 0; i < group.size(); ++i) {
            const k8s_sd::LabelMap labels = group.merged(i);
            sign == '+' ? ++targets_[labels.at("cluster")] : --targets_[labels.at("cluster")];
            std::cout << sign << ' ' << labels.at("cluster") << ' ' << labels.at("__address__")
                      << std::endl;
        }
    }

    void print_health() const {
        for (const k8s_sd::ServerHealth& server : manager_.servers()) {
            std::cout << "  " << cli::printable(server.cluster, 200) << ": "
                      << cli::printable(server.error ? server.message : "healthy", 1000) << ", "
                      << server.targets << " targets, " << server.usage.requests << " requests, "
                      << server.usage.connections << " connections" << std::endl;
        }
    }

    void end() {
        signals_.cancel();
        inventory_.cancel();
        manager_.cancel();
        simulation_.reset();
    }

    const unsigned diffs_;
    std::unique_ptr<SimulatedClusters> simulation_;  ///< null: a hub of the user
    asio::signal_set signals_;
    k8s_sd::DiscoveryManager manager_;
    k8s_sd::ClusterInventory inventory_;
    unsigned seen_ = 0;
    std::map<std::string, std::size_t> targets_;  ///< known ones by cluster
};

void run(const support::Arguments& arguments) {
    asio::io_context io;
    k8s_sd::InventoryConfig config;
    std::unique_ptr<SimulatedClusters> simulation;
    if (cli::names_server(arguments.server)) {
        k8s_sd::DiscoveryConfig hub = arguments.server;
        cli::usable_server(hub);
        config.api_server = hub.api_server;
        config.kubeconfig_file = hub.kubeconfig_file;
        config.kubeconfig_context = hub.kubeconfig_context;
    } else {
        simulation = std::make_unique<SimulatedClusters>(io.get_executor());
        config.api_server.url = simulation->url();
    }
    const Host host(io, config, arguments.diffs, std::move(simulation));
    io.run();
}

}  // namespace

int main(int argc, char** argv) {
    return support::run_example("clusters", "Discovers the nodes of every cluster of an inventory.",
                                argc, argv, run);
}
