#pragma once

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Converts a text file to UTF-8 without byte order mark: from UTF-8, or from UTF-16 with such a
/// mark, as written by some Windows programs. Malformed UTF-16 becomes malformed UTF-8.
std::string text_of_file(std::string_view bytes);

}  // namespace k8s_sd::inline v0::detail
