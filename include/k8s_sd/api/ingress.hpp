#pragma once

#include "k8s_sd/api/kind_of.hpp"
#include "k8s_sd/api/object_meta.hpp"
#include "k8s_sd/api/service.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::api {

/// networking.k8s.io/v1 ServiceBackendPort: a name or a number.
struct ServiceBackendPort {
    std::string_view name;
    std::int64_t number = 0;  ///< 0: see `name`
    bool operator==(const ServiceBackendPort&) const = default;
};

/// networking.k8s.io/v1 IngressServiceBackend
struct IngressServiceBackend {
    std::string_view name;
    ServiceBackendPort port;
    bool operator==(const IngressServiceBackend&) const = default;
};

/// networking.k8s.io/v1 IngressBackend, without references to other resources.
struct IngressBackend {
    std::optional<IngressServiceBackend> service;
    bool operator==(const IngressBackend&) const = default;
};

/// networking.k8s.io/v1 HTTPIngressPath
struct HTTPIngressPath {
    std::string_view path;
    std::string_view path_type;  ///< "Exact", "Prefix" or "ImplementationSpecific"
    IngressBackend backend;
    bool operator==(const HTTPIngressPath&) const = default;
};

/// networking.k8s.io/v1 HTTPIngressRuleValue
struct HTTPIngressRuleValue {
    std::vector<HTTPIngressPath> paths;
    bool operator==(const HTTPIngressRuleValue&) const = default;
};

/// networking.k8s.io/v1 IngressRule
struct IngressRule {
    std::string_view host;  ///< empty: any
    std::optional<HTTPIngressRuleValue> http;
    bool operator==(const IngressRule&) const = default;
};

/// networking.k8s.io/v1 IngressTLS
struct IngressTLS {
    std::vector<std::string_view> hosts;
    std::string_view secret_name;
    bool operator==(const IngressTLS&) const = default;
};

/// networking.k8s.io/v1 IngressSpec
struct IngressSpec {
    std::optional<std::string_view> ingress_class_name;
    std::optional<IngressBackend> default_backend;
    std::vector<IngressRule> rules;
    std::vector<IngressTLS> tls;
    bool operator==(const IngressSpec&) const = default;
};

/// networking.k8s.io/v1 IngressStatus
struct IngressStatus {
    LoadBalancerStatus load_balancer;
    bool operator==(const IngressStatus&) const = default;
};

/// networking.k8s.io/v1 Ingress
struct Ingress {
    ObjectMeta metadata;
    IngressSpec spec;
    IngressStatus status;
    bool operator==(const Ingress&) const = default;
};

template <>
inline constexpr Kind kind_of<Ingress> = Kind::ingress;

}  // namespace k8s_sd::inline v0::api
