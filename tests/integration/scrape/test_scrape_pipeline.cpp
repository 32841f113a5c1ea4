// From a configuration file to scrape targets: the recipes of Prometheus' example configuration for
// Kubernetes, in one file, on one simulated cluster.

#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "k8s_sd/scrape/target_pool.hpp"
#include "support/objects.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/detached.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace std::chrono_literals;
namespace objects = k8s_sd::test;
using k8s_sd::test::Simulation;

namespace {

constexpr const char* recipes = R"yaml(
scrape_configs:
- job_name: api-servers
  scheme: https
  kubernetes_sd_configs: [{role: endpoints, api_server: "http://sim.invalid"}]
  relabel_configs:
  - source_labels:
    - __meta_kubernetes_namespace
    - __meta_kubernetes_service_name
    - __meta_kubernetes_endpoint_port_name
    action: keep
    regex: default;kubernetes;http

- job_name: nodes
  scheme: https
  metrics_path: /metrics/cadvisor
  kubernetes_sd_configs: [{role: node, api_server: "http://sim.invalid"}]
  relabel_configs:
  - {action: labelmap, regex: __meta_kubernetes_node_label_(.+)}

- job_name: annotated-pods
  kubernetes_sd_configs: [{role: pod, api_server: "http://sim.invalid"}]
  relabel_configs:
  - {source_labels: [__meta_kubernetes_pod_annotation_scrape], action: keep, regex: "true"}
  - source_labels: [__address__, __meta_kubernetes_pod_annotation_port]
    regex: ([^:]+)(?::\d+)?;(\d+)
    replacement: $1:$2
    target_label: __address__
  - {action: labelmap, regex: __meta_kubernetes_pod_label_(.+)}
  - {source_labels: [__meta_kubernetes_namespace], target_label: namespace}
  - {source_labels: [__meta_kubernetes_pod_name], target_label: pod}

- job_name: probed-services
  metrics_path: /probe
  params: {module: [http_2xx]}
  kubernetes_sd_configs: [{role: service, api_server: "http://sim.invalid"}]
  relabel_configs:
  - {source_labels: [__address__], target_label: __param_target}
  - {target_label: __address__, replacement: "prober:9115"}
  - {source_labels: [__param_target], target_label: instance}
  - {action: labelmap, regex: __meta_kubernetes_service_label_(.+)}
  - {source_labels: [__meta_kubernetes_service_name], target_label: service}

- job_name: probed-ingresses
  metrics_path: /probe
  params: {module: [http_2xx]}
  kubernetes_sd_configs: [{role: ingress, api_server: "http://sim.invalid"}]
  relabel_configs:
  - source_labels:
    - __meta_kubernetes_ingress_scheme
    - __address__
    - __meta_kubernetes_ingress_path
    regex: (.+);(.+);(.+)
    replacement: ${1}://${2}${3}
    target_label: __param_target
  - {target_label: __address__, replacement: "prober:9115"}
  - {source_labels: [__param_target], target_label: instance}
)yaml";

/// A scraper with a pool per job. take() returns the events since the last call.
struct Scraper : Simulation {
    struct Handler final : TargetHandler {
        void stop(TargetId, const ScrapeTargetPtr& target, StopReason) noexcept override {
            log.insert("-" + target->url());
            running.erase(target->url());
        }
        void keep(TargetId, const ScrapeTargetPtr& target) noexcept override {
            log.insert("=" + target->url());
        }
        void start(TargetId, const ScrapeTargetPtr& target) noexcept override {
            log.insert("+" + target->url());
            running[target->url()] = target;
        }
        std::set<std::string> log;
        std::map<std::string, ScrapeTargetPtr> running;
    };
    struct JobPool {
        explicit JobPool(const ScrapeConfig& config) : pool(config, handler) {}
        Handler handler;
        TargetPool pool;
    };

    Scraper() {
        server.apply(objects::endpoints("kubernetes", {{"10.0.9.1"}, {"10.0.9.2"}}));
        server.apply(objects::service("kubernetes", {{"tier", "control"}}));
        server.apply(objects::node("n1", {{"zone", "a"}, {"disk-type", "ssd"}}));
        server.apply(objects::endpoints("web", {{"10.0.0.1", "web-1"}}));
        server.apply(annotated("web-1", {{"scrape", "true"}, {"port", "9100"}}));
        server.apply(annotated("web-2", {{"scrape", "false"}}));
        server.apply(objects::ingress("shop", "example.com"));
        manager.emplace(context.get_executor(), [this](const JobDiff& diff) {
            const auto job = jobs.find(std::string(diff.job));
            REQUIRE(job != jobs.end());
            job->second->pool.apply(diff);
            if (diff.last) jobs.erase(job);
        });
        manager->async_run(boost::asio::detached);
    }

    static boost::json::object annotated(const std::string& name,
                                         const objects::Strings& annotations) {
        sim::PodBuilder pod =
            sim::pod("default", name).ip("10.0.0.1").node("n1").label("app", "web");
        pod.container("main", "app:1").port("http", 8080);
        for (const auto& [key, value] : annotations) pod.annotation(key, value);
        return pod;
    }
    void apply(const std::string& yaml) {
        const ScrapeConfigFile file = parse_scrape_configs(yaml, {.strict = true});
        for (const ScrapeJob& job : file.jobs) {
            auto& present = jobs[job.scrape.job_name];
            if (present) {
                present->pool.reload(job.scrape);
            } else {
                present = std::make_unique<JobPool>(job.scrape);
            }
        }
        REQUIRE(manager->apply_config(file.discovery_jobs()).empty());
        settle();
    }
    std::set<std::string> take(const std::string& job) {
        return std::exchange(jobs.at(job)->handler.log, {});
    }
    LabelMap labels(const std::string& job, const std::string& url) {
        const auto& running = jobs.at(job)->handler.running;
        const auto target = running.find(url);
        return target == running.end() ? LabelMap() : target->second->public_labels();
    }

    std::map<std::string, std::unique_ptr<JobPool>> jobs;
    std::optional<DiscoveryManager> manager;
};

using Calls = std::set<std::string>;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    return text.replace(at, what.size(), by);
}

}  // namespace

TEST_CASE("scrape pipeline: the usual recipes give the usual targets") {
    Scraper s;
    s.apply(recipes);

    CHECK(s.take("api-servers") ==
          Calls{"+https://10.0.9.1:8080/metrics", "+https://10.0.9.2:8080/metrics"});
    CHECK(s.jobs.at("api-servers")->pool.dropped_count() == 1);

    CHECK(s.take("nodes") == Calls{"+https://192.168.0.1:10250/metrics/cadvisor"});
    CHECK(s.labels("nodes", "https://192.168.0.1:10250/metrics/cadvisor") ==
          LabelMap{{"disk_type", "ssd"}, {"instance", "n1"}, {"job", "nodes"}, {"zone", "a"}});

    CHECK(s.take("annotated-pods") == Calls{"+http://10.0.0.1:9100/metrics"});
    CHECK(s.labels("annotated-pods", "http://10.0.0.1:9100/metrics") ==
          LabelMap{{"app", "web"},
                   {"instance", "10.0.0.1:9100"},
                   {"job", "annotated-pods"},
                   {"namespace", "default"},
                   {"pod", "web-1"}});
    CHECK(s.jobs.at("annotated-pods")->pool.dropped_count() == 1);

    const std::string probe =
        "http://prober:9115/probe?module=http_2xx&target=kubernetes.default.svc%3A80";
    CHECK(s.take("probed-services") == Calls{"+" + probe});
    CHECK(s.labels("probed-services", probe) == LabelMap{{"instance", "kubernetes.default.svc:80"},
                                                         {"job", "probed-services"},
                                                         {"service", "kubernetes"},
                                                         {"tier", "control"}});

    CHECK(s.take("probed-ingresses") ==
          Calls{"+http://prober:9115/probe?module=http_2xx&target=http%3A%2F%2Fexample.com%2F"});
}

TEST_CASE("scrape pipeline: changes of the cluster touch only the targets they concern") {
    Scraper s;
    s.apply(recipes);
    for (const auto& [name, job] : s.jobs) s.take(name);

    s.server.apply(Scraper::annotated("web-2", {{"scrape", "true"}, {"port", "9200"}}));
    s.settle();
    CHECK(s.take("annotated-pods") == Calls{"+http://10.0.0.1:9200/metrics"});
    CHECK(s.take("nodes").empty());

    s.server.apply(
        Scraper::annotated("web-1", {{"scrape", "true"}, {"port", "9100"}, {"note", "new"}}));
    s.settle();
    CHECK(s.take("annotated-pods") == Calls{"=http://10.0.0.1:9100/metrics"});

    s.server.remove("pods", "default", "web-1");
    s.settle();
    CHECK(s.take("annotated-pods") == Calls{"-http://10.0.0.1:9100/metrics"});
    CHECK(s.take("api-servers").empty());
}

TEST_CASE("scrape pipeline: a reload asks the API server for nothing and touches what it changes") {
    Scraper s;
    s.apply(recipes);
    for (const auto& [name, job] : s.jobs) s.take(name);
    s.take_requests();

    SECTION("the same file again") {
        s.apply(recipes);
        for (const auto& [name, job] : s.jobs) CHECK(s.take(name).empty());
    }
    SECTION("other rules of one job") {
        s.apply(replaced(recipes, "regex: default;kubernetes;http", "regex: default;;http"));
        CHECK(s.take("api-servers") == Calls{"+https://10.0.0.1:8080/metrics",
                                             "-https://10.0.9.1:8080/metrics",
                                             "-https://10.0.9.2:8080/metrics"});
        CHECK(s.take("nodes").empty());
    }
    SECTION("a job with another name") {
        s.apply(replaced(recipes, "job_name: nodes", "job_name: kubelets"));
        CHECK(s.take("kubelets") == Calls{"+https://192.168.0.1:10250/metrics/cadvisor"});
        CHECK_FALSE(s.jobs.contains("nodes"));
        CHECK(s.take("annotated-pods").empty());
    }
    CHECK(s.take_requests().empty());
}

TEST_CASE("scrape pipeline: another server for a job keeps the targets that both have") {
    Scraper s;
    s.apply(recipes);
    for (const auto& [name, job] : s.jobs) s.take(name);
    // The simulation resolves every name to the same server, so both have all targets.
    s.apply(replaced(recipes, "role: pod, api_server: \"http://sim.invalid\"",
                     "role: pod, api_server: \"http://other.invalid\""));
    CHECK(s.jobs.at("annotated-pods")->pool.active_count() == 1);
    CHECK(s.take("annotated-pods").empty());
}
