#pragma once

#include "k8s_sd/api/service.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/kinds/shared/load_balancer.hpp"
#include "k8s_sd/detail/roles/service.hpp"

namespace k8s_sd::inline v0::detail {

// The tables are laid out by hand: one field a line.
// clang-format off

template <>
struct Table<api::ServicePort> {
    using P = api::ServicePort;
    static constexpr std::tuple rows{
        Row<&P::name>{"name", 1, Use::labels},
        Row<&P::protocol>{"protocol", 2, Use::labels},
        Row<&P::port>{"port", 3, Use::labels},
        Row<&P::node_port>{"nodePort", 5},
        Row<&P::app_protocol>{"appProtocol", 6},
    };
};

template <>
struct Table<api::ServiceSpec> {
    using S = api::ServiceSpec;
    static constexpr std::tuple rows{
        Row<&S::ports>{"ports", 1, Use::labels},
        Row<&S::selector>{"selector", 2},
        Row<&S::cluster_ip>{"clusterIP", 3, Use::labels},
        Row<&S::type>{"type", 4, Use::labels},
        Row<&S::external_ips>{"externalIPs", 5},
        Row<&S::session_affinity>{"sessionAffinity", 7},
        Row<&S::load_balancer_ip>{"loadBalancerIP", 8, Use::labels},
        Row<&S::external_name>{"externalName", 10, Use::labels},
        Row<&S::external_traffic_policy>{"externalTrafficPolicy", 11},
        Row<&S::health_check_node_port>{"healthCheckNodePort", 12},
        Row<&S::publish_not_ready_addresses>{"publishNotReadyAddresses", 13},
        Row<&S::ip_family_policy>{"ipFamilyPolicy", 17},
        Row<&S::cluster_ips>{"clusterIPs", 18},
        Row<&S::ip_families>{"ipFamilies", 19},
        Row<&S::load_balancer_class>{"loadBalancerClass", 21},
        Row<&S::internal_traffic_policy>{"internalTrafficPolicy", 22},
        Row<&S::traffic_distribution>{"trafficDistribution", 23},
    };
};

template <>
struct Table<api::ServiceStatus> {
    static constexpr std::tuple rows{
        Row<&api::ServiceStatus::load_balancer>{"loadBalancer", 1},
    };
};

template <>
struct KindTraits<Kind::service> {
    using Model = api::Service;
    using LabelObject = ServiceObject;
    static constexpr std::tuple rows{
        Row<&Model::metadata>{"metadata", 1, Use::always},
        Row<&Model::spec>{"spec", 2, Use::labels},
        Row<&Model::status>{"status", 3},
    };
};

// clang-format on

}  // namespace k8s_sd::inline v0::detail
