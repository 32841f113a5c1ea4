#include "k8s_sd/detail/base/immortal.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/codec/protobuf/protobuf_envelope.hpp"
#include "k8s_sd/detail/codec/protobuf/protobuf_projector.hpp"
#include "k8s_sd/detail/codec/protobuf/protobuf_status.hpp"
#include "k8s_sd/detail/codec/text_arena.hpp"

#include <limits>

namespace k8s_sd::inline v0::detail {

std::optional<ServerStatus> read_protobuf_status(std::string_view body) {
    static const Immortal<Projection> projection(
        project::object(status_members<model::MetadataOnly>()));
    const auto envelope = read_envelope(body);
    if (!envelope || envelope->kind != "Status") return std::nullopt;
    TextArena arena;
    model::Document<model::MetadataOnly> document;
    ProtobufProjector projector(arena, std::numeric_limits<std::size_t>::max());
    projector.read(*projection, static_cast<model::MetadataOnly*>(&document), envelope->object);
    return to_server_status(document.status);
}

}  // namespace k8s_sd::inline v0::detail
