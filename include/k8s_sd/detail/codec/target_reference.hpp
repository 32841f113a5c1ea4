#pragma once

#include "k8s_sd/detail/codec/projection.hpp"
#include "k8s_sd/detail/objects/model/endpoints.hpp"

namespace k8s_sd::inline v0::detail {

/// The object behind an address. That there is a reference counts, even if it is empty.
template <auto Pointer>
Projection target_reference() {
    using R = model::TargetReference;
    using namespace project;
    Projection node = object({
        {"kind", 1, text<&R::kind>()},
        {"namespace", 2, text<&R::ns>()},
        {"name", 3, text<&R::name>()},
    });
    node.begin = [](void* around) -> void* {
        R& reference = field<Pointer>(around);
        reference.present = true;
        return &reference;
    };
    return node;
}

}  // namespace k8s_sd::inline v0::detail
