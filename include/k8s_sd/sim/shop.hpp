#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/sim/api_server.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace k8s_sd::inline v0::sim {

/// Options of a Shop.
struct ShopOptions {
    std::uint64_t seed = 1;  ///< the same seed gives the same cluster and the same changes
    /// Time for creationTimestamp and similar fields; empty: the system's.
    std::function<std::chrono::system_clock::time_point()> now = {};
};

/// A small, plausible cluster on a simulated server: an online shop, payments and monitoring on
/// three nodes in two zones, with Deployments, a StatefulSet, a DaemonSet, a CronJob, a Gateway
/// with routes, ServiceMonitors and other monitors, and Services, Endpoints, EndpointSlices and
/// Ingresses as consistent as controllers keep them.
///
/// The constructor creates it; step() then changes one thing at a time. Call step() from a timer:
/// \code
///   void tick() {
///       timer->expires_at(clock->now() + 1s, [this] {
///           std::cout << shop.step() << '\n';
///           tick();
///       });
///   }
/// \endcode
/// Not thread-safe; the server, which must outlive it, is.
class K8S_SD_EXPORT Shop {
 public:
    /// Creates the cluster on the server.
    explicit Shop(ApiServer&, ShopOptions = {});
    ~Shop();
    Shop(Shop&&) noexcept;
    Shop& operator=(Shop&&) noexcept;

    /// Makes the next change: a rollout, a scaling, a crash, a label ... Most take several steps,
    /// as in a real cluster (created, running, ready).
    /// \returns a description for users: "deployment shop/cart scaled from 3 to 4"
    std::string step();

 private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace k8s_sd::inline v0::sim
