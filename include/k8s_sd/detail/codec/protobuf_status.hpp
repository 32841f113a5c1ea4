#pragma once

#include "k8s_sd/detail/codec/server_status.hpp"

#include <optional>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The Status in the body of an answer that is an error; nothing where the body is none in
/// protobuf. What is of the wrong type in it is passed over.
std::optional<ServerStatus> read_protobuf_status(std::string_view body);

}  // namespace k8s_sd::inline v0::detail
