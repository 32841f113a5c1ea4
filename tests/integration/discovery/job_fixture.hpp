#pragma once

#include "support/job_host.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/simulation.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace k8s_sd::test {

/// Two pods and a service, and a host with a running manager.
struct Jobs : Simulation {
    explicit Jobs(sim::TransportFaults faults = {}) : Simulation({}, faults) {
        server.apply(pod({.name = "p1"}));
        server.apply(pod({.name = "p2"}));
        server.apply(service("s1"));
        host.run();
    }

    DiscoveryConfig config(Role role = Role::pod, const std::string& ns = "") {
        DiscoveryConfig config{.watch = plain_lists()};
        config.role = role;
        config.api_server.url = server.url();
        if (!ns.empty()) config.namespaces = {ns};
        return config;
    }
    DiscoveryConfig pods() { return config(); }
    DiscoveryConfig services() { return config(Role::service); }
    DiscoveryConfig nodes() { return config(Role::node); }
    static DiscoveryConfig unusable() {
        DiscoveryConfig config{.watch = plain_lists()};
        config.kubeconfig_file = "/nonexistent/kubeconfig";
        return config;
    }

    std::vector<ConfigFailure> apply(const std::vector<Job>& jobs) {
        return host.manager->apply_config(jobs);
    }
    /// Applies the configuration and runs everything that happens without time passing.
    std::vector<ConfigFailure> settle_with(const std::vector<Job>& jobs) {
        auto failures = apply(jobs);
        settle();
        return failures;
    }
    void label(const std::string& name, const std::string& value) {
        server.apply(pod({.name = name, .labels = {{"v", value}}}));
    }
    JobStatus status(const std::string& name) {
        for (JobStatus& status : host.manager->status()) {
            if (status.name == name) return status;
        }
        return {};
    }
    /// No trace of the discovery is left, and no work is pending.
    bool is_quiet() {
        settle();
        std::int64_t left = static_cast<std::int64_t>(server.open_connections()) + metrics->jobs +
                            metrics->providers + metrics->failed_configs;
        for (const auto& kind : metrics->kinds) {
            left += kind.objects + kind.watchers + kind.synced_watchers;
        }
        take_requests();
        const bool idle = clock->next_expiry() == TimePoint::max();
        advance(std::chrono::hours(1));
        return left == 0 && idle && take_requests().empty();
    }

    JobHost host{context.get_executor()};
};

}  // namespace k8s_sd::test
