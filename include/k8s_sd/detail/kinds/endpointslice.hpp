#pragma once

#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/codec/target_reference.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/objects/model/endpoint_slice.hpp"
#include "k8s_sd/detail/roles/endpointslice.hpp"

namespace k8s_sd::inline v0::detail {

template <>
struct KindTraits<Kind::endpointslice> {
    using Model = model::EndpointSlice;
    static constexpr std::string_view older_version = "v1beta1";  // before Kubernetes 1.21

    // Laid out by hand: one field a line, as deep as the document.
    // clang-format off
    static Members json_members() {
        using S = model::EndpointSlice;
        using E = model::Endpoint;
        using C = model::EndpointConditions;
        using P = model::SlicePort;
        using namespace project;
        return object_members<S>({
            {"addressType", text<&S::address_type>()},
            {"endpoints", array<&S::endpoints>({
                {"addresses", texts<&E::addresses>()},
                {"conditions", object<&E::conditions>({
                    {"ready", boolean<&C::ready>()},
                    {"serving", boolean<&C::serving>()},
                    {"terminating", boolean<&C::terminating>()},
                })},
                {"hostname", text<&E::hostname>()},
                {"nodeName", text<&E::node_name>()},
                {"zone", text<&E::zone>()},
                {"deprecatedTopology", map<&E::deprecated_topology>()},
                {"topology", map<&E::topology>()},
                {"targetRef", target_reference<&E::target>()},
            })},
            {"ports", array<&S::ports>({
                {"name", text<&P::name>()},
                {"protocol", text<&P::protocol>()},
                {"port", number<&P::number>()},
                {"appProtocol", text<&P::app_protocol>()},
            })},
        });
    }
    // clang-format on

    static ObjectPtr make(const Model& slice, const RoleOptions& options, LabelFactory& factory) {
        return new EndpointSliceObject(slice, options, factory);
    }
};

}  // namespace k8s_sd::inline v0::detail
