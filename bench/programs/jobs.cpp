#include "jobs.hpp"

namespace bench {

namespace {

constexpr const char* labels = R"yaml(
  - {source_labels: [__meta_kubernetes_namespace], target_label: namespace}
  - {source_labels: [__meta_kubernetes_pod_name], target_label: pod}
  - {source_labels: [__meta_kubernetes_pod_container_name], target_label: container}
  - {source_labels: [__meta_kubernetes_pod_node_name], target_label: node}
  - {source_labels: [__meta_kubernetes_pod_label_bench_example_com_rev], target_label: rev}
)yaml";

}  // namespace

std::string job_of_pods(const std::string& name, unsigned short port, const std::string& rules) {
    return "- job_name: " + name +
           "\n  kubernetes_sd_configs:\n"
           "  - role: pod\n"
           "    api_server: http://127.0.0.1:" +
           std::to_string(port) + "\n  relabel_configs:\n" + rules + labels;
}

std::string job_of_a_part(std::size_t part, std::size_t parts, unsigned short port) {
    const std::string modulus = std::to_string(parts);
    const std::string number = std::to_string(part);
    return job_of_pods("part-" + number, port,
                       "  - {source_labels: [__meta_kubernetes_pod_uid], modulus: " + modulus +
                           ", action: hashmod, target_label: __tmp_part}\n"
                           "  - {source_labels: [__tmp_part], regex: \"" +
                           number + "\", action: keep}\n");
}

std::string config_of(const std::string& jobs) { return "scrape_configs:\n" + jobs; }

std::string shard_of(const std::string& job, std::size_t shard, std::size_t shards) {
    return "/sd/" + job + "/targets?shard=" + std::to_string(shard) +
           "&shards=" + std::to_string(shards);
}

}  // namespace bench
