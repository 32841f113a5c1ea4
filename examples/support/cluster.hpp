#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/watcher_config.hpp"
#include "support/command_line.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace support {

/// What a simulated cluster holds and how it changes.
enum class Scene {
    shop,         ///< a small online shop: its pods come, go and change
    credentials,  ///< a few Secrets and a ConfigMap, which are rotated
    widgets,      ///< a custom resource, whose objects grow, come and go
};

/// The API server that an example works with: the one that its options name, or a simulated one on
/// a free port of 127.0.0.1, so that the examples run without a cluster.
class Cluster {
 public:
    using OnChange = std::function<void(const std::string& what)>;

    /// \param config  if it names no server: simulate the scene
    /// \throws k8s_sd::ConfigError, Unusable
    explicit Cluster(const boost::asio::any_io_executor&, k8s_sd::DiscoveryConfig config = {},
                     Scene scene = Scene::shop);
    ~Cluster();
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    /// To discover something of it.
    k8s_sd::DiscoveryConfig config(k8s_sd::Role = k8s_sd::Role::pod) const;
    /// To watch objects of it.
    k8s_sd::WatcherConfig watcher_config() const;
    /// The server, for what is no discoverer.
    const k8s_sd::ApiServerConfig& server() const noexcept { return server_; }
    /// Changes one thing in the simulated cluster after each `interval`, and says what to
    /// `on_change`. A real cluster changes by itself: nothing happens here.
    void start_changes(std::chrono::milliseconds interval, OnChange on_change = {});
    /// Ends the simulation, so that the context has nothing left to do. Idempotent.
    void stop() noexcept;

 private:
    class Simulation;

    std::shared_ptr<Simulation> simulation_;  ///< null with a real cluster
    k8s_sd::DiscoveryConfig config_;
    k8s_sd::ApiServerConfig server_;
};

/// The command line's argument that names a cluster.
Positional url_of_cluster(k8s_sd::DiscoveryConfig&);

}  // namespace support
