#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/sim/api_server.hpp"

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::sim {

/// Adds the resources of prometheus-operator to a server, as its CustomResourceDefinitions do:
/// ServiceMonitors, PodMonitors, Probes and Prometheuses (v1), ScrapeConfigs and PrometheusAgents
/// (v1alpha1). A server lacks them at first.
/// \param alpha_versions  the served versions of the last two
K8S_SD_EXPORT void add_monitors(ApiServer&,
                                const std::vector<std::string>& alpha_versions = {"v1alpha1"});

/// Adds the resources of VictoriaMetrics' operator (v1beta1).
K8S_SD_EXPORT void add_vm_monitors(ApiServer&);

/// A monitor, or an owner, for ApiServer::apply().
/// \param kind  "ServiceMonitor", "PrometheusAgent", "VMAgent" …
/// \param spec  JSON
/// \throws boost::system::system_error if it is not JSON
K8S_SD_EXPORT boost::json::object monitor(std::string_view kind, std::string_view ns,
                                          std::string_view name, std::string_view spec,
                                          const boost::json::object& labels = {});

}  // namespace k8s_sd::inline v0::sim
