// The rules of Prometheus' example configuration for Kubernetes, over the recorded targets.

#include "conformance/corpus.hpp"
#include "k8s_sd/relabel/relabel_yaml.hpp"
#include "k8s_sd/relabel/relabeler.hpp"

#include <catch2/catch_test_macros.hpp>
#include <functional>

namespace k8s_sd::test {

namespace {

using Result = std::optional<LabelMap>;

/// All recorded targets of jobs whose name begins with the role's.
std::vector<LabelMap> recorded_targets(const std::string& role) {
    std::vector<LabelMap> targets;
    for (const std::string& name : corpus_cases()) {
        const CorpusCase c = read_case(name);
        for (const CorpusJob& job : c.jobs) {
            if (job.name != role && !job.name.starts_with(role + "-")) continue;
            for (const auto& state : c.states) {
                const auto answer = read_answer(state, job.name, LabelDialect::prometheus);
                if (!answer) continue;
                targets.insert(targets.end(), answer->targets.begin(), answer->targets.end());
            }
        }
    }
    return targets;
}

std::string value(const LabelMap& labels, const std::string& name) {
    const auto found = labels.find(name);
    return found == labels.end() ? "" : found->second;
}

std::string meta(const LabelMap& labels, const std::string& name) {
    return value(labels, "__meta_kubernetes_" + name);
}

/// Equivalent to `labelmap` with `<prefix>(.+)`.
void map_labels(LabelMap& labels, const std::string& prefix) {
    for (const auto& [name, text] : LabelMap(labels)) {
        if (name.starts_with(prefix) && name.size() > prefix.size() && !text.empty()) {
            labels[name.substr(prefix.size())] = text;
        }
    }
}

void set(LabelMap& labels, const std::string& name, const std::string& text) {
    labels.erase(name);
    if (!text.empty()) labels.emplace(name, text);
}

/// Relabels the recorded targets and compares them with the result of `expected`.
/// \returns the number of kept targets
std::size_t check(const std::string& role, const std::string& yaml,
                  const std::function<Result(LabelMap)>& expected) {
    const Relabeler relabeler(parse_relabel_configs(yaml));
    const std::vector<LabelMap> targets = recorded_targets(role);
    CHECK(targets.size() > 20);
    MutableLabels labels;
    std::size_t kept = 0;
    for (const LabelMap& target : targets) {
        labels.clear();
        for (const auto& [name, text] : target) labels.set(name, text);
        const Result found = relabeler.apply(labels) ? Result(labels.to_map()) : std::nullopt;
        REQUIRE(found == expected(target));
        kept += found ? 1u : 0u;
    }
    return kept;
}

}  // namespace

TEST_CASE("Recipes: the endpoints of the API servers") {
    const std::size_t kept = check("endpoints", R"yaml(
- source_labels: [__meta_kubernetes_namespace, __meta_kubernetes_service_name,
                  __meta_kubernetes_endpoint_port_name]
  action: keep
  regex: default;kubernetes;https
)yaml",
                                   [](LabelMap labels) -> Result {
                                       const bool keep =
                                           meta(labels, "namespace") == "default" &&
                                           meta(labels, "service_name") == "kubernetes" &&
                                           meta(labels, "endpoint_port_name") == "https";
                                       return keep ? Result(labels) : std::nullopt;
                                   });
    CHECK(kept > 0);
}

TEST_CASE("Recipes: nodes get their labels") {
    check("node", "- {action: labelmap, regex: __meta_kubernetes_node_label_(.+)}",
          [](LabelMap labels) -> Result {
              map_labels(labels, "__meta_kubernetes_node_label_");
              return labels;
          });
}

TEST_CASE("Recipes: pods get their labels, namespace and name") {
    check("pod", R"yaml(
- action: labelmap
  regex: __meta_kubernetes_pod_label_(.+)
- source_labels: [__meta_kubernetes_namespace]
  action: replace
  target_label: namespace
- source_labels: [__meta_kubernetes_pod_name]
  action: replace
  target_label: pod
)yaml",
          [](LabelMap labels) -> Result {
              map_labels(labels, "__meta_kubernetes_pod_label_");
              set(labels, "namespace", meta(labels, "namespace"));
              set(labels, "pod", meta(labels, "pod_name"));
              return labels;
          });
}

TEST_CASE("Recipes: a port by annotation replaces that of the address") {
    // The recorded pods have no such annotation: each gets one from its name's length.
    check("pod", R"yaml(
- source_labels: [__meta_kubernetes_pod_name]
  regex: (.).*
  target_label: __tmp_port
  replacement: "9100"
- source_labels: [__address__, __tmp_port]
  regex: (.+?)(\:\d+)?;(\d+)
  target_label: __address__
  replacement: $1:$3
- action: labeldrop
  regex: __tmp_.*
)yaml",
          [](LabelMap labels) -> Result {
              std::string address = value(labels, "__address__");
              // [fd00::1] and fd00::1 differ in the text after the last colon.
              const std::size_t colon = address.rfind(':');
              if (colon != std::string::npos && colon > 0 && colon + 1 < address.size() &&
                  address.find_first_not_of("0123456789", colon + 1) == std::string::npos) {
                  address.resize(colon);
              }
              if (!address.empty()) labels["__address__"] = address + ":9100";
              return labels;
          });
}

TEST_CASE("Recipes: services are probed by a prober") {
    check("service", R"yaml(
- source_labels: [__address__]
  target_label: __param_target
- target_label: __address__
  replacement: prober.example.com
- source_labels: [__param_target]
  target_label: instance
- action: labelmap
  regex: __meta_kubernetes_service_label_(.+)
- source_labels: [__meta_kubernetes_namespace]
  target_label: namespace
- source_labels: [__meta_kubernetes_service_name]
  target_label: service
)yaml",
          [](LabelMap labels) -> Result {
              set(labels, "__param_target", value(labels, "__address__"));
              set(labels, "instance", value(labels, "__address__"));
              set(labels, "__address__", "prober.example.com");
              map_labels(labels, "__meta_kubernetes_service_label_");
              set(labels, "namespace", meta(labels, "namespace"));
              set(labels, "service", meta(labels, "service_name"));
              return labels;
          });
}

TEST_CASE("Recipes: ingresses are probed at their URL") {
    check("ingress", R"yaml(
- source_labels: [__meta_kubernetes_ingress_scheme, __address__, __meta_kubernetes_ingress_path]
  regex: (.+);(.+);(.+)
  replacement: ${1}://${2}${3}
  target_label: __param_target
)yaml",
          [](LabelMap labels) -> Result {
              const std::string scheme = meta(labels, "ingress_scheme");
              const std::string host = value(labels, "__address__");
              const std::string path = meta(labels, "ingress_path");
              if (!scheme.empty() && !host.empty() && !path.empty()) {
                  labels["__param_target"] = scheme + "://" + host + path;
              }
              return labels;
          });
}

}  // namespace k8s_sd::test
