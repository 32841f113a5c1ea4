#pragma once

#include "support/config_fixtures.hpp"
#include "support/simulation.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::test {

/// Connects to servers by their names.
class Router final : public Connector {
 public:
    std::unique_ptr<ByteStream> make_stream(asio::any_io_executor executor,
                                            const ConnectTarget& target) override {
        targets.push_back(target.host);
        return servers.at(target.host)->make_stream(std::move(executor), target);
    }

    std::map<std::string, std::shared_ptr<Connector>> servers;
    std::vector<std::string> targets;  ///< of the connections so far
};

/// Constructed before the simulation, which needs it.
struct WithRouter {
    std::shared_ptr<Router> router = std::make_shared<Router>();
};

/// Two clusters, https://first and https://second, and a kubeconfig "kc" that names one of them.
struct TwoServers : WithRouter, Simulation {
    explicit TwoServers(const ServerLimits& limits = {})
        : Simulation({}, {}, limits,
                     [this](const Environment& environment) {
                         router->servers["first"] = environment.connector;
                         return router;
                     }),
          second(context.get_executor(), with_http2({.clock = clock})) {
        router->servers["second"] = second.connector();
        lead_to("https://first");
    }
    // The router outlives the contexts, but the servers' connectors must not.
    ~TwoServers() { router->servers.clear(); }

    /// \param user     of YAML, as "token: one"
    /// \param cluster  the same, after a comma
    void lead_to(const std::string& url, const std::string& user = "token: one",
                 const std::string& cluster = "") {
        directory.write("kc", "clusters: [{name: k, cluster: {server: '" + url + "'" + cluster +
                                  "}}]\nusers: [{name: u, user: {" + user +
                                  "}}]\ncontexts: [{name: c, context: {cluster: k, user: "
                                  "u}}]\ncurrent-context: c\n");
    }
    std::string kubeconfig() const { return directory.path("kc"); }

    TemporaryDirectory directory;
    sim::ApiServer second;
};

}  // namespace k8s_sd::test
