#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/client/server_traffic.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/status.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Replaces null members with defaults.
Environment with_defaults(Environment);

/// The environment of one execution context. Thread-safe.
class K8S_SD_EXPORT ContextEnvironment final : public asio::execution_context::service {
 public:
    static asio::execution_context::id id;

    explicit ContextEnvironment(asio::execution_context& context, Environment environment = {});
    static ContextEnvironment& of(const asio::any_io_executor&);

    /// With its own seed: distinct seeds keep clients from retrying in lockstep.
    Environment with_new_seed();
    /// The ServerTraffic shared by all clients of the server.
    std::shared_ptr<ServerTraffic> traffic_of(const ApiServerConfig&);
    /// The use of each server with a client, by URL.
    std::vector<ServerUsage> usage() const;
    std::shared_ptr<Metrics> metrics() const { return environment_.metrics; }
    const Logger& logger() const { return environment_.logger; }
    std::shared_ptr<Clock> clock() const { return environment_.clock; }
    std::shared_ptr<FileCalls> file_calls() const { return environment_.file_calls; }
    const InClusterFiles& in_cluster() const { return environment_.in_cluster; }

 private:
    /// Clock and connector may own I/O objects, so they are released before the services they use.
    void shutdown() override;

    mutable std::mutex mutex_;  // guards the seed and the map
    Environment environment_;
    std::map<std::string, std::weak_ptr<ServerTraffic>> traffic_;  ///< by canonical URL
};

}  // namespace k8s_sd::inline v0::detail
