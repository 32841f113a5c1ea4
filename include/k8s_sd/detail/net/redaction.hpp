#pragma once

#include "k8s_sd/detail/base/cleansed_bytes.hpp"

#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// What of a value of the Authorization header must reach no text: what follows its
/// scheme and, for Basic, what that encodes.
std::vector<CleansedBytes> secrets_of(const CleansedBytes& authorization);

/// Replaces in a foreign text what echoes one of the secrets with "<redacted>": each run of 12 or
/// more characters that is a part of one, and a shorter secret where it stands whole. Upper and
/// lower case are the same. Percent-encoded characters, escapes of JSON and line breaks in between
/// are seen through. At most 64 KiB of the text are kept.
std::string redact(std::string text, const std::vector<CleansedBytes>& secrets);

}  // namespace k8s_sd::inline v0::detail
