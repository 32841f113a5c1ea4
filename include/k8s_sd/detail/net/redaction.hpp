#pragma once

#include "k8s_sd/detail/base/cleansed_bytes.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// What of a value of the Authorization header must reach no text: what follows its
/// scheme and, for Basic, the password in it, or the user's name if there is none.
std::vector<CleansedBytes> secrets_of(const CleansedBytes& authorization);

/// Whether the value of a header is taken for a secret: shorter ones are often names, which
/// messages need.
inline bool is_secret_header(std::string_view value) noexcept { return value.size() >= 8; }

/// The secrets in lines of headers, "Name: value" each.
std::vector<CleansedBytes> secrets_of_headers(const CleansedBytes& lines);

/// Replaces what looks like a token, whoever's it is: programs print their own to standard error. A
/// word of at least 20 letters and digits mixed, or of at least 32 characters.
std::string redact_tokens(std::string_view text);

/// Replaces in a foreign text what echoes one of the secrets with "<redacted>": each run of 12 or
/// more characters that is a part of one, and a shorter secret where it stands whole, as a word of
/// its own if it has less than 8 characters. Upper and lower case are the same. Percent-encoded
/// characters, escapes of JSON and HTML and, in a run, blanks and line breaks are seen through. At
/// most 64 KiB of the text are kept.
std::string redact(std::string text, const std::vector<CleansedBytes>& secrets);

}  // namespace k8s_sd::inline v0::detail
