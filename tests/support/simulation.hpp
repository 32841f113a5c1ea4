#pragma once

#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/sim/fixture.hpp"
#include "support/file_desk.hpp"
#include "support/manual_clock.hpp"
#include "support/plain_lists.hpp"
#include "support/settle.hpp"

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::test {

/// A server that answers in JSON: for tests that write themselves what its watches bring.
inline sim::ApiServerOptions json_server() {
    sim::ApiServerOptions options;
    options.protobuf = false;
    return options;
}

/// What hosts test with, and what only our own tests want to see or to break.
class Simulation : public sim::Fixture {
 public:
    using Around = std::function<std::shared_ptr<Connector>(std::shared_ptr<Connector>)>;
    /// \param around  makes a connector of the server's, for what TransportFaults cannot do
    explicit Simulation(sim::ApiServerOptions options = {}, sim::TransportFaults faults = {},
                        const ServerLimits& limits = {}, const Around& around = {})
        : Fixture({std::move(options), faults, [&](Environment& environment) {
                       environment.file_calls = std::make_shared<FileDesk>();
                       environment.metrics = std::make_shared<Metrics>();
                       environment.limits = limits;
                       if (around) environment.connector = around(environment.connector);
                   }}) {}

    /// What was asked for since the last call: "LIST /api/v1/pods?limit=500", "WATCH …" with the
    /// resource version only.
    std::vector<std::string> take_requests() {
        std::vector<std::string> texts;
        for (const sim::RequestRecord& record : server.requests()) {
            const sim::Request& request = record.request;
            texts.push_back(request.is_watch() ? "WATCH " + request.path + " from " +
                                                     std::string(request.param("resourceVersion"))
                                               : "LIST " + request.target);
        }
        server.clear_requests();
        return texts;
    }

    const std::shared_ptr<Connector> connector = environment().connector;
    const std::shared_ptr<FileDesk> files =
        std::static_pointer_cast<FileDesk>(environment().file_calls);
    const std::shared_ptr<Metrics> metrics = environment().metrics;
};

}  // namespace k8s_sd::test
