#pragma once

#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/objects/data_object_maker.hpp"
#include "k8s_sd/detail/objects/model/data_map.hpp"

namespace k8s_sd::inline v0::detail {

template <>
struct KindTraits<Kind::configmap> {
    using Model = model::DataMap;
    static constexpr Use labels = Use::always;
    static constexpr std::tuple rows{
        Row<&Model::metadata>{"metadata", 1, Use::always},
        Row<&Model::data>{"data", 2, Use::always},
        Row<&Model::data>{"binaryData", 3, Use::always, Format::base64},
        Row<&Model::immutable>{"immutable", 4, Use::always},
    };

    static ObjectPtr make(const Model& map) { return make_data_object(Kind::configmap, map); }
};

}  // namespace k8s_sd::inline v0::detail
