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
    static Members json_members() {
        using I = model::Ingress;
        using R = model::IngressRule;
        using namespace project;
        return object_members<I>({
            {"spec", object({
                {"ingressClassName", text<&I::class_name>()},
                {"rules", array<&I::rules>({
                    {"host", text<&R::host>()},
                    {"http", presence<&R::has_http>({
                        {"paths", array<&R::paths>({{"path", text<&model::IngressPath::path>()}})},
                    })},
                })},
                {"tls", array<&I::tls>({{"hosts", texts<&model::IngressTls::hosts>()}})},
            })},
        });
    }
    // clang-format on

    static ObjectPtr make(const Model& ingress, const RoleOptions& options, LabelFactory& factory) {
        return new IngressObject(ingress, options, factory);
    }
};

}  // namespace k8s_sd::inline v0::detail
