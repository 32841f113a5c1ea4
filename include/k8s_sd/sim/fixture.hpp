#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/sim/manual_clock.hpp"
#include "k8s_sd/sim/manual_files.hpp"
#include "k8s_sd/sim/memory_connector.hpp"

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::sim {

/// Options of a Fixture.
struct FixtureOptions {
    ApiServerOptions server{};  ///< the clock defaults to the fixture's
    TransportFaults faults{};   ///< faults on the connections to the server
    /// Modifies the environment before its installation: limits, metrics, another log level, a
    /// connector around the server's. Called once, in the constructor. Empty: no changes.
    std::function<void(Environment&)> environment{};
};

/// Everything needed to test a host: a context, a simulated server, and a clock moved by the test.
/// The context's environment connects to this server, in memory, whatever the URL.
/// \code
///   sim::Fixture cluster;
///   cluster.server.apply(sim::pod("shop", "web-0").ip("10.0.0.1").container("web", "web:1", 80));
///   Host host(cluster.context, {.role = Role::pod, .api_server = cluster.api_server()});
///   cluster.settle();
/// \endcode
/// Everything happens in settle() and advance(), on the calling thread, including the host's
/// callbacks. A test runs the same way each time: jitter has a fixed seed, and token and
/// certificate files are read within settle(), unless `files` holds them. Programs that print
/// credentials are not waited for.
///
/// For one thread. The host must be destroyed before the fixture.
class K8S_SD_EXPORT Fixture {
 public:
    /// Installs the environment in the context; calls FixtureOptions::environment.
    /// \throws any exception of that function
    explicit Fixture(FixtureOptions = {});
    ~Fixture();
    Fixture(const Fixture&) = delete;
    Fixture& operator=(const Fixture&) = delete;

    /// The server, for DiscoveryConfig, WatcherConfig and ObjectCacheConfig; with the token of
    /// ApiServerOptions::token.
    ApiServerConfig api_server() const;
    /// The installed environment, for other contexts of the host, if run by the test's thread.
    const Environment& environment() const noexcept { return environment_; }

    /// Runs all ready handlers and their follow-ups. No time passes.
    /// \returns the number of invoked handlers \throws any exception of a handler
    std::size_t settle();
    /// Lets time pass: timers expire one after the other, each at its own time, followed by all
    /// resulting handlers. See ManualClock::advance(). \param time  not negative
    /// \returns the number of invoked handlers \throws any exception of a handler
    std::size_t advance(Duration time);
    /// The library's log lines since the last call: warnings and errors, unless
    /// FixtureOptions::environment has changed the level.
    std::vector<std::string> take_log();
    /// The requests since the last call, in short: "WATCH /api/v1/pods from 7" with the resource
    /// version, "LIST /api/v1/pods?limit=500" for any other GET, else method and target.
    /// ApiServer::requests() has them in full.
    std::vector<std::string> take_requests();

    asio::io_context context;                 ///< context of the host
    const std::shared_ptr<ManualClock> clock  ///< clock of the host and of the server
        = std::make_shared<ManualClock>();
    /// Files of credentials, certificates, targets and snapshots.
    const std::shared_ptr<ManualFiles> files = std::make_shared<ManualFiles>();
    ApiServer server;  ///< empty at first

 private:
    const std::string token_;
    const std::shared_ptr<std::vector<std::string>> log_;
    Environment environment_;
};

}  // namespace k8s_sd::inline v0::sim
