// A security agent: looks up the pod of a container ID, in any thread, without waiting. One thread
// runs the watcher; another one looks up containers, as if the kernel had reported them.
//
//     agent [OPTION]... [URL]      without a server: a simulated cluster

#include "cli/cluster.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "support/small_example.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <csignal>
#include <iostream>
#include <memory>
#include <string>

namespace {

namespace asio = boost::asio;
namespace api = k8s_sd::api;

void add_containers(const api::Pod& pod, k8s_sd::IndexKeys& keys) {
    for (const auto* statuses :
         {&pod.status.container_statuses, &pod.status.init_container_statuses,
          &pod.status.ephemeral_container_statuses}) {
        for (const api::ContainerStatus& status : *statuses) keys.add(status.container_id);
    }
}

void look_up(const k8s_sd::Index<api::Pod>& by_container, const std::string& id) {
    const std::shared_ptr<const api::Pod> pod = by_container.find(id);
    if (!pod) return;
    const auto app = pod->metadata.labels.find("app.kubernetes.io/name");
    std::cout << id.substr(0, 24) << ": " << pod->metadata.namespace_ << '/' << pod->metadata.name
              << " on " << pod->spec.node_name << " app=" << app.value_or("?") << std::endl;
}

void run(const support::Arguments& arguments) {
    asio::io_context io(1);
    cli::Cluster cluster(io.get_executor(), arguments.server);
    cluster.start_changes(std::chrono::milliseconds(100));
    k8s_sd::WatcherConfig config = cluster.watcher_config();
    config.fields = {"metadata.labels", "spec.nodeName", "status.containerStatuses",
                     "status.initContainerStatuses", "status.ephemeralContainerStatuses"};

    k8s_sd::Store<api::Pod> pods;
    const k8s_sd::Index<api::Pod> by_container = pods.index(add_containers);
    unsigned left = arguments.diffs;
    asio::signal_set signals(io, SIGINT, SIGTERM);
    asio::thread_pool kernel(1);  // reports started containers
    k8s_sd::Watcher<api::Pod> watcher(io.get_executor(), config, pods, [&](const auto& diff) {
        for (const auto& pod : diff.added) {
            for (const api::ContainerStatus& status : pod->status.container_statuses)
                asio::post(kernel, [by_container, id = std::string(status.container_id)] {
                    look_up(by_container, id);
                });
        }
        if (left > 0 && --left == 0) signals.cancel();
    });
    watcher.async_run(asio::detached);
    signals.async_wait([&](boost::system::error_code, int) {
        watcher.cancel();
        cluster.stop();
    });
    io.run();
}

}  // namespace

int main(int argc, char** argv) {
    return support::run_example("agent", "Finds the pods of containers, in any thread.", argc, argv,
                                run);
}
