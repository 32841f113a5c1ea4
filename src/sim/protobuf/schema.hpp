#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace k8s_sd::inline v0::sim {

/// The type of a protobuf field, and its representation in JSON.
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

/// When Go encodes a field.
enum class Presence {
    always,    ///< even zero: no pointer
    when_set,  ///< a pointer
    list,      ///< repeated, in its order
    map,       ///< entries {1 key, 2 value}, sorted by key
    inlined,   ///< always; JSON has the message's fields in the object itself
};

struct Field;

/// The fields of a message by number, in Go's order of encoding. Refers to an array with static
/// lifetime.
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
    Message message = {};  ///< for a field of message type
};

/// The message of a built-in kind in a version of its group, and of Status. An unknown version has
/// the fields of v1. Without fields for an unknown kind.
Message find_message(std::string_view version, std::string_view kind);

/// The fields of PartialObjectMetadata.
Message partial_metadata_message();
/// The metadata of all lists.
Message list_meta_message();

}  // namespace k8s_sd::inline v0::sim
