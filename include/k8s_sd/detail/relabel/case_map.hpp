#pragma once

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Appends the text in upper (lower) case, as Go's strings.ToUpper (ToLower): simple case mapping
/// character by character, independent of the locale; each invalid UTF-8 byte becomes U+FFFD.
void append_upper(std::string& result, std::string_view text);
void append_lower(std::string& result, std::string_view text);

}  // namespace k8s_sd::inline v0::detail
