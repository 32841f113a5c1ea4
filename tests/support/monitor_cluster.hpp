#pragma once

#include "k8s_sd/monitors/monitor_source.hpp"
#include "k8s_sd/sim/builders.hpp"
#include "k8s_sd/sim/monitors.hpp"
#include "support/simulation.hpp"

#include <boost/asio/detached.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::test {

/// An owner that selects all monitors of all namespaces.
inline MonitorOwner owner_of_all() {
    MonitorOwner owner;
    owner.owner_namespace = "monitoring";
    for (MonitorSelection& selection : owner.selections) {
        selection.objects.emplace();
        selection.namespaces.emplace();
    }
    return owner;
}

/// A cluster with the resources of monitors, and a source that follows them.
struct Monitors : Simulation {
    explicit Monitors(bool with_resources = true) {
        if (with_resources) sim::add_monitors(server);
        config.api_server = api_server();
        config.owner = owner_of_all();
    }
    ~Monitors() {
        source.reset();
        settle();
    }
    Monitors(const Monitors&) = delete;
    Monitors& operator=(const Monitors&) = delete;

    void start() {
        source.emplace(context.get_executor(), config,
                       [this](const MonitorDiff& diff) { receive(diff); });
        source->async_run(boost::asio::detached);
        settle();
    }
    void receive(const MonitorDiff& diff) {
        std::string line = diff.full ? "full" : "";
        const auto add = [&](const std::string& word) { line += (line.empty() ? "" : " ") + word; };
        for (const MonitorJobPtr& job : diff.updated) add("+" + job->origin);
        for (const std::string& name : diff.removed) add("-" + name);
        received.push_back(line);
    }
    std::vector<std::string> take() { return std::exchange(received, {}); }

    void apply(std::string_view kind, std::string_view ns, std::string_view name,
               std::string_view spec, const boost::json::object& labels = {}) {
        server.apply(sim::monitor(kind, ns, name, spec, labels));
    }
    /// A ServiceMonitor with one endpoint.
    void service_monitor(std::string_view ns, std::string_view name, const std::string& port,
                         const boost::json::object& labels = {}) {
        apply("ServiceMonitor", ns, name,
              R"({"selector": {}, "endpoints": [{"port": ")" + port + R"("}]})", labels);
    }
    /// A ServiceMonitor that needs a key "token" of a Secret in its namespace.
    void with_secret(std::string_view ns, std::string_view name, const std::string& secret) {
        apply("ServiceMonitor", ns, name,
              R"({"selector": {}, "endpoints": [{"port": "http", "authorization": {
                  "credentials": {"name": ")" +
                  secret + R"(", "key": "token"}}}]})");
    }

    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const MonitorJobPtr& job : source->jobs()) names.push_back(job->origin);
        return names;
    }
    MonitorJobPtr job(std::string_view name) const {
        for (const MonitorJobPtr& job : source->jobs()) {
            if (job->origin == name) return job;
        }
        return nullptr;
    }
    std::string why(MonitorKind kind, std::string_view ns, std::string_view name) const {
        const auto object = source->object(kind, ns, name);
        if (!object) return "none";
        return std::string(to_string(object->state)) + ": " + object->why.reason;
    }
    std::string why(std::string_view ns, std::string_view name) const {
        return why(MonitorKind::service_monitor, ns, name);
    }
    const MonitorKindStatus& kind(const MonitorStatus& status, MonitorKind kind) const {
        return status.kinds[static_cast<std::size_t>(kind)];
    }

    MonitorSourceConfig config;
    std::optional<MonitorSource> source;
    std::vector<std::string> received;
};

}  // namespace k8s_sd::test
