#pragma once

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Why Go's url.Parse refuses a text; empty: it takes it. (With the strict rule about colons in
/// hosts off, as vmagent has it.)
std::string go_url_problem(std::string_view url);

}  // namespace k8s_sd::inline v0::detail
