#pragma once

#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/objects/data_object_maker.hpp"
#include "k8s_sd/detail/objects/model/data_map.hpp"

namespace k8s_sd::inline v0::detail {

template <>
struct KindTraits<Kind::secret> {
    using Model = model::DataMap;
    // Not the annotations: one may hold a copy of the data (last-applied-configuration).
    static constexpr Use labels = Use::always;
    static constexpr std::tuple rows{
        Row<&Model::metadata>{"metadata", 1, Use::always},
        Row<&Model::data>{"data", 2, Use::always, Format::base64},
        Row<&Model::type>{"type", 3, Use::always},
        Row<&Model::immutable>{"immutable", 5, Use::always},
    };

    static ObjectPtr make(const Model& secret) { return make_data_object(Kind::secret, secret); }
};

}  // namespace k8s_sd::inline v0::detail
