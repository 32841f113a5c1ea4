#pragma once

#include "k8s_sd/detail/codec/projection.hpp"

#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// The wanted fields of the objects of a kind in protobuf. Lists, events and envelopes are the same
/// for all kinds, see ProtobufDecoder.
struct ProtobufSchema {
    ProtobufSchema(const Members& members, Members status_members)
        : object(project::object(members)), status(project::object(std::move(status_members))) {
        set_kind = object.member("kind")->set_text;
    }

    Projection object;
    Projection status;  ///< for a Status sent in place of an object
    /// The kind comes from the envelope around the object.
    void (*set_kind)(void* model, std::string_view kind) = nullptr;
};

}  // namespace k8s_sd::inline v0::detail
