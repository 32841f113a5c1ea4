#pragma once

#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Appends the text with each character in its simple upper (lower) case, as Go's strings.ToUpper
/// (ToLower) make it: one character for one, whatever the locale; each byte that is not UTF-8
/// becomes U+FFFD.
void append_upper(std::string& result, std::string_view text);
void append_lower(std::string& result, std::string_view text);

}  // namespace k8s_sd::inline v0::detail
