#pragma once

#include "k8s_sd/detail/codec/decoder.hpp"
#include "k8s_sd/detail/codec/kind_schema.hpp"

#include <cstddef>
#include <memory>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The decoder for a content type (in lower case, without parameters); null if there is none. A
/// body without a type is read as JSON; the parser detects anything else.
std::unique_ptr<Decoder> make_decoder(std::string_view content_type, const KindSchema& schema,
                                      Scratch& scratch, std::size_t max_object_bytes,
                                      DocumentSink& sink);

using MakeDecoder = decltype(&make_decoder);

}  // namespace k8s_sd::inline v0::detail
