#pragma once

#include "k8s_sd/sim/builders.hpp"
#include "programs.hpp"
#include "support/certificates.hpp"
#include "world.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::monitoring {

/// Pods that are replaced by new ones, one after the other.
class Deployment {
 public:
    Deployment(sim::ApiServer& server, std::string name)
        : server_(server), name_(std::move(name)) {}

    void scale(std::size_t size) {
        while (pods_.size() < size) add();
        while (pods_.size() > size) remove();
    }
    void replace_one() {
        add();
        remove();
    }

 private:
    void add() {
        const std::string pod = name_ + "-" + std::to_string(created_++);
        server_.apply(sim::pod("shop", pod)
                          .label("app", name_)
                          .ip("10.0.0." + std::to_string(created_ % 250 + 1))
                          .node("node-1")
                          .ready()
                          .container("main", "main:1", 8080));
        pods_.push_back(pod);
    }
    void remove() {
        server_.remove("pods", "shop", pods_.front());
        pods_.pop_front();
    }

    sim::ApiServer& server_;
    const std::string name_;
    std::deque<std::string> pods_;
    unsigned created_ = 0;
};

constexpr const char* two_clusters = R"yaml(
scrape_configs:
- job_name: pods
  kubernetes_sd_configs:
  - {role: pod, api_server: 'https://blue', cluster: blue}
  - {role: pod, api_server: 'https://green', cluster: green}
  relabel_configs:
  - source_labels: [__meta_kubernetes_pod_annotation_address]
    regex: (.+)
    target_label: __address__
- job_name: files
  file_sd_configs: [{files: [DIRECTORY/targets.json], refresh_interval: 1m}]
)yaml";

inline const std::vector<std::string> fleet{"agent-0", "agent-1", "agent-2"};

/// Two clusters, a k8s-sd for both with all of its parts, a fleet of three members, and a program
/// of one's own.
class Installation : public World {
 public:
    Installation() {
        shop.scale(20);
        collectors.scale(1);
        other.scale(10);
        configure(two_clusters);
        directory.write("targets.json", R"([{"targets": ["192.0.2.1:9100"]}])");
        issue_certificate(60);
        start("k8s-sd",
              [](World& world) { return std::make_unique<K8sSd>(world, options(world)); });
        write_slice(blue, fleet);
        for (const std::string& name : fleet) start_member(name, "blue");
        start("host",
              [busy = busy](World& world) { return std::make_unique<BusyHost>(world, busy); });
    }

    /// \param jobs  with DIRECTORY for that of the world
    void configure(std::string jobs) {
        const std::string variable = "DIRECTORY";
        if (const auto at = jobs.find(variable); at != jobs.npos)
            jobs.replace(at, variable.size(), directory.path());
        directory.write("jobs.yml", jobs);
    }
    void issue_certificate(int days) {
        const test::Identity identity = test::CertificateAuthority().server({"localhost"}, days);
        directory.write("tls.crt", identity.certificate);
        directory.write("tls.key", identity.key);
    }
    void start_member(const std::string& name, const std::string& cluster) {
        start(name, [name, cluster](World& world) {
            return std::make_unique<FleetMember>(world, name, cluster);
        });
    }
    /// The ready members of the fleet.
    static void write_slice(sim::ApiServer& server, const std::vector<std::string>& members) {
        auto slice = sim::endpoint_slice("monitoring", "agents-1", "agents");
        for (const std::string& member : members) slice.endpoint("10.0.1.1").pod(member);
        server.apply(slice);
    }
    static void take_down(sim::ApiServer& server) {
        server.accept_connections(false);
        server.disconnect_all();
    }

    Deployment shop{blue, "web"};
    Deployment collectors{blue, "collector"};
    Deployment other{green, "web"};
    const std::shared_ptr<Duration> busy = std::make_shared<Duration>(1s);

 private:
    static K8sSd::Options options(World& world) {
        K8sSd::Options options;
        options.log.level = LogLevel::off;
        options.tls.cert = world.directory.path("tls.crt");
        options.tls.key = world.directory.path("tls.key");
        options.write_folder = world.directory.path("lists");
        options.serve.warm_start.directory = world.directory.path("snapshots");
        options.allocator.selector = "app=collector";
        options.allocator.ns = "shop";
        options.allocator.allocation.allocation = k8s_sd_program::Allocation::per_node;
        options.allocator.allocation.fallback = true;  // for targets without a node
        return options;
    }
};

}  // namespace k8s_sd::monitoring
