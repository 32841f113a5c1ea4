#pragma once

#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/objects/model/ingress.hpp"
#include "k8s_sd/detail/roles/ingress.hpp"

namespace k8s_sd::inline v0::detail {

template <>
struct KindTraits<Kind::ingress> {
    using Model = model::Ingress;
    static constexpr std::string_view older_version = "v1beta1";  // before Kubernetes 1.19

    // Laid out by hand: one field a line, as deep as the document.
    // clang-format off
    static Members members() {
        using I = model::Ingress;
        using R = model::IngressRule;
        using namespace project;
        return object_members<I>({
            {"spec", 2, object({
                {"ingressClassName", 4, text<&I::class_name>()},
                {"rules", 3, array<&I::rules>({
                    {"host", 1, text<&R::host>()},
                    {"http", {2, 1}, presence<&R::has_http>({
                        {"paths", 1, array<&R::paths>({{"path", 1, text<&model::IngressPath::path>()}})},
                    })},
                })},
                {"tls", 2, array<&I::tls>({{"hosts", 1, texts<&model::IngressTls::hosts>()}})},
            })},
        });
    }
    // clang-format on

    static ObjectPtr make(const Model& ingress, const RoleOptions& options, LabelFactory& factory) {
        return new IngressObject(ingress, options, factory);
    }
};

}  // namespace k8s_sd::inline v0::detail
