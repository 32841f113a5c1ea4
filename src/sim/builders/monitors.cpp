#include "k8s_sd/sim/monitors.hpp"

#include <boost/json/parse.hpp>
#include <array>
#include <utility>

namespace k8s_sd::inline v0::sim {
namespace json = boost::json;
namespace {

enum class Operator { prometheus, prometheus_alpha, victoriametrics };

struct MonitorResource {
    std::string_view kind;
    std::string_view plural;
    Operator of = Operator::prometheus;
};

constexpr std::array<MonitorResource, 14> monitor_resources{{
    {"ServiceMonitor", "servicemonitors"},
    {"PodMonitor", "podmonitors"},
    {"Probe", "probes"},
    {"Prometheus", "prometheuses"},
    {"ScrapeConfig", "scrapeconfigs", Operator::prometheus_alpha},
    {"PrometheusAgent", "prometheusagents", Operator::prometheus_alpha},
    {"VMServiceScrape", "vmservicescrapes", Operator::victoriametrics},
    {"VMPodScrape", "vmpodscrapes", Operator::victoriametrics},
    {"VMProbe", "vmprobes", Operator::victoriametrics},
    {"VMNodeScrape", "vmnodescrapes", Operator::victoriametrics},
    {"VMStaticScrape", "vmstaticscrapes", Operator::victoriametrics},
    {"VMScrapeConfig", "vmscrapeconfigs", Operator::victoriametrics},
    {"VMAgent", "vmagents", Operator::victoriametrics},
    {"VMSingle", "vmsingles", Operator::victoriametrics},
}};

constexpr std::string_view api_group = "monitoring.coreos.com";
constexpr std::string_view vm_api_group = "operator.victoriametrics.com";

void add(ApiServer& server, const MonitorResource& resource, std::vector<std::string> versions) {
    const bool of_vm = resource.of == Operator::victoriametrics;
    server.add_resource({std::string(of_vm ? vm_api_group : api_group), std::string(resource.kind),
                         std::string(resource.plural), std::move(versions)});
}

}  // namespace

void add_monitors(ApiServer& server, const std::vector<std::string>& alpha_versions) {
    for (const MonitorResource& resource : monitor_resources) {
        if (resource.of == Operator::prometheus) add(server, resource, {"v1"});
        if (resource.of == Operator::prometheus_alpha) add(server, resource, alpha_versions);
    }
}

void add_vm_monitors(ApiServer& server) {
    for (const MonitorResource& resource : monitor_resources) {
        if (resource.of == Operator::victoriametrics) add(server, resource, {"v1beta1"});
    }
}

json::object monitor(std::string_view kind, std::string_view ns, std::string_view name,
                     std::string_view spec, const json::object& labels) {
    const bool is_alpha = kind == "ScrapeConfig" || kind == "PrometheusAgent";
    const std::string api_version = kind.starts_with("VM")
                                        ? std::string(vm_api_group) + "/v1beta1"
                                        : std::string(api_group) + (is_alpha ? "/v1alpha1" : "/v1");
    json::object metadata{{"name", name}, {"namespace", ns}};
    if (!labels.empty()) metadata["labels"] = labels;
    return {{"apiVersion", api_version},
            {"kind", kind},
            {"metadata", std::move(metadata)},
            {"spec", json::parse(spec)}};
}

}  // namespace k8s_sd::inline v0::sim
