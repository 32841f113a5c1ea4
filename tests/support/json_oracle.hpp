#pragma once

#include "k8s_sd/kind.hpp"
#include "support/decoding.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace k8s_sd::test {

/// Decodes a body in pieces of this size, and with Boost.JSON's parser.
///
/// If Boost.JSON accepts the body, the results must be equal. If it refuses the body, the library
/// must refuse it too, unless the error is in a skipped value: then the body without skipped values
/// must be accepted, with the same result. The results before an error are always equal.
///
/// \returns the disagreement; empty: none
std::string json_disagreement(detail::Document document, Kind kind, std::string_view body,
                              std::size_t piece, DecodeOptions options = {});

}  // namespace k8s_sd::test
