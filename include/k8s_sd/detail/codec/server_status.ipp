#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/codec/event.hpp"
#include "k8s_sd/detail/codec/json/json_parser.hpp"
#include "k8s_sd/detail/codec/json/json_projector.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/codec/protobuf/protobuf_envelope.hpp"
#include "k8s_sd/detail/codec/protobuf/protobuf_projector.hpp"
#include "k8s_sd/detail/codec/scratch.hpp"
#include "k8s_sd/detail/text/json_text.hpp"
#include "k8s_sd/detail/text/utf8.hpp"

#include <limits>
#include <string>

namespace k8s_sd::inline v0::detail {

namespace {

/// The status is taken after the whole body, not at the end of the document.
struct IgnoredRecords final : RecordSink {
    void on_record() override {}
};

bool is_json_space(std::string_view bytes) noexcept {
    return bytes.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

std::optional<ServerStatus> read_json_status(std::string_view body) {
    // Every object is parsed with the members of a Status, because one may be sent in its place.
    static const Immortal<Projection> projection(
        project::object(object_members<model::MetadataOnly>(
            FieldRows{Row<&model::MetadataOnly::metadata>{"metadata", 1, Use::always}},
            {Use::always, {}})));
    body = without_byte_order_mark(body);
    const std::size_t start = body.find_first_not_of(" \t\r\n");
    if (start == std::string_view::npos || body[start] != '{') return std::nullopt;
    const std::string json = without_lone_surrogates(body.substr(start));
    TextArena arena;
    IgnoredRecords records;
    model::Document<model::MetadataOnly> document;
    JsonParser<JsonProjector> parser(arena, std::numeric_limits<std::size_t>::max(),
                                     static_cast<RecordSink&>(records));
    parser.handler().start(*projection, static_cast<model::MetadataOnly*>(&document), nullptr);
    const std::size_t used = parser.feed(json);
    if (!parser.done() || !is_json_space(std::string_view(json).substr(used))) return std::nullopt;
    return to_server_status(document.status);
}

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
