#pragma once

#include "k8s_sd/detail/text/rfc3339.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A problem with a raw object; no problem if the text is empty.
struct RawProblem {
    std::string text;
    bool too_large = false;
};

/// Selects the wanted values of a document: a tree with a node for each of them. The parser skips
/// everything without a node. Nodes write to the field of the surrounding aggregate, passed as
/// `void*` so that one parser serves all kinds.
struct Projection {
    enum class Type : std::uint8_t { object, array, map, text, number, boolean, raw, presence };

    /// `presence`: the value is skipped, and noted, see JsonProjector::has_presence().
    Type type = Type::object;
    /// object: begins the object inside the surrounding aggregate and returns its address;
    /// array: begins a new element and returns its address (null if elements are scalars).
    void* (*begin)(void* around) = nullptr;
    void (*set_text)(void* around, std::string_view) = nullptr;  // a number: may be quoted
    void (*set_number)(void* around, std::int64_t) = nullptr;
    void (*set_boolean)(void* around, bool) = nullptr;
    void (*add_pair)(void* around, std::string_view key, std::string_view value) = nullptr;
    /// raw: the text of an object
    RawProblem (*take_raw)(void* around, std::string_view json, std::size_t max_bytes) = nullptr;
    std::size_t element_bytes = 0;      ///< array, map: memory of an element besides its texts
    bool base64 = false;                ///< map: the values are bytes, in base64 in JSON
    bool wrapped = false;               ///< map: the values are messages with a text in protobuf
    bool wide = false;                  ///< number: of 64 bits
    bool identity = false;              ///< text: identifies the object, read beyond the limit, too
    std::string_view only{};            ///< map: the only wanted key; empty: all are wanted
    std::string_view name{};            // of a member in its object
    std::vector<Projection> members{};  // of an object
    /// An array has exactly one. A raw object has at most one: the members to read if the object
    /// is too large, with the same aggregate as the object.
    std::vector<Projection> element{};

    std::uint32_t field = 0;             // number in the surrounding protobuf message; 0: none
    std::vector<std::uint8_t> fields{};  // of an object: number -> index of the member + 1

    /// For a map.
    bool wants(std::string_view key) const noexcept { return only.empty() || key == only; }
    const Projection* member(std::string_view key) const noexcept {
        if (key.empty()) return nullptr;  // members without a name exist only in protobuf
        for (const Projection& node : members) {
            // Most keys differ in one of these: a full comparison is a function call.
            if (node.name.size() != key.size() || node.name.front() != key.front()) continue;
            if (node.name == key) return &node;
        }
        return nullptr;
    }
    const Projection* member_in(std::uint32_t number) const noexcept {
        if (number >= fields.size() || fields[number] == 0) return nullptr;
        return &members[fields[number] - 1U];
    }
    void add_member(std::string_view key, Projection node) {
        const std::uint32_t number = node.field;
        node.name = key;
        members.push_back(std::move(node));
        if (number == 0) return;
        if (number >= fields.size()) fields.resize(number + 1);
        fields[number] = static_cast<std::uint8_t>(members.size());
    }
};

/// A row of a table: the member of an object, and its destination.
struct Member {
    /// A member that exists only in JSON.
    Member(std::string_view k, Projection n) : key(k), node(std::move(n)) {}
    /// \param field  its field number in protobuf
    Member(std::string_view k, std::uint32_t field, Projection n) : key(k), node(std::move(n)) {
        node.field = field;
    }

    std::string_view key;
    Projection node;
};
using Members = std::vector<Member>;

namespace project {

template <class T>
struct MemberPointer;
template <class Class, class Field>
struct MemberPointer<Field Class::*> {
    using class_type = Class;
    using field_type = Field;
};
template <auto Pointer>
auto& field(void* around) {
    using Class = typename MemberPointer<decltype(Pointer)>::class_type;
    return static_cast<Class*>(around)->*Pointer;
}

/// A growing vector takes up to twice the size of its elements.
template <auto Pointer>
constexpr std::size_t element_bytes =
    2 * sizeof(typename MemberPointer<decltype(Pointer)>::field_type::value_type);

/// A string into a std::string_view (or an optional one).
template <auto Pointer>
Projection text() {
    Projection node{.type = Projection::Type::text};
    node.set_text = [](void* around, std::string_view value) { field<Pointer>(around) = value; };
    return node;
}
/// A 32-bit integer into an std::int64_t (or an optional one).
template <auto Pointer>
Projection number() {
    Projection node{.type = Projection::Type::number};
    node.set_number = [](void* around, std::int64_t value) { field<Pointer>(around) = value; };
    return node;
}
template <auto Pointer>
Projection boolean() {
    Projection node{.type = Projection::Type::boolean};
    node.set_boolean = [](void* around, bool value) { field<Pointer>(around) = value; };
    return node;
}
/// An object of strings into a vector of pairs.
template <auto Pointer>
Projection map() {
    Projection node{.type = Projection::Type::map, .element_bytes = element_bytes<Pointer>};
    node.add_pair = [](void* around, std::string_view key, std::string_view value) {
        field<Pointer>(around).emplace_back(key, value);
    };
    return node;
}
/// An object of byte strings into a vector of pairs.
template <auto Pointer>
Projection byte_map() {
    Projection node = map<Pointer>();
    node.base64 = true;
    return node;
}
inline Projection object_of(Members members) {
    Projection node{.type = Projection::Type::object};
    for (Member& member : members) node.add_member(member.key, std::move(member.node));
    return node;
}
/// An object with its members in the surrounding aggregate.
inline Projection object(Members members) {
    Projection node = object_of(std::move(members));
    node.begin = [](void* around) { return around; };
    return node;
}
/// An object with an aggregate of its own.
template <auto Pointer>
Projection object(Members members) {
    Projection node = object_of(std::move(members));
    node.begin = [](void* around) -> void* { return &field<Pointer>(around); };
    return node;
}
/// An array of objects into a vector of aggregates.
template <auto Pointer>
Projection array(Members members) {
    Projection node{.type = Projection::Type::array, .element_bytes = element_bytes<Pointer>};
    node.begin = [](void* around) -> void* {
        auto& elements = field<Pointer>(around);
        // Most arrays have a few elements; growing from one would allocate for each.
        if (elements.capacity() == 0) elements.reserve(4);
        return &elements.emplace_back();
    };
    node.element.push_back(object(std::move(members)));
    return node;
}
/// An object with an optional aggregate of its own, created if the object is present.
template <auto Pointer>
Projection optional_object(Members members) {
    Projection node = object_of(std::move(members));
    node.begin = [](void* around) -> void* { return &field<Pointer>(around).emplace(); };
    return node;
}
/// An RFC 3339 text in JSON, seconds since 1970 in protobuf, into an optional time.
template <auto Pointer>
Projection time() {
    Projection node{.type = Projection::Type::number, .wide = true};
    node.set_number = [](void* around, std::int64_t value) {
        const std::chrono::sys_seconds time{std::chrono::seconds(value)};
        if (time != go_zero_time) field<Pointer>(around) = time;
    };
    node.set_text = [](void* around, std::string_view text) {
        field<Pointer>(around) = read_go_time(text);
    };
    return node;
}
/// An array of strings into a vector of std::string_view.
template <auto Pointer>
Projection texts() {
    Projection node{.type = Projection::Type::array, .element_bytes = element_bytes<Pointer>};
    node.element.push_back(Projection{.type = Projection::Type::text});
    node.element.front().set_text = [](void* around, std::string_view value) {
        field<Pointer>(around).push_back(value);
    };
    return node;
}

}  // namespace project
}  // namespace k8s_sd::inline v0::detail
