#pragma once

#include "k8s_sd/relabel/relabeler.hpp"

#include <string>
#include <vector>

/// The rules of Prometheus' example configuration for Kubernetes.
namespace bench {

using Rules = std::vector<k8s_sd::RelabelRule>;

inline const std::string meta = "__meta_kubernetes_";

inline k8s_sd::RelabelRule replace(const std::string& source, const std::string& regex,
                                   const std::string& target,
                                   const std::string& replacement = "$1") {
    return {.source_labels = {source},
            .regex = regex,
            .target_label = target,
            .replacement = replacement};
}

inline k8s_sd::RelabelRule map_pod_labels() {
    return {.action = k8s_sd::RelabelAction::labelmap, .regex = meta + "pod_label_(.+)"};
}

/// The labels, the namespace and the name of a pod.
inline Rules pods() {
    return {map_pod_labels(), replace(meta + "namespace", "(.*)", "namespace"),
            replace(meta + "pod_name", "(.*)", "pod")};
}

/// Annotations select the pods and set port, path and scheme.
inline Rules pods_with_annotations() {
    const std::string annotation = meta + "pod_annotation_prometheus_io_";
    Rules rules{replace(annotation + "path", "(.+)", "__metrics_path__"),
                {.source_labels = {"__address__", annotation + "port"},
                 .regex = "([^:]+)(?::\\d+)?;(\\d+)",
                 .target_label = "__address__",
                 .replacement = "$1:$2"},
                replace(annotation + "scheme", "(https?)", "__scheme__")};
    const Rules naming = pods();
    rules.insert(rules.end(), naming.begin(), naming.end());
    return rules;
}

/// Drops all pods.
inline Rules api_servers() {
    return {
        {.action = k8s_sd::RelabelAction::keep,
         .source_labels = {meta + "namespace", meta + "service_name", meta + "endpoint_port_name"},
         .regex = "default;kubernetes;https"}};
}

}  // namespace bench
