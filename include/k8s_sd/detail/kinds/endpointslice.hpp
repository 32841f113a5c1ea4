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
    static Members members() {
        using S = model::EndpointSlice;
        using E = model::Endpoint;
        using C = model::EndpointConditions;
        using P = model::SlicePort;
        using namespace project;
        return object_members<S>({
            {"addressType", 4, text<&S::address_type>()},
            {"endpoints", 2, array<&S::endpoints>({
                {"addresses", 1, texts<&E::addresses>()},
                {"conditions", 2, object<&E::conditions>({
                    {"ready", 1, boolean<&C::ready>()},
                    {"serving", 2, boolean<&C::serving>()},
                    {"terminating", 3, boolean<&C::terminating>()},
                })},
                {"hostname", 3, text<&E::hostname>()},
                {"nodeName", 6, text<&E::node_name>()},
                {"zone", 7, text<&E::zone>()},
                {"deprecatedTopology", 5, map<&E::deprecated_topology>()},
                {"topology", map<&E::topology>()},  // v1beta1
                {"targetRef", 4, target_reference<&E::target>()},
            })},
            {"ports", 3, array<&S::ports>({
                {"name", 1, text<&P::name>()},
                {"protocol", 2, text<&P::protocol>()},
                {"port", 3, number<&P::number>()},
                {"appProtocol", 4, text<&P::app_protocol>()},
            })},
        });
    }
    // clang-format on

    static ObjectPtr make(const Model& slice, const RoleOptions& options, LabelFactory& factory) {
        return new EndpointSliceObject(slice, options, factory);
    }
};

}  // namespace k8s_sd::inline v0::detail
