#pragma once

#include "k8s_sd/api/kind_of.hpp"
#include "k8s_sd/api/object_meta.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::api {

/// core/v1 ServicePort
struct ServicePort {
    std::string_view name;
    std::string_view protocol;  ///< "TCP", "UDP" or "SCTP"
    std::int64_t port = 0;
    std::int64_t node_port = 0;  ///< 0: none
    std::string_view app_protocol;
    bool operator==(const ServicePort&) const = default;
};

/// core/v1 ServiceSpec
struct ServiceSpec {
    std::string_view type;        ///< "ClusterIP", "NodePort", "LoadBalancer" or "ExternalName"
    std::string_view cluster_ip;  ///< "None": headless
    std::vector<std::string_view> cluster_ips;
    std::vector<std::string_view> external_ips;
    std::vector<std::string_view> ip_families;
    std::string_view ip_family_policy;
    std::string_view external_name;
    std::string_view load_balancer_ip;
    std::string_view load_balancer_class;
    StringMap selector;
    std::string_view session_affinity;         ///< "None" or "ClientIP"
    std::string_view external_traffic_policy;  ///< "Cluster" or "Local"
    std::string_view internal_traffic_policy;  ///< "Cluster" or "Local"
    std::string_view traffic_distribution;
    std::int64_t health_check_node_port = 0;  ///< 0: none
    bool publish_not_ready_addresses = false;
    std::vector<ServicePort> ports;
    bool operator==(const ServiceSpec&) const = default;
};

/// core/v1 LoadBalancerIngress
struct LoadBalancerIngress {
    std::string_view ip;
    std::string_view hostname;
    bool operator==(const LoadBalancerIngress&) const = default;
};

/// core/v1 LoadBalancerStatus
struct LoadBalancerStatus {
    std::vector<LoadBalancerIngress> ingress;
    bool operator==(const LoadBalancerStatus&) const = default;
};

/// core/v1 ServiceStatus
struct ServiceStatus {
    LoadBalancerStatus load_balancer;
    bool operator==(const ServiceStatus&) const = default;
};

/// core/v1 Service
struct Service {
    ObjectMeta metadata;
    ServiceSpec spec;
    ServiceStatus status;
    bool operator==(const Service&) const = default;
};

template <>
inline constexpr Kind kind_of<Service> = Kind::service;

}  // namespace k8s_sd::inline v0::api
