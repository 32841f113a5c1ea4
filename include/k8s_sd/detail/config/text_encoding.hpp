#pragma once

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The content of a text file as UTF-8 without byte order mark: of UTF-8, and of UTF-16 with such a
/// mark, which some programs of Windows write. What is not well-formed UTF-16 becomes something
/// that is not well-formed UTF-8.
std::string text_of_file(std::string_view bytes);

}  // namespace k8s_sd::inline v0::detail
