#pragma once

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Foreign text in a message: one line of printable characters, not too long.
std::string printable(std::string_view text);

}  // namespace k8s_sd::inline v0::detail
