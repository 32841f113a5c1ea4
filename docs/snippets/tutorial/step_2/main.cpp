#include "cluster.hpp"
#include "k8s_sd/discoverer.hpp"
#include "k8s_sd/relabel/relabel_yaml.hpp"
#include "k8s_sd/scrape/target_pool.hpp"

#include <chrono>
#include <iostream>

constexpr auto rules = R"(
- source_labels: [__meta_kubernetes_pod_annotation_prometheus_io_scrape]
  regex: "true"
  action: keep
- source_labels: [__meta_kubernetes_pod_name]
  target_label: pod
)";

struct Printer final : k8s_sd::TargetHandler {
    void start(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr& target) noexcept override {
        std::cout << "start " << target->get("pod") << ": " << target->url() << std::endl;
    }
    void stop(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr& target,
              k8s_sd::StopReason) noexcept override {
        std::cout << "stop " << target->get("pod") << std::endl;
    }
    void keep(k8s_sd::TargetId, const k8s_sd::ScrapeTargetPtr&) noexcept override {}
};

int main() {
    boost::asio::io_context io;
    Cluster cluster(io);
    cluster.start_pod("web-0", "true");
    cluster.start_pod("db-0", "false");

    k8s_sd::ScrapeConfig scrape_config{.job_name = "pods",
                                       .scrape_interval = std::chrono::seconds(1)};
    scrape_config.relabel_configs = k8s_sd::parse_relabel_configs(rules);
    Printer printer;
    k8s_sd::TargetPool pool(scrape_config, printer);

    k8s_sd::DiscoveryConfig config{.role = k8s_sd::Role::pod};
    config.api_server.url = cluster.url();
    k8s_sd::Discoverer discoverer(io.get_executor(), config,
                                  [&](const k8s_sd::TargetGroupDiff& diff) { pool.apply(diff); });
    discoverer.async_run(boost::asio::detached);

    boost::asio::steady_timer timer(io, std::chrono::seconds(1));
    timer.async_wait([&](auto) { cluster.stop_pod("web-0"); });
    io.run_for(std::chrono::seconds(2));
}
