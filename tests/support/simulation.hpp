#pragma once

#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/sim/fixture.hpp"
#include "support/plain_lists.hpp"
#include "support/settle.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace k8s_sd::test {

/// A server that answers in JSON: for tests that write the events of its watches themselves.
inline sim::ApiServerOptions json_server() {
    sim::ApiServerOptions options;
    options.protobuf = false;
    return options;
}

/// The fixture of the test kit, with limits of the server and a connector of the test.
class Simulation : public sim::Fixture {
 public:
    using Around = std::function<std::shared_ptr<Connector>(const Environment&)>;
    /// \param around  wraps the server's connector, for cases beyond TransportFaults
    explicit Simulation(sim::ApiServerOptions options = {}, const sim::TransportFaults& faults = {},
                        const ServerLimits& limits = {}, const Around& around = {})
        : Fixture({.server = std::move(options),
                   .faults = faults,
                   .environment = [&](Environment& environment) {
                       environment.limits = limits;
                       if (around) environment.connector = around(environment);
                   }}) {}

    const std::shared_ptr<Metrics> metrics = environment().metrics;
};

}  // namespace k8s_sd::test
