#include "k8s_sd/sim/monitors.hpp"

#include <boost/json/parse.hpp>
#include <array>
#include <utility>

namespace k8s_sd::inline v0::sim {
namespace json = boost::json;
namespace {

struct MonitorResource {
    std::string_view kind;
    std::string_view plural;
    bool is_alpha;
};

constexpr std::array<MonitorResource, 6> monitor_resources{{
    {"ServiceMonitor", "servicemonitors", false},
    {"PodMonitor", "podmonitors", false},
    {"Probe", "probes", false},
    {"Prometheus", "prometheuses", false},
    {"ScrapeConfig", "scrapeconfigs", true},
    {"PrometheusAgent", "prometheusagents", true},
}};

constexpr std::string_view api_group = "monitoring.coreos.com";

}  // namespace

void add_monitors(ApiServer& server, const std::vector<std::string>& alpha_versions) {
    for (const MonitorResource& resource : monitor_resources) {
        server.add_resource({std::string(api_group), std::string(resource.kind),
                             std::string(resource.plural),
                             resource.is_alpha ? alpha_versions : std::vector<std::string>{"v1"}});
    }
}

json::object monitor(std::string_view kind, std::string_view ns, std::string_view name,
                     std::string_view spec, const json::object& labels) {
    const bool is_alpha = kind == "ScrapeConfig" || kind == "PrometheusAgent";
    json::object metadata{{"name", name}, {"namespace", ns}};
    if (!labels.empty()) metadata["labels"] = labels;
    return {{"apiVersion", std::string(api_group) + (is_alpha ? "/v1alpha1" : "/v1")},
            {"kind", kind},
            {"metadata", std::move(metadata)},
            {"spec", json::parse(spec)}};
}

}  // namespace k8s_sd::inline v0::sim
