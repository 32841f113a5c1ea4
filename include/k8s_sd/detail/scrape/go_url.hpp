#pragma once

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The error of Go's url.Parse; empty: a valid URL. (Without its strict rule about colons in hosts,
/// like vmagent.)
std::string go_url_problem(std::string_view url);

}  // namespace k8s_sd::inline v0::detail
