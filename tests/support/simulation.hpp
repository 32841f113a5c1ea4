#pragma once

#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/sim/fixture.hpp"
#include "support/plain_lists.hpp"
#include "support/settle.hpp"

#include <cstdlib>
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

/// Whether tests reach their server by HTTP/2, see tests/CMakeLists.txt.
inline bool is_by_http2() { return std::getenv("K8S_SD_TEST_BY_HTTP2") != nullptr; }

inline sim::ApiServerOptions with_http2(sim::ApiServerOptions options) {
    options.http2 = options.http2 || is_by_http2();
    return options;
}

/// The fixture of the test kit, with limits of the server and a connector of the test.
class Simulation : public sim::Fixture {
 public:
    using Around = std::function<std::shared_ptr<Connector>(const Environment&)>;
    /// \param around  wraps the server's connector, for cases beyond TransportFaults
    explicit Simulation(sim::ApiServerOptions options = {}, const sim::TransportFaults& faults = {},
                        const ServerLimits& limits = {}, const Around& around = {})
        : Fixture({.server = with_http2(std::move(options)),
                   .faults = faults,
                   .environment = [&](Environment& environment) {
                       environment.limits = limits;
                       if (around) environment.connector = around(environment);
                   }}) {}

    const std::shared_ptr<Metrics> metrics = environment().metrics;
};

}  // namespace k8s_sd::test
