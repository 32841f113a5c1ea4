#pragma once

#include "k8s_sd/api/config_map.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/objects/data_object_maker.hpp"

namespace k8s_sd::inline v0::detail {

template <>
struct KindTraits<Kind::configmap> {
    using Model = api::ConfigMap;
    static constexpr Use labels = Use::data;
    static constexpr FieldRows rows{
        Row<&Model::metadata>{"metadata", 1, Use::always},
        Row<&Model::data>{"data", 2, Use::data},
        Row<&Model::binary_data>{"binaryData", 3, Use::data, Format::base64},
        Row<&Model::immutable>{"immutable", 4, Use::data},
    };

    static ObjectPtr make(const Model& map) { return DataObjectMaker::make(map); }
};

}  // namespace k8s_sd::inline v0::detail
