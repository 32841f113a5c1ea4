// Snippets of docs/embedding.md and docs/labels.md.

#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/target_group.hpp"

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <utility>

namespace snippets {

void write_to_the_hosts_log(std::string_view text);

[[maybe_unused]] static void environment(boost::asio::io_context& io) {
    //[environment
    k8s_sd::Environment environment;
    environment.logger.level = k8s_sd::LogLevel::info;
    environment.logger.write = [](k8s_sd::LogLevel level, std::string_view text) {
        if (level <= k8s_sd::LogLevel::warning) write_to_the_hosts_log(text);
    };
    k8s_sd::install(io, environment);  // before the first Discoverer on io
    //]
}

[[maybe_unused]] static void print_metrics(boost::asio::io_context& io, std::ostream& out) {
    //[metrics
    std::string_view previous;
    const auto print = [&](const k8s_sd::MetricDescription& metric, std::string_view resource,
                           std::int64_t value) {
        if (std::exchange(previous, metric.name) != metric.name) {
            out << "# HELP " << metric.name << ' ' << metric.help << '\n'
                << "# TYPE " << metric.name << ' ' << to_string(metric.type) << '\n';
        }
        out << metric.name;
        if (!resource.empty()) out << "{resource=\"" << resource << "\"}";
        out << ' ' << value << '\n';
    };
    k8s_sd::metrics_of(io)->visit_described(print);
    //]
}

//[ready
/// Whether an endpoint may get traffic; for role endpointslice and Prometheus' dialect.
bool is_ready(const k8s_sd::TargetGroup& group, std::size_t target) {
    return group[target]
               .get("__meta_kubernetes_endpointslice_endpoint_conditions_ready")
               .value_or("true") == "true";
}
//]

}  // namespace snippets
