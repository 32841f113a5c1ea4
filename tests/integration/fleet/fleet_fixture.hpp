#pragma once

#include "k8s_sd/fleet/membership.hpp"
#include "k8s_sd/sim/builders.hpp"
#include "support/simulation.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::test {

inline std::string names_of(const FleetViewPtr& view) {
    if (!view) return "none";
    std::string text;
    for (const std::string& name : view->members()) text += (text.empty() ? "" : " ") + name;
    return text;
}

/// One program of a fleet.
struct Agent {
    Agent(Simulation& s, std::shared_ptr<MemberSource> source, std::string name,
          FleetRules rules = {})
        : Agent(s, {.source = std::move(source), .self = std::move(name), .rules = rules}) {}
    Agent(Simulation& s, MembershipConfig config)
        : membership(s.context.get_executor(), std::move(config), [this](const FleetShare& share) {
              received.push_back(names_of(share.view()));
          }) {
        membership.async_run([end = ended_](error_code ec) { *end = ec; });
    }
    std::string view() const { return names_of(membership.share().view()); }
    std::string hold() const { return std::string(to_string(membership.status().hold)); }
    std::vector<std::string> take() { return std::exchange(received, {}); }
    std::optional<error_code> ended() const { return *ended_; }

    std::vector<std::string> received;
    Membership membership;

 private:
    /// Set at the end of the operation, which outlives the agent.
    const std::shared_ptr<std::optional<error_code>> ended_ =
        std::make_shared<std::optional<error_code>>();
};

using Views = std::vector<std::string>;

/// The pods of a headless Service "agents" in the namespace "monitoring", as in its slices.
struct Pods : Simulation {
    enum State { ready, not_ready, terminating };

    void put(const std::string& pod, State state) {
        states[pod] = state;
        write();
    }
    void remove(const std::string& pod) {
        states.erase(pod);
        write();
    }
    void write() {
        auto slice = sim::endpoint_slice("monitoring", "agents-1", "agents");
        for (const auto& [pod, state] : states) {
            slice.endpoint("10.0.0.1")
                .pod(pod)
                .ready(state == ready || publish_not_ready)
                .serving(state == ready)
                .terminating(state == terminating);
        }
        server.apply(std::move(slice));
        settle();
    }
    WatcherConfig where() {
        WatcherConfig config;
        config.api_server.url = server.url();
        config.namespaces = {"monitoring"};
        return config;
    }
    std::shared_ptr<MemberSource> source() {
        return service_members(context.get_executor(), "agents", where());
    }

    /// Breaks all connections and refuses new ones.
    void down() {
        server.accept_connections(false);
        server.disconnect_all();
        settle();
    }

    std::map<std::string, State> states;
    bool publish_not_ready = false;
};

}  // namespace k8s_sd::test
