#pragma once

#include "k8s_sd/api_server_config.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/sim/manual_clock.hpp"
#include "k8s_sd/sim/memory_connector.hpp"

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::sim {

/// What is special about a Fixture.
struct FixtureOptions {
    ApiServerOptions server{};  ///< without a clock: the fixture's
    TransportFaults faults{};   ///< of the way to the server
    /// Changes the environment before it is installed: limits, metrics, another level of the log, a
    /// connector around the server's. Called once, in the constructor. Empty: changes nothing.
    std::function<void(Environment&)> environment{};
};

/// All that the test of a host needs: a context, a simulated server, and time that the test moves.
/// The environment of the context leads to that server, in memory, whatever URL is asked for.
/// \code
///   sim::Fixture cluster;
///   cluster.server.apply(sim::pod("shop", "web-0").ip("10.0.0.1").container("web", "web:1", 80));
///   Host host(cluster.context, {.role = Role::pod, .api_server = cluster.api_server()});
///   cluster.settle();
/// \endcode
/// Nothing happens but in settle() and advance(), on the thread that calls them: the host's
/// callbacks, too. A test runs alike each time: jitter has a fixed seed, and files of tokens and
/// certificates are read from within settle(). Programs that print credentials are not waited for.
///
/// For one thread. The host must be destroyed before the fixture.
class K8S_SD_EXPORT Fixture {
 public:
    explicit Fixture(FixtureOptions = {});
    ~Fixture();
    Fixture(const Fixture&) = delete;
    Fixture& operator=(const Fixture&) = delete;

    /// The server, for DiscoveryConfig, WatcherConfig and ObjectCacheConfig; with the token of
    /// ApiServerOptions::token.
    ApiServerConfig api_server() const;
    /// What is installed, for contexts of the host's own, as far as the test's thread runs them.
    const Environment& environment() const noexcept { return environment_; }

    /// Runs everything that is ready, and what follows from it. No time passes.
    /// \returns the number of handlers that ran \throws what a handler throws
    std::size_t settle();
    /// Lets time pass: timers run one after the other, each at its own time, with all that follows
    /// from them. See ManualClock::advance(). \param time  not negative
    /// \returns the number of handlers that ran \throws what a handler throws
    std::size_t advance(Duration time);
    /// What the library has logged since the last call: warnings and errors, unless
    /// FixtureOptions::environment has changed the level.
    std::vector<std::string> take_log();

    asio::io_context context;                 ///< the host's
    const std::shared_ptr<ManualClock> clock  ///< of the host and of the server
        = std::make_shared<ManualClock>();
    ApiServer server;  ///< empty at first

 private:
    const std::string token_;
    const std::shared_ptr<std::vector<std::string>> log_;
    Environment environment_;
};

}  // namespace k8s_sd::inline v0::sim
