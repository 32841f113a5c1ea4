#pragma once

#include "k8s_sd/kind.hpp"
#include "support/decoding.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace k8s_sd::test {

/// Decodes a body in pieces of so many bytes, and with Boost.JSON's parser.
///
/// What that accepts is to be read the same. What it refuses is to be refused, unless only what is
/// passed over is wrong: then the body without it is accepted, and read the same. What comes before
/// a mistake is read the same in any case.
///
/// \returns what they disagree about; empty: nothing
std::string json_disagreement(detail::Document document, Kind kind, std::string_view body,
                              std::size_t piece, DecodeOptions options = {});

}  // namespace k8s_sd::test
