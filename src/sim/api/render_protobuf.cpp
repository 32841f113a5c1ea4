#include "sim/api/render_protobuf.hpp"

#include "sim/api/json_version.hpp"
#include "sim/protobuf/encode.hpp"
#include "sim/store/json_access.hpp"

#include <boost/json/parse.hpp>

namespace k8s_sd::inline v0::sim::as_protobuf {
namespace json = boost::json;
namespace {

struct TypeMeta {
    std::string api_version;
    std::string kind;
};

TypeMeta type_meta_of(const ResourceType& type, const Encoding& encoding) {
    if (encoding.form == Form::metadata) return {"meta.k8s.io/v1", "PartialObjectMetadata"};
    return {type.api_version(encoding.version), std::string(type.kind)};
}

Message message_of(const ResourceType& type, const Encoding& encoding) {
    if (encoding.form == Form::metadata) return partial_metadata_message();
    return find_message(encoding.version, type.kind);
}

std::string encode(const ResourceType& type, const json::object& object, const Encoding& encoding) {
    return encode_protobuf(message_of(type, encoding), object);
}

/// Encoded once for all clients of the whole object in its own version.
std::string encode(const Object& object, const Encoding& encoding) {
    const ResourceType& type = object.type();
    if (encoding.form == Form::object && type.is_own(encoding.version)) return object.protobuf();
    const std::string text = in_version(object.text(), type, encoding.version);
    return encode(type, json::parse(text).as_object(), encoding);
}

std::string body(const TypeMeta& meta, std::string_view message) {
    return protobuf_body(meta.api_version, meta.kind, message);
}

std::string encode(const ListMetadata& metadata) {
    json::object object{{"resourceVersion", std::to_string(metadata.version)},
                        {"continue", metadata.continue_token}};
    if (metadata.remaining) object["remainingItemCount"] = *metadata.remaining;
    if (!metadata.shard.empty()) object["shardInfo"] = {{"selector", metadata.shard}};
    return encode_protobuf(list_meta_message(), object);
}

}  // namespace

std::string render_list(const ResourceType& type, const ListMetadata& metadata,
                        std::span<const ObjectPtr> objects, const Encoding& encoding) {
    ListMessage list(encode(metadata));
    for (const ObjectPtr& object : objects) list.add(encode(*object, encoding));
    TypeMeta meta = type_meta_of(type, encoding);
    meta.kind += "List";
    return body(meta, list.bytes());
}

std::string render_object(const Object& object, const Encoding& encoding) {
    return body(type_meta_of(object.type(), encoding), encode(object, encoding));
}

std::string render_status(const json::object& status) {
    return body({"v1", "Status"}, encode_protobuf(find_message("v1", "Status"), status));
}

void append_event(std::string& out, std::string_view type, const Object& object,
                  const Encoding& encoding) {
    append_protobuf_frame(out, type, as_protobuf::render_object(object, encoding));
}

void append_bookmark(std::string& out, const ResourceType& type, std::uint64_t version,
                     bool initial_end, const Encoding& encoding) {
    json::object metadata{{"resourceVersion", std::to_string(version)}};
    if (initial_end) metadata["annotations"] = {{"k8s.io/initial-events-end", "true"}};
    const std::string message = encode(type, {{"metadata", std::move(metadata)}}, encoding);
    append_protobuf_frame(out, "BOOKMARK", body(type_meta_of(type, encoding), message));
}

void append_error(std::string& out, const json::object& status) {
    append_protobuf_frame(out, "ERROR", render_status(status));
}

void append_recorded(std::string& out, std::string_view line, const ResourceType& type,
                     const Encoding& encoding) {
    boost::system::error_code ec;
    const json::value event = json::parse(line, ec);
    const json::object* root = ec ? nullptr : event.if_object();
    const json::value* value = root ? root->if_contains("object") : nullptr;
    const json::object* object = value ? value->if_object() : nullptr;
    if (!object) {
        out += line;
        return;
    }
    const std::string answer =
        text_at(*object, "kind") == "Status"
            ? render_status(*object)
            : body(type_meta_of(type, encoding), encode(type, *object, encoding));
    append_protobuf_frame(out, text_at(*root, "type"), answer);
}

}  // namespace k8s_sd::inline v0::sim::as_protobuf
