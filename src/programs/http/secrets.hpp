#pragma once

#include <array>
#include <string>
#include <string_view>

namespace http {

/// The content of a token, key or certificate file. Refuses pipes and files of more than a
/// megabyte. \throws std::runtime_error in words, with the path
std::string read_small_file(const std::string& path);

/// A hash in place of a secret text.
using Digest = std::array<unsigned char, 32>;
Digest digest_of(std::string_view text);
/// Constant-time comparison.
bool same_secret(const Digest&, const Digest&);

/// Overwrites the text.
void forget(std::string& secret);

}  // namespace http
