#pragma once

#include <string_view>

/// The media types of objects in HTTP: in lower case, without parameters.
namespace k8s_sd::inline v0::detail {

inline constexpr std::string_view json_media_type = "application/json";
inline constexpr std::string_view protobuf_media_type = "application/vnd.kubernetes.protobuf";

}  // namespace k8s_sd::inline v0::detail
