#pragma once

#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/objects/model/node.hpp"
#include "k8s_sd/detail/roles/node.hpp"

namespace k8s_sd::inline v0::detail {

template <>
struct KindTraits<Kind::node> {
    using Model = model::Node;

    // Laid out by hand: one field a line, as deep as the document.
    // clang-format off
    static Members members() {
        using N = model::Node;
        using A = model::NodeAddress;
        using namespace project;
        return object_members<N>({
            {"spec", 2, object({{"providerID", 3, text<&N::provider_id>()}})},
            {"status", 3, object({
                {"addresses", 5, array<&N::addresses>({
                    {"type", 1, text<&A::type>()},
                    {"address", 2, text<&A::address>()},
                })},
                {"daemonEndpoints", 6, object({
                    {"kubeletEndpoint", 1, object({{"Port", 1, number<&N::kubelet_port>()}})},
                })},
            })},
        });
    }
    // clang-format on

    static ObjectPtr make(const Model& node, const RoleOptions& options, LabelFactory& factory) {
        return new NodeObject(node, options, factory);
    }
};

}  // namespace k8s_sd::inline v0::detail
