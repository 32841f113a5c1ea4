#pragma once

#include "k8s_sd/detail/base/secrets.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The secrets in an Authorization value: the part after its scheme and, for Basic, the password,
/// or the user name if the password is empty.
std::vector<CleansedBytes> secrets_of(const CleansedBytes& authorization);

/// Whether the value of a header or parameter is treated as a secret. Shorter ones are often names,
/// needed in messages.
inline bool may_be_secret(std::string_view value) noexcept { return value.size() >= 8; }

/// The secrets in header lines of the form "Name: value".
std::vector<CleansedBytes> secrets_of_headers(const CleansedBytes& lines);

/// Replaces apparent tokens of any origin, because programs print their own to standard error:
/// words of at least 20 letters and digits mixed, or of at least 32 characters.
std::string redact_tokens(std::string_view text);

/// Replaces echoes of the secrets in a text with "<redacted>": each run of 12 or more characters
/// contained in a secret, and each whole occurrence of a shorter secret (as a separate word if
/// below 8 characters). The comparison ignores case, and decodes percent-encoding and escapes of
/// JSON and HTML; in runs it also skips blanks and line breaks. The result keeps at most 64 KiB of
/// the text.
std::string redact(std::string text, const std::vector<CleansedBytes>& secrets);

}  // namespace k8s_sd::inline v0::detail
