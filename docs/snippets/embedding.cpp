// Snippets of docs/guide/embedding.md and docs/guide/labels.md.

#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/target_group.hpp"

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <ostream>
#include <string_view>

namespace snippets::embedding {

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

[[maybe_unused]] static void print_metrics(boost::asio::io_context& io,
                                           const k8s_sd::DiscovererStatus& status,
                                           std::ostream& out) {
    //[metrics
    out << to_prometheus_text(*k8s_sd::metrics_of(io), {{"cluster", "blue"}});
    out << to_prometheus_text(status.watches, std::chrono::steady_clock::now(),
                              {{"cluster", "blue"}});
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

}  // namespace snippets::embedding
