#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// What a field of a protobuf message is, beside how JSON writes it.
enum class FieldKind {
    text,
    bytes,          ///< JSON: base64
    integer,        ///< int32 or int64
    boolean,        ///<
    message,        ///< JSON: an object
    time,           ///< meta.v1.Time and MicroTime. JSON: RFC 3339
    quantity,       ///< JSON: text or number
    int_or_string,  ///< JSON: either
    json,           ///< FieldsV1: the JSON text itself
};

/// When Go writes a field.
enum class Presence {
    always,    ///< zero, too: it is no pointer
    when_set,  ///< a pointer
    list,      ///< repeated, in its order
    map,       ///< entries {1 key, 2 value}, sorted by key
    inlined,   ///< always; JSON has the message's fields in the object itself
};

struct Field;

/// The fields of a message by their numbers, which is the order Go writes them in. Refers to an
/// array that lives for ever.
class Message {
 public:
    constexpr Message() = default;
    template <std::size_t size>
    constexpr Message(const std::array<Field, size>& fields)
        : begin_(fields.data()), end_(fields.data() + size) {}

    const Field* begin() const { return begin_; }
    const Field* end() const { return end_; }

 private:
    const Field* begin_ = nullptr;
    const Field* end_ = nullptr;
};

struct Field {
    std::uint32_t number;
    std::string_view name;  ///< in JSON
    FieldKind kind;
    Presence presence = Presence::always;
    Message message = {};  ///< its own message, if it is one
};

/// The message of a kind that is built in, in a version of its group; Status, too. An unknown
/// version has the fields of v1. Without fields for an unknown kind.
Message find_message(std::string_view version, std::string_view kind);

/// What PartialObjectMetadata consists of.
Message partial_metadata_message();
/// What all lists have before their items.
Message list_meta_message();

}  // namespace k8s_sd::inline v0::sim
