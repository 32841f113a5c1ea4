#pragma once

#include "k8s_sd/detail/codec/projection.hpp"
#include "k8s_sd/detail/codec/scratch.hpp"
#include "k8s_sd/kind.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// The wanted fields of the objects of a kind in protobuf. Lists, events and envelopes are the same
/// for all kinds, see ProtobufDecoder.
struct ProtobufSchema {
    ProtobufSchema(const Members& members, Members status_members)
        : object(project::object(members)), status(project::object(std::move(status_members))) {
        set_kind = object.member("kind")->set_text;
    }

    Projection object;
    Projection status;  ///< for a Status sent in place of an object
    /// The kind comes from the envelope around the object.
    void (*set_kind)(void* model, std::string_view kind) = nullptr;
};

/// A list in JSON, without its items.
struct JsonList {
    std::string kind, resource_version, continue_token, shard_selector;
    void* item = nullptr;  ///< destination of the decoded items, one after the other
};

/// An event in JSON.
struct JsonEvent {
    std::string_view type;
    void* object = nullptr;  ///< destination of the decoded object
};

/// The wanted fields of the lists and events of a kind.
struct JsonSchema {
    /// \param members  the wanted members of an object
    explicit JsonSchema(const Members& members)
        : JsonSchema(project::object(members), project::object(members)) {}
    /// \param item    an object in a list: a node with the object as its aggregate
    /// \param object  an object in an event: likewise
    JsonSchema(Projection item, Projection object);

    Projection list;   ///< of a JsonList
    Projection event;  ///< of a JsonEvent
};

inline JsonSchema::JsonSchema(Projection item, Projection event_object) {
    using namespace project;
    Projection items{.type = Projection::Type::array};
    items.begin = [](void* around) { return static_cast<JsonList*>(around)->item; };
    items.element.push_back(std::move(item));
    list = object({
        {"kind", text<&JsonList::kind>()},
        {"metadata", object({
                         {"resourceVersion", text<&JsonList::resource_version>()},
                         {"continue", text<&JsonList::continue_token>()},
                         {"shardInfo", object({{"selector", text<&JsonList::shard_selector>()}})},
                     })},
        {"items", std::move(items)},
    });
    event_object.begin = [](void* around) { return static_cast<JsonEvent*>(around)->object; };
    Projection type = text<&JsonEvent::type>();
    type.identity = true;  // it may follow an oversized object
    event = object({
        {"type", std::move(type)},
        {"object", std::move(event_object)},
    });
}

/// The schema for reading the objects of a kind, shared by all its watches, see schema_of().
struct KindSchema {
    Kind kind;
    std::unique_ptr<Scratch> (*make_scratch)();
    JsonSchema json;
    ProtobufSchema protobuf;
    /// The older versions of old servers, with the same list and object kinds, the newest first.
    std::span<const std::string_view> older_versions;
    /// Only the metadata is read.
    bool metadata_only = false;
    /// Some wanted fields have no field number here.
    bool json_only = false;
    /// The kind is known, but a CustomResourceDefinition defines it, perhaps later.
    bool custom = false;
};

}  // namespace k8s_sd::inline v0::detail
