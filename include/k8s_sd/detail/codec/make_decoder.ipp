#include "k8s_sd/detail/codec/json/json_decoder.hpp"
#include "k8s_sd/detail/codec/make_decoder.hpp"
#include "k8s_sd/detail/codec/media_types.hpp"
#include "k8s_sd/detail/codec/protobuf/protobuf_decoder.hpp"

namespace k8s_sd::inline v0::detail {

std::unique_ptr<Decoder> make_decoder(std::string_view content_type, const KindSchema& schema,
                                      Scratch& scratch, std::size_t max_object_bytes,
                                      DocumentSink& sink) {
    if (content_type == protobuf_media_type && !schema.json_only) {
        return std::make_unique<ProtobufDecoder>(schema.protobuf, scratch, max_object_bytes, sink);
    }
    if (!content_type.empty() && content_type != json_media_type) return nullptr;
    return std::make_unique<JsonDecoder>(schema.json, scratch, max_object_bytes, sink);
}

}  // namespace k8s_sd::inline v0::detail
