#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/time.hpp"

#include <boost/asio/execution_context.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace k8s_sd::inline v0 {

namespace asio = boost::asio;

/// The use of one API server by all watches and caches of one execution context. The limits are
/// those of Environment::limits.
struct ServerUsage {
    std::string server{};              ///< URL
    std::uint64_t requests = 0;        ///< requests sent
    std::uint64_t failures = 0;        ///< failures of watches by the server or the network
    std::uint64_t received_bytes = 0;  ///< bytes of bodies of lists and watches
    /// Whether the last request of a watch failed because of the server or the network.
    bool failing = false;
    std::size_t lists_running = 0;     ///< lists in progress, see ServerLimits::concurrent_lists
    std::size_t lists_waiting = 0;     ///< lists without a permit
    std::size_t open_watches = 0;      ///< see ServerLimits::watches
    std::size_t connects_running = 0;  ///< see ServerLimits::concurrent_connects
    std::size_t connects_waiting = 0;  ///< requests without a permit to connect
    std::size_t connections = 0;       ///< connections, open or being established
};

/// The usage of each API server with a client in the context, by URL. Thread-safe.
K8S_SD_EXPORT std::vector<ServerUsage> server_usage(asio::execution_context&);

/// The health of one API server as seen by the jobs of a DiscoveryManager, and its use.
struct ServerHealth {
    std::string cluster{};     ///< name of DiscoveryConfig::cluster; empty: none
    std::string server{};      ///< URL; empty: unknown, all configurations are unusable
    std::size_t configs = 0;   ///< distinct configurations of this server
    std::size_t unusable = 0;  ///< unusable ones, see ConfigFailure
    bool synced = false;       ///< whether each configuration has been listed
    error_code error{};        ///< error of the first failing watch or unusable configuration
    std::string message{};     ///< see DiscovererStatus::message
    TimePoint since{};         ///< see DiscovererStatus::since
    std::size_t watches = 0;   ///< watches of these configurations
    std::size_t failing_watches = 0;  ///< watches with an error
    std::size_t objects = 0;          ///< cached objects, nearly all of the memory besides groups
    std::size_t groups = 0;           ///< target groups
    std::size_t targets = 0;          ///< targets in these groups
    ServerUsage usage{};              ///< by the whole execution context
};

/// A metric of one API server. Labels: `server`, and `cluster` for a server with a name.
struct ServerMetric {
    MetricDescription description;         ///< the same for all servers
    double (*value)(const ServerHealth&);  ///< the present value
};

/// The metrics of each server.
inline constexpr ServerMetric server_metrics[] = {
    {{"k8s_sd_server_synced", MetricType::gauge,
      "Whether each configuration of the API server has been listed."},
     [](const ServerHealth& s) { return s.synced ? 1.0 : 0.0; }},
    {{"k8s_sd_server_failing", MetricType::gauge,
      "Whether a watch of the API server fails, or a configuration of it is unusable."},
     [](const ServerHealth& s) { return s.error ? 1.0 : 0.0; }},
    {{"k8s_sd_server_configs", MetricType::gauge, "Distinct configurations of the API server."},
     [](const ServerHealth& s) { return static_cast<double>(s.configs); }},
    {{"k8s_sd_server_watches", MetricType::gauge, "Watches of these configurations."},
     [](const ServerHealth& s) { return static_cast<double>(s.watches); }},
    {{"k8s_sd_server_failing_watches", MetricType::gauge, "Watches whose last attempt failed."},
     [](const ServerHealth& s) { return static_cast<double>(s.failing_watches); }},
    {{"k8s_sd_server_objects", MetricType::gauge, "Objects of the API server that are kept."},
     [](const ServerHealth& s) { return static_cast<double>(s.objects); }},
    {{"k8s_sd_server_targets", MetricType::gauge, "Targets discovered from the API server."},
     [](const ServerHealth& s) { return static_cast<double>(s.targets); }},
    {{"k8s_sd_server_requests_total", MetricType::counter, "Requests sent to the API server."},
     [](const ServerHealth& s) { return static_cast<double>(s.usage.requests); }},
    {{"k8s_sd_server_failures_total", MetricType::counter,
      "Requests of watches that failed because of the API server or the network."},
     [](const ServerHealth& s) { return static_cast<double>(s.usage.failures); }},
    {{"k8s_sd_server_received_bytes_total", MetricType::counter,
      "Bytes of the bodies of lists and watches of the API server."},
     [](const ServerHealth& s) { return static_cast<double>(s.usage.received_bytes); }},
    {{"k8s_sd_server_lists_running", MetricType::gauge, "Lists of the API server under way."},
     [](const ServerHealth& s) { return static_cast<double>(s.usage.lists_running); }},
    {{"k8s_sd_server_lists_waiting", MetricType::gauge, "Lists that wait for a permit."},
     [](const ServerHealth& s) { return static_cast<double>(s.usage.lists_waiting); }},
    {{"k8s_sd_server_open_watches", MetricType::gauge, "Watches that have a connection."},
     [](const ServerHealth& s) { return static_cast<double>(s.usage.open_watches); }},
    {{"k8s_sd_server_connects_running", MetricType::gauge,
      "Connections to the API server that are being established."},
     [](const ServerHealth& s) { return static_cast<double>(s.usage.connects_running); }},
    {{"k8s_sd_server_connections", MetricType::gauge, "Connections to the API server."},
     [](const ServerHealth& s) { return static_cast<double>(s.usage.connections); }},
};

/// The metrics of servers in Prometheus' text format, with HELP and TYPE. Servers without a URL
/// have a `cluster` only.
K8S_SD_EXPORT std::string to_prometheus_text(const std::vector<ServerHealth>& servers,
                                             const MetricLabels& labels = {});

}  // namespace k8s_sd::inline v0
