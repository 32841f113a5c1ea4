#include "soak/cluster.hpp"

#include "k8s_sd/sim/api_server.hpp"
#include "k8s_sd/sim/builders.hpp"
#include "k8s_sd/sim/manual_clock.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <unistd.h>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::soak {

namespace {

namespace asio = boost::asio;
namespace sim = k8s_sd::sim;

constexpr std::size_t pods_of_deployment = 100, pods_of_node = 50;
constexpr std::size_t steps_of_hour = std::chrono::minutes(60) / step_time;

sim::ApiServerOptions options(std::shared_ptr<k8s_sd::Clock> clock) {
    sim::ApiServerOptions options;
    options.clock = std::move(clock);
    return options;
}

class Cluster {
 public:
    Cluster(asio::io_context& context, std::size_t pods)
        : nodes_(pods / pods_of_node + 1),
          deployments_(pods / pods_of_deployment + 1),
          server_(context.get_executor(), options(clock_)) {
        for (std::size_t i = 0; i < nodes_; ++i) apply_node(i);
        for (std::size_t i = 0; i < deployments_.size(); ++i) {
            server_.apply(sim::service(ns_of(i), name_of(i)).port("http", 80));
            deployments_[i].resize(pods_of_deployment);
            for (Pod& pod : deployments_[i]) replace(i, pod);
            apply_slice(i);
        }
        mark();
    }
    unsigned short listen() { return server_.listen(); }

    void pass_step() {
        ++step_;
        roll_out_some();
        if (step_ % steps_of_hour == 6) drain(step_ / steps_of_hour % nodes_);
        apply_node(step_ % nodes_);
        clock_->advance(step_time);
        if (step_ % steps_of_hour == 0) {
            server_.compact();
            step_ % (4 * steps_of_hour) == 0 ? server_.disconnect_all() : server_.end_watches();
        }
        mark();
    }

 private:
    struct Pod {
        std::string name;
        std::size_t node = 0;
    };
    static std::string ns_of(std::size_t deployment) {
        return "team-" + std::to_string(deployment / 5);
    }
    static std::string name_of(std::size_t deployment) {
        return "app-" + std::to_string(deployment);
    }
    static std::string node_of(std::size_t node) { return "node-" + std::to_string(node); }

    /// A deployment takes ten steps.
    void roll_out_some() {
        const std::size_t deployment = step_ / 10 % deployments_.size();
        constexpr std::size_t count = pods_of_deployment / 10;
        for (std::size_t i = 0; i < count; ++i) {
            replace(deployment, deployments_[deployment][step_ % 10 * count + i]);
        }
        apply_slice(deployment);
    }
    void drain(std::size_t node) {
        server_.remove("nodes", "", node_of(node));
        for (std::size_t i = 0; i < deployments_.size(); ++i) {
            bool any = false;
            for (Pod& pod : deployments_[i]) {
                if (pod.node != node) continue;
                replace(i, pod);
                any = true;
            }
            if (any) apply_slice(i);
        }
        apply_node(node);
    }
    void apply_node(std::size_t node) {
        server_.apply(
            sim::node(node_of(node))
                .address("10.1." + std::to_string(node / 250) + '.' + std::to_string(node % 250))
                .label("topology.kubernetes.io/zone", "eu-west-1a")
                .label("heartbeat", std::to_string(step_ / nodes_)));
    }
    /// Another pod, with a name, an address and labels of its own.
    void replace(std::size_t deployment, Pod& pod) {
        const std::string ns = ns_of(deployment);
        if (!pod.name.empty()) server_.remove("pods", ns, pod.name);
        const std::string app = name_of(deployment);
        const std::string revision = std::to_string(step_ / 10);
        const std::string serial = std::to_string(1'000'000 + ++serial_);
        pod = {app + '-' + revision + '-' + serial, serial_ * 31 % nodes_};
        sim::PodBuilder made(ns, pod.name);
        made.label("app", app)
            .label("app.kubernetes.io/managed-by", "Helm")
            .label("pod-template-hash", revision)
            .annotation("checksum/config", "c4a2f0a4e0f3a2a1b6f0f0ddbf4a3de0" + serial)
            .controller("ReplicaSet", app + '-' + revision)
            .node(node_of(pod.node))
            .phase("Pending");
        made.container("app", "registry.example.com/app:" + revision, 8080);
        made.port("metrics", 9090).container_id("containerd://4f3c2b1a0f9e8d7c6b5a" + serial);
        server_.apply(made);
        server_.apply(made.phase("Running").ip(address_of(serial_)).ready());
    }
    static std::string address_of(std::size_t serial) {
        return "10." + std::to_string(64 + serial / 62'500 % 100) + '.' +
               std::to_string(serial / 250 % 250) + '.' + std::to_string(serial % 250);
    }
    void apply_slice(std::size_t deployment) {
        const std::string app = name_of(deployment);
        sim::EndpointSliceBuilder slice(ns_of(deployment), app + "-slice", app);
        slice.port("http", 8080).port("metrics", 9090);
        for (const Pod& pod : deployments_[deployment]) {
            slice.endpoint(address_of(pod.node)).pod(pod.name).node(node_of(pod.node));
        }
        server_.apply(slice);
    }
    void mark() {
        server_.apply(sim::pod("default", marker_name)
                          .ip("10.0.0.1")
                          .label("step", std::to_string(step_))
                          .container("marker", "marker:1", 8080));
    }

    const std::size_t nodes_;
    const std::shared_ptr<sim::ManualClock> clock_ = std::make_shared<sim::ManualClock>();
    std::vector<std::vector<Pod>> deployments_;
    std::size_t step_ = 0, serial_ = 0;
    sim::ApiServer server_;
};

/// Lets a step pass for each received byte.
void pass_time(asio::posix::stream_descriptor& input, Cluster& cluster) {
    input.async_wait(asio::posix::stream_descriptor::wait_read, [&](const auto& ec) {
        char byte = 0;
        if (ec || ::read(input.native_handle(), &byte, 1) != 1) std::_Exit(0);
        cluster.pass_step();
        pass_time(input, cluster);
    });
}

}  // namespace

void Server::pass_step() const {
    if (::write(input, "!", 1) != 1) std::abort();
}

Server serve(std::size_t pods) {
    unsigned short port = 0;
    const Child child = start_child(port, [&](int input, const auto& report) {
        asio::io_context context;
        Cluster cluster(context, pods);
        report(cluster.listen());
        asio::posix::stream_descriptor commands(context, input);
        pass_time(commands, cluster);
        context.run();
    });
    return {child, port};
}

}  // namespace bench::soak
