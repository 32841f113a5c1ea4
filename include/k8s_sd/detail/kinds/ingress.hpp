#pragma once

#include "k8s_sd/api/ingress.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/kinds/shared/load_balancer.hpp"
#include "k8s_sd/detail/roles/ingress.hpp"

namespace k8s_sd::inline v0::detail {

// The tables are laid out by hand: one field a line.
// clang-format off

template <>
struct Table<api::ServiceBackendPort> {
    using P = api::ServiceBackendPort;
    static constexpr std::tuple rows{
        Row<&P::name>{"name", 1},
        Row<&P::number>{"number", 2},
    };
};

template <>
struct Table<api::IngressServiceBackend> {
    using B = api::IngressServiceBackend;
    static constexpr std::tuple rows{
        Row<&B::name>{"name", 1},
        Row<&B::port>{"port", 2},
    };
};

template <>
struct Table<api::IngressBackend> {
    static constexpr std::tuple rows{Row<&api::IngressBackend::service>{"service", 4}};
};

template <>
struct Table<api::HTTPIngressPath> {
    using P = api::HTTPIngressPath;
    static constexpr std::tuple rows{
        Row<&P::path>{"path", 1, Use::labels},
        Row<&P::backend>{"backend", 2},
        Row<&P::path_type>{"pathType", 3},
    };
};

template <>
struct Table<api::HTTPIngressRuleValue> {
    static constexpr std::tuple rows{
        Row<&api::HTTPIngressRuleValue::paths>{"paths", 1, Use::labels},
    };
};

template <>
struct Table<api::IngressRule> {
    using R = api::IngressRule;
    static constexpr std::tuple rows{
        Row<&R::host>{"host", 1, Use::labels},
        Inlined{2, std::tuple{Row<&R::http>{"http", 1, Use::labels}}},
    };
};

template <>
struct Table<api::IngressTLS> {
    using T = api::IngressTLS;
    static constexpr std::tuple rows{
        Row<&T::hosts>{"hosts", 1, Use::labels},
        Row<&T::secret_name>{"secretName", 2},
    };
};

template <>
struct Table<api::IngressSpec> {
    using S = api::IngressSpec;
    static constexpr std::tuple rows{
        Row<&S::default_backend>{"defaultBackend", 1},
        Row<&S::tls>{"tls", 2, Use::labels},
        Row<&S::rules>{"rules", 3, Use::labels},
        Row<&S::ingress_class_name>{"ingressClassName", 4, Use::labels},
    };
};

template <>
struct Table<api::IngressStatus> {
    static constexpr std::tuple rows{
        Row<&api::IngressStatus::load_balancer>{"loadBalancer", 1},
    };
};

template <>
struct KindTraits<Kind::ingress> {
    using Model = api::Ingress;
    using LabelObject = IngressObject;
    static constexpr std::string_view older_versions[]{"v1beta1"};  // before Kubernetes 1.19
    static constexpr std::tuple rows{
        Row<&Model::metadata>{"metadata", 1, Use::always},
        Row<&Model::spec>{"spec", 2, Use::labels},
        Row<&Model::status>{"status", 3},
    };
};

// clang-format on

}  // namespace k8s_sd::inline v0::detail
