// A kind unknown to Kubernetes, in the form of k8s_sd/detail/kinds/widget.hpp.
#pragma once

#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/roles/widget.hpp"

namespace k8s_sd::inline v0::detail {

template <>
struct Table<WidgetSpec> {
    static constexpr std::tuple rows{
        Row<&WidgetSpec::host>{"host", 1, Use::labels},
        Row<&WidgetSpec::port>{"port", 2, Use::labels},
    };
};

template <>
struct KindTraits<Kind::widget> {
    using Model = Widget;
    using LabelObject = WidgetObject;
    static constexpr std::tuple rows{
        Row<&Widget::metadata>{"metadata", 1, Use::always},
        Row<&Widget::spec>{"spec", 2, Use::labels},
    };
};

}  // namespace k8s_sd::inline v0::detail
