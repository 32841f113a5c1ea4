#pragma once

#include "k8s_sd/detail/codec/json_schema.hpp"
#include "k8s_sd/detail/codec/protobuf_schema.hpp"
#include "k8s_sd/detail/codec/scratch.hpp"
#include "k8s_sd/kind.hpp"

#include <memory>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// What reading the objects of a kind takes. One for all watches of the kind, see schema_of().
struct KindSchema {
    Kind kind;
    std::unique_ptr<Scratch> (*make_scratch)();
    JsonSchema json;
    ProtobufSchema protobuf;
    /// In which old servers have the kind, with the same list and object kinds; empty: in none.
    std::string_view older_version;
    /// Nothing but the metadata is read.
    bool metadata_only = false;
    /// Fields are read that have no numbers here.
    bool json_only = false;
};

}  // namespace k8s_sd::inline v0::detail
