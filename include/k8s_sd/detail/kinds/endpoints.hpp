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
    static Members json_members() {
        using S = model::EndpointSubset;
        using A = model::EndpointAddress;
        using P = model::EndpointPort;
        using namespace project;
        const Members address{
            {"ip", text<&A::ip>()},
            {"hostname", text<&A::hostname>()},
            {"nodeName", text<&A::node_name>()},
            {"targetRef", target_reference<&A::target>()},
        };
        return object_members<model::Endpoints>({
            {"subsets", array<&model::Endpoints::subsets>({
                {"addresses", array<&S::addresses>(address)},
                {"notReadyAddresses", array<&S::not_ready_addresses>(address)},
                {"ports", array<&S::ports>({
                    {"name", text<&P::name>()},
                    {"port", number<&P::number>()},
                    {"protocol", text<&P::protocol>()},
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
