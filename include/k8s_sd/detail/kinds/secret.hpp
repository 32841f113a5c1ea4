#pragma once

#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/objects/data_object_maker.hpp"
#include "k8s_sd/detail/objects/model/data_map.hpp"

namespace k8s_sd::inline v0::detail {

template <>
struct KindTraits<Kind::secret> {
    using Model = model::DataMap;

    // Laid out by hand: one field a line, as deep as the document.
    // clang-format off
    static Members members() {
        using D = Model;
        using namespace project;
        // Not the annotations: one may hold a copy of the data (last-applied-configuration).
        return object_members<D>({
            {"type", 3, text<&D::type>()},
            {"immutable", 5, boolean<&D::immutable>()},
            {"data", 2, byte_map<&D::data>()},
        }, MetadataFields::identity);
    }
    // clang-format on

    static ObjectPtr make(const Model& secret, const RoleOptions&, LabelFactory&) {
        return make_data_object(Kind::secret, secret);
    }
};

}  // namespace k8s_sd::inline v0::detail
