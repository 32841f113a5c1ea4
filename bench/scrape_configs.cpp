// Reads configuration files of a thousand jobs: as prometheus-operator writes them, with anchors,
// and with lists in brackets. The floor of each is the events of libyaml in the same run.

#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "measure.hpp"

#include <yaml.h>
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
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

/// The job with lists of source labels in brackets and quotes.
std::string in_flow_style(const std::string& job) {
    const std::string list = "source_labels:\n";
    const std::string item = "    - ";
    std::string text;
    std::size_t done = 0;
    for (std::size_t at = 0; (at = job.find(list, done)) != std::string::npos;) {
        text += job.substr(done, at - done) + "source_labels: [";
        done = at + list.size();
        for (const char* comma = ""; job.compare(done, item.size(), item) == 0; comma = ", ") {
            const std::size_t begin = done + item.size();
            const std::size_t end = job.find('\n', begin);
            text += comma + ("\"" + job.substr(begin, end - begin) + "\"");
            done = end + 1;
        }
        text += "]\n";
    }
    return text + job.substr(done);
}

/// Reads all events; the floor of every reader over libyaml.
void read_events(const std::string& text) {
    yaml_parser_t parser;
    if (yaml_parser_initialize(&parser) == 0) std::abort();
    yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
    for (bool at_end = false; !at_end;) {
        yaml_event_t event;
        if (yaml_parser_parse(&parser, &event) == 0) std::abort();
        at_end = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
}

}  // namespace

int main(int argc, char** argv) {
    const std::size_t jobs = bench::argument(argc, argv, 1, 1000);
    const std::string head = "global:\n  scrape_interval: 30s\nscrape_configs:\n";
    std::string text = head;
    std::string anchored = head;
    std::string flow = head;
    for (std::size_t i = 0; i < jobs; ++i) {
        const std::string job = job_text(i);
        text += job;
        flow += in_flow_style(job);
        const std::string number = std::to_string(i);
        anchored += "- &job" + number + "\n  " + job.substr(2) + "  metrics_path: &path" + number +
                    " >-\n    /metrics\n";
    }
    struct File {
        const char* style;
        std::string text;
    };
    const File files[] = {{"of prometheus-operator", text},
                          {"anchors and multi-line texts", anchored},
                          {"lists in brackets, quotes", flow}};
    std::printf("%zu jobs; CPU time, ms a MB\n%-30s %6s %8s %22s\n", jobs, "", "MB", "events",
                "parse_scrape_configs");
    bool complete = true;
    for (const File& file : files) {
        const double megabytes = static_cast<double>(file.text.size()) / 1e6;
        const double floor = best([&] { read_events(file.text); });
        const double ours =
            best([&] { complete &= parse_scrape_configs(file.text).jobs.size() == jobs; });
        std::printf("%-30s %6.1f %8.1f %15.1f x %.2f\n", file.style, megabytes,
                    floor / megabytes * 1e3, ours / megabytes * 1e3, ours / floor);
    }
    return complete ? 0 : 1;
}
