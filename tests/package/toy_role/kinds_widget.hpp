// A kind that Kubernetes does not have, as k8s_sd/detail/kinds/widget.hpp would be.
#pragma once

#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/roles/widget.hpp"

namespace k8s_sd::inline v0::detail {

template <>
struct KindTraits<Kind::widget> {
    using Model = model::Widget;

    static Members members() {
        using namespace project;
        return object_members<Model>({
            {"spec", 2,
             object({{"host", 1, text<&Model::host>()}, {"port", 2, number<&Model::port>()}})},
        });
    }
    static ObjectPtr make(const Model& widget, const RoleOptions&, LabelFactory& factory) {
        return new WidgetObject(widget, factory);
    }
};

}  // namespace k8s_sd::inline v0::detail
