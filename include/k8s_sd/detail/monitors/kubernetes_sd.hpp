#pragma once

#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/object_view.hpp"

#include <boost/json/array.hpp>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The discovery of a ServiceMonitor, PodMonitor or Probe.
struct MonitorDiscovery {
    std::string_view role;
    ObjectView namespace_selector;
    ObjectView attach_metadata;        ///< of the object
    ObjectView class_attach_metadata;  ///< of its class
    boost::json::array selectors{};
};

/// The only entry of `kubernetes_sd_configs`.
boost::json::object kubernetes_sd_section(const MonitorDiscovery&, const JobContext&);

/// The owner's `apiserverConfig`: another API server to discover from.
void put_owner_api_server(JobObject& section, const JobContext&);

/// An entry of `selectors`.
boost::json::object label_selector_entry(std::string_view role, std::string_view label);

}  // namespace k8s_sd::inline v0::detail
