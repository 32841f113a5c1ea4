#pragma once

#include "k8s_sd/api/secret.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/objects/data_object_maker.hpp"

#include <string_view>

namespace k8s_sd::inline v0::detail {

template <>
struct KindTraits<Kind::secret> {
    using Model = api::Secret;
    static constexpr Use labels = Use::data;
    // An annotation (last-applied-configuration) may contain a copy of the data.
    static constexpr std::string_view only_by_name = "metadata.annotations";
    static constexpr FieldRows rows{
        Row<&Model::metadata>{"metadata", 1, Use::always},
        Row<&Model::data>{"data", 2, Use::data, Format::base64},
        Row<&Model::type>{"type", 3, Use::data},
        Row<&Model::immutable>{"immutable", 5, Use::data},
    };

    static ObjectPtr make(const Model& secret) { return DataObjectMaker::make(secret); }
};

}  // namespace k8s_sd::inline v0::detail
