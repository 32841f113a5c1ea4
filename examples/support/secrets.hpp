#pragma once

#include <array>
#include <string>
#include <string_view>

namespace support {

/// The content of a file of a token, key or certificate. Pipes and files of more than a megabyte
/// are refused. \throws std::runtime_error in words, with the path
std::string read_small_file(const std::string& path);

/// Stands for a text that shall not be kept.
using Digest = std::array<unsigned char, 32>;
Digest digest_of(std::string_view text);
/// In the same time wherever they differ.
bool same_secret(const Digest&, const Digest&);

/// Overwrites it.
void forget(std::string& secret);

}  // namespace support
