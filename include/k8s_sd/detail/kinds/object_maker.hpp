#pragma once

#include "k8s_sd/detail/codec/event.hpp"
#include "k8s_sd/detail/kinds/object_form.hpp"
#include "k8s_sd/detail/kinds/shared/context.hpp"
#include "k8s_sd/objects/object.hpp"

namespace k8s_sd::inline v0::detail {

/// Converts decoded objects to cached ones. Used on one strand.
struct ObjectMaker {
    RoleOptions options;
    LabelFactory factory;

    /// \param form  null: stored for labels
    ObjectPtr make(const DecodedObject& object, const ObjectForm* form = nullptr);
};

}  // namespace k8s_sd::inline v0::detail
