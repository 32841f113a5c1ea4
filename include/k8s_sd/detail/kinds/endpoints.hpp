#pragma once

#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/codec/target_reference.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/objects/model/endpoints.hpp"
#include "k8s_sd/detail/roles/endpoints.hpp"

namespace k8s_sd::inline v0::detail {

template <>
struct KindTraits<Kind::endpoints> {
    using Model = model::Endpoints;

    // Laid out by hand: one field a line, as deep as the document.
    // clang-format off
    static Members members() {
        using S = model::EndpointSubset;
        using A = model::EndpointAddress;
        using P = model::EndpointPort;
        using namespace project;
        const Members address{
            {"ip", 1, text<&A::ip>()},
            {"hostname", 3, text<&A::hostname>()},
            {"nodeName", 4, text<&A::node_name>()},
            {"targetRef", 2, target_reference<&A::target>()},
        };
        return object_members<model::Endpoints>({
            {"subsets", 2, array<&model::Endpoints::subsets>({
                {"addresses", 1, array<&S::addresses>(address)},
                {"notReadyAddresses", 2, array<&S::not_ready_addresses>(address)},
                {"ports", 3, array<&S::ports>({
                    {"name", 1, text<&P::name>()},
                    {"port", 2, number<&P::number>()},
                    {"protocol", 3, text<&P::protocol>()},
                })},
            })},
        });
    }
    // clang-format on

    static ObjectPtr make(const Model& endpoints, const RoleOptions& options,
                          LabelFactory& factory) {
        return new EndpointsObject(endpoints, options, factory);
    }
};

}  // namespace k8s_sd::inline v0::detail
