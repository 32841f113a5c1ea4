#pragma once

#include "k8s_sd/detail/codec/list_watch_reader.hpp"

namespace k8s_sd::test {

/// Decodes JSON with the parser of Boost.JSON, which parses every byte, into the same models: the
/// reference for the library's own parser. Reads a body once it is complete.
std::unique_ptr<detail::Decoder> make_boost_json_decoder(std::string_view content_type,
                                                         const detail::KindSchema& schema,
                                                         detail::Scratch& scratch,
                                                         std::size_t max_object_bytes,
                                                         detail::DocumentSink& sink);

}  // namespace k8s_sd::test
