#pragma once

#include "k8s_sd/detail/codec/json/json_schema.hpp"
#include "k8s_sd/detail/codec/protobuf/protobuf_schema.hpp"
#include "k8s_sd/detail/codec/scratch.hpp"
#include "k8s_sd/kind.hpp"

#include <memory>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The schema for reading the objects of a kind, shared by all its watches, see schema_of().
struct KindSchema {
    Kind kind;
    std::unique_ptr<Scratch> (*make_scratch)();
    JsonSchema json;
    ProtobufSchema protobuf;
    /// The older version of old servers, with the same list and object kinds; empty: none.
    std::string_view older_version;
    /// Only the metadata is read.
    bool metadata_only = false;
    /// Some wanted fields have no field number here.
    bool json_only = false;
};

}  // namespace k8s_sd::inline v0::detail
