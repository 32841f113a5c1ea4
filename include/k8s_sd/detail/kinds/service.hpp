#pragma once

#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/objects/model/service.hpp"
#include "k8s_sd/detail/roles/service.hpp"

namespace k8s_sd::inline v0::detail {

template <>
struct KindTraits<Kind::service> {
    using Model = model::Service;

    // Laid out by hand: one field a line, as deep as the document.
    // clang-format off
    static Members members() {
        using S = model::Service;
        using P = model::ServicePort;
        using namespace project;
        return object_members<S>({
            {"spec", 2, object({
                {"type", 4, text<&S::type>()},
                {"clusterIP", 3, text<&S::cluster_ip>()},
                {"externalName", 10, text<&S::external_name>()},
                {"loadBalancerIP", 8, text<&S::load_balancer_ip>()},
                {"ports", 1, array<&S::ports>({
                    {"name", 1, text<&P::name>()},
                    {"protocol", 2, text<&P::protocol>()},
                    {"port", 3, number<&P::number>()},
                })},
            })},
        });
    }
    // clang-format on

    static ObjectPtr make(const Model& service, const RoleOptions& options, LabelFactory& factory) {
        return new ServiceObject(service, options, factory);
    }
};

}  // namespace k8s_sd::inline v0::detail
