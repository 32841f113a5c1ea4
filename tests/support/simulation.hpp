#pragma once

#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "support/fake_file_calls.hpp"
#include "support/manual_clock.hpp"
#include "support/plain_lists.hpp"
#include "support/settle.hpp"

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::test {

/// A server that answers in JSON: for tests that write the events of its watches themselves.
inline sim::ApiServerOptions json_server() {
    sim::ApiServerOptions options;
    options.protobuf = false;
    return options;
}

/// A simulated server, a context with an environment that connects to it, and a manual clock.
/// Events happen only in settle() and advance(). For one thread.
class Simulation {
 public:
    using Around = std::function<std::shared_ptr<Connector>(std::shared_ptr<Connector>)>;
    /// \param around  wraps the server's connector, for cases beyond TransportFaults
    explicit Simulation(sim::ApiServerOptions options = {}, sim::TransportFaults faults = {},
                        const ServerLimits& limits = {}, const Around& around = {})
        : server(context.get_executor(), with_clock(std::move(options), clock)),
          connector(server.connector(faults)),
          limits_(limits) {
        if (around) connector = around(connector);
        install(context, environment());
    }
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    Environment environment() {
        Environment environment;
        environment.clock = clock;
        environment.connector = connector;
        environment.file_calls = files;
        environment.metrics = metrics;
        environment.logger.level = LogLevel::warning;
        environment.logger.write = [log = log_](LogLevel, std::string_view line) {
            log->emplace_back(line);
        };
        environment.seed = 1;
        environment.limits = limits_;
        return environment;
    }

    void settle() { test::settle(context); }
    /// Timers run one after the other, each at its own time.
    void advance(Duration time) { clock->advance(context, time); }

    /// Warnings and errors since the last call.
    std::vector<std::string> take_log() { return std::exchange(*log_, {}); }

    /// The requests since the last call: "LIST /api/v1/pods?limit=500", "WATCH …" with the resource
    /// version only.
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

    boost::asio::io_context context;
    std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
    sim::ApiServer server;
    std::shared_ptr<Connector> connector;
    std::shared_ptr<FakeFileCalls> files = std::make_shared<FakeFileCalls>();
    std::shared_ptr<Metrics> metrics = std::make_shared<Metrics>();

 private:
    // Adds the server's own clock, if a test supplies one.
    static sim::ApiServerOptions with_clock(sim::ApiServerOptions options,
                                            const std::shared_ptr<ManualClock>& clock) {
        if (!options.clock) options.clock = clock;
        return options;
    }

    const ServerLimits limits_;
    std::shared_ptr<std::vector<std::string>> log_ = std::make_shared<std::vector<std::string>>();
};

}  // namespace k8s_sd::test
