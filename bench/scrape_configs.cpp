// Reads a configuration file of a thousand jobs as prometheus-operator writes them, beside yaml-cpp
// loading the same text.

#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "measure.hpp"

#include <yaml-cpp/yaml.h>
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>

namespace {

using namespace k8s_sd;

/// A rule of the kind that makes up most of such a file.
std::string copy_rule(const std::string& from, const std::string& to) {
    return "  - source_labels:\n    - " + from + "\n    target_label: " + to + "\n";
}

std::string keep_rule(const std::string& from, const std::string& regex) {
    return "  - action: keep\n    source_labels:\n    - " + from + "\n    regex: " + regex + "\n";
}

std::string job_text(std::size_t number) {
    const std::string name = "web-" + std::to_string(number);
    std::string text = "- job_name: serviceMonitor/shop/" + name +
                       "/0\n"
                       "  honor_labels: false\n"
                       "  kubernetes_sd_configs:\n"
                       "  - role: endpointslice\n"
                       "    namespaces:\n"
                       "      names:\n"
                       "      - shop\n"
                       "  scrape_interval: 30s\n"
                       "  scheme: https\n"
                       "  tls_config:\n"
                       "    ca_file: /etc/prometheus/certs/ca.crt\n"
                       "  bearer_token_file: /var/run/secrets/kubernetes.io/serviceaccount/token\n"
                       "  relabel_configs:\n";
    text += copy_rule("job", "__tmp_prometheus_job_name");
    text += keep_rule("__meta_kubernetes_service_label_app", "(" + name + ");true");
    text += keep_rule("__meta_kubernetes_endpointslice_port_name", "https-metrics");
    for (const char* kind : {"Node;(.*)", "Pod;(.*)"}) {
        text += "  - source_labels:\n"
                "    - __meta_kubernetes_endpointslice_address_target_kind\n"
                "    - __meta_kubernetes_endpointslice_address_target_name\n"
                "    separator: ;\n    regex: " +
                std::string(kind) + "\n    replacement: ${1}\n    target_label: object\n";
    }
    for (const char* label : {"namespace", "service_name", "pod_name", "pod_container_name"}) {
        text += copy_rule("__meta_kubernetes_" + std::string(label), label);
    }
    text += keep_rule("__meta_kubernetes_pod_phase", "(Pending|Running|Unknown)");
    text += "  - target_label: endpoint\n    replacement: https-metrics\n";
    text += "  - source_labels:\n    - __address__\n    target_label: __tmp_hash\n"
            "    modulus: 1\n    action: hashmod\n";
    return text + keep_rule("__tmp_hash", "0") + "  metric_relabel_configs: []\n";
}

constexpr int rounds = 5;

/// CPU seconds of the best of several rounds.
template <class Work>
double best(Work work) {
    double least = 1e9;
    for (int round = 0; round < rounds; ++round) {
        const double start = bench::cpu_seconds();
        work();
        least = std::min(least, bench::cpu_seconds() - start);
    }
    return least;
}

}  // namespace

int main(int argc, char** argv) {
    const std::size_t jobs = bench::argument(argc, argv, 1, 1000);
    std::string text = "global:\n  scrape_interval: 30s\nscrape_configs:\n";
    for (std::size_t i = 0; i < jobs; ++i) text += job_text(i);
    const double megabytes = static_cast<double>(text.size()) / 1e6;

    std::size_t read = 0;
    const double peer = best([&] { (void)YAML::Load(text); });
    const double ours = best([&] { read = parse_scrape_configs(text).jobs.size(); });
    // The anchor in the first line disables the fast path, so the full YAML parser reads the text.
    const std::string anchored = "x: &x y\n" + text;
    const double whole = best([&] { (void)parse_scrape_configs(anchored); });

    std::printf("%zu jobs of %zu, %.1f MB\n", read, jobs, megabytes);
    const auto show = [&](const char* what, double seconds) {
        std::printf("%-44s %6.1f ms a MB  x %.2f\n", what, seconds / megabytes * 1e3,
                    seconds / peer);
    };
    show("yaml-cpp loads it", peer);
    show("parse_scrape_configs", ours);
    show("parse_scrape_configs, a text with an anchor", whole);
    return read == jobs ? 0 : 1;
}
