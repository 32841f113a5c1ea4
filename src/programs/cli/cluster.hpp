#pragma once

#include "cli/command_line.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/objects/watcher_config.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace cli {

/// The content of a simulated cluster, and its changes.
enum class Scene {
    shop,         ///< a small online shop with changes of its pods
    credentials,  ///< a few Secrets and a ConfigMap, with rotation
    widgets,      ///< a custom resource, with objects added, changed and removed
};

/// The API server of an example: from its options, or a simulated one on a free port of 127.0.0.1,
/// so the examples run without a cluster.
class Cluster {
 public:
    using OnChange = std::function<void(const std::string& what)>;

    /// \param config  without a server: simulates the scene
    /// \throws k8s_sd::ConfigError, Unusable
    explicit Cluster(const boost::asio::any_io_executor&, k8s_sd::DiscoveryConfig config = {},
                     Scene scene = Scene::shop);
    ~Cluster();
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    /// The configuration of a discoverer.
    k8s_sd::DiscoveryConfig config(k8s_sd::Role = k8s_sd::Role::pod) const;
    /// The configuration of a watcher.
    k8s_sd::WatcherConfig watcher_config() const;
    /// The server, for other clients than discoverers.
    const k8s_sd::ApiServerConfig& server() const noexcept { return server_; }
    /// Changes one thing in the simulated cluster after each `interval`, and passes a description
    /// to `on_change`. Does nothing for a real cluster, since it changes by itself.
    void start_changes(std::chrono::milliseconds interval, OnChange on_change = {});
    /// Ends the simulation, so the context has no work left. Idempotent.
    void stop() noexcept;

 private:
    class Simulation;

    std::shared_ptr<Simulation> simulation_;  ///< null with a real cluster
    k8s_sd::DiscoveryConfig config_;
    k8s_sd::ApiServerConfig server_;
};

/// The command line's argument for a cluster.
Positional url_of_cluster(k8s_sd::DiscoveryConfig&);

}  // namespace cli
