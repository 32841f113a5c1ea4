#pragma once

#include "k8s_sd/detail/codec/projection.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd::inline v0::detail {

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

}  // namespace k8s_sd::inline v0::detail
