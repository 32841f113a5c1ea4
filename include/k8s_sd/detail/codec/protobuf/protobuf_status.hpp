#pragma once

#include "k8s_sd/detail/codec/server_status.hpp"

#include <optional>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The Status in the body of an error response; nullopt if the body is not a Status in protobuf.
/// Members of the wrong type are skipped.
std::optional<ServerStatus> read_protobuf_status(std::string_view body);

}  // namespace k8s_sd::inline v0::detail
