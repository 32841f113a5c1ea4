// A host as small as it can be: discovers the pods of a simulated cluster and relabels one, so that
// it needs all libraries. Built by each of the projects beside it, which differ in how they find
// the library.
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <iostream>
#include <k8s_sd/discoverer.hpp>
#include <k8s_sd/relabel/relabeler.hpp>
#include <k8s_sd/sim/api_server.hpp>
#include <k8s_sd/version.hpp>
#include <string>
#include <vector>

int main() {
    boost::asio::io_context context;
    k8s_sd::sim::ApiServer server(context.get_executor());
    server.listen();
    server.apply(R"({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"containers": [{"name": "web", "ports": [{"containerPort": 8080}]}]},
        "status": {"phase": "Running", "podIP": "10.0.0.1"}})");

    std::string address;
    k8s_sd::DiscoveryConfig config;
    config.api_server.url = server.url();
    k8s_sd::Discoverer discoverer(context.get_executor(), config,
                                  [&](const k8s_sd::TargetGroupDiff& diff) {
                                      for (const k8s_sd::GroupChange& change : diff.updated) {
                                          address = change.group->merged(0).at("__address__");
                                      }
                                      discoverer.cancel();
                                  });
    discoverer.async_run([&](k8s_sd::error_code) { context.stop(); });
    context.run_for(std::chrono::seconds(60));

    const k8s_sd::Relabeler relabeler(std::vector<k8s_sd::RelabelRule>{
        {.source_labels = {"__address__"}, .regex = "[0-9.]+:(.*)", .target_label = "port"}});
    k8s_sd::MutableLabels labels;
    labels.set("__address__", address);
    const bool kept = relabeler.apply(labels);

    std::cout << "k8s_sd " K8S_SD_VERSION " found " << address << '\n';
    return kept && address == "10.0.0.1:8080" && labels.get("port") == "8080" ? 0 : 1;
}
