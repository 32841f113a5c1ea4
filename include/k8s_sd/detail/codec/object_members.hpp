#pragma once

#include "k8s_sd/detail/codec/field_table.hpp"
#include "k8s_sd/detail/objects/model/document.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

/// The members common to all objects.
namespace k8s_sd::inline v0::detail {

// The tables are laid out by hand: one field a line.
// clang-format off

template <>
struct Table<api::OwnerReference> {
    using O = api::OwnerReference;
    static constexpr FieldRows rows{
        Row<&O::kind>{"kind", 1, Use::owners},
        Row<&O::name>{"name", 3, Use::owners},
        Row<&O::uid>{"uid", 4},
        Row<&O::api_version>{"apiVersion", 5},
        Row<&O::controller>{"controller", 6, Use::owners},
    };
};

template <>
struct Table<api::ObjectMeta> {
    using M = api::ObjectMeta;
    static constexpr FieldRows rows{
        Row<&M::name>{"name", 1, Use::always},
        Row<&M::generate_name>{"generateName", 2},
        Row<&M::namespace_>{"namespace", 3, Use::always},
        Row<&M::uid>{"uid", 5, Use::always},
        Row<&M::resource_version>{"resourceVersion", 6, Use::always},
        Row<&M::generation>{"generation", 7, Use::hosts, Format::int64},
        Row<&M::creation_timestamp>{"creationTimestamp", 8},
        Row<&M::deletion_timestamp>{"deletionTimestamp", 9},
        Row<&M::labels>{"labels", 11, Use::labels},
        Row<&M::annotations>{"annotations", 12, Use::labels},
        Row<&M::owner_references>{"ownerReferences", 13, Use::owners},
        Row<&M::finalizers>{"finalizers", 14},
    };
};

template <>
struct Table<api::ObjectReference> {
    using R = api::ObjectReference;
    static constexpr FieldRows rows{
        Row<&R::kind>{"kind", 1, Use::labels},
        Row<&R::namespace_>{"namespace", 2, Use::labels},
        Row<&R::name>{"name", 3, Use::labels},
        Row<&R::uid>{"uid", 4},
    };
};

// clang-format on

/// The annotation of the bookmark at the end of a watch's initial list.
inline constexpr std::string_view initial_events_end = "k8s.io/initial-events-end";

/// 0 if the text is not a number.
inline std::int64_t status_code(std::string_view text) noexcept {
    std::int64_t code = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, ec] = std::from_chars(text.data(), end, code);
    return ec == std::errc() && rest == end ? code : 0;
}

template <class Model, auto Pointer>
Projection status_text() {
    Projection node{.type = Projection::Type::text};
    node.set_text = [](void* around, std::string_view value) {
        model::Document<Model>::head_of(around).status.*Pointer = value;
    };
    return node;
}

// clang-format off

/// The Status that a server may send in place of an object.
template <class Model>
Members status_members() {
    using S = model::Status;
    using D = model::Document<Model>;
    using namespace project;
    Projection code{.type = Projection::Type::number};
    code.set_number = [](void* around, std::int64_t value) {
        D::head_of(around).status.code = value;
    };
    // Some servers write it in quotes.
    code.set_text = [](void* around, std::string_view value) {
        D::head_of(around).status.code = status_code(value);
    };
    Projection details = object({
        {"causes", 4, array<&S::causes>({
            {"reason", 1, text<&S::Cause::reason>()},
            {"message", 2, text<&S::Cause::message>()},
        })},
        {"retryAfterSeconds", 5, number<&S::retry_after_seconds>()},
    });
    details.begin = [](void* around) -> void* { return &D::head_of(around).status; };
    return {
        {"message", 3, status_text<Model, &S::message>()},
        {"reason", 4, status_text<Model, &S::reason>()},
        {"details", 5, std::move(details)},
        {"code", 6, std::move(code)},
    };
}

// clang-format on

/// Stores the declared kind of an object. JSON has it among the members, protobuf in the envelope.
template <class Model>
Projection object_kind() {
    Projection kind{.type = Projection::Type::text};
    kind.set_text = [](void* around, std::string_view value) {
        model::Document<Model>::head_of(around).kind = value;
    };
    kind.identity = true;
    return kind;
}

/// Reads the annotation of a bookmark even if annotations are not wanted.
inline void add_bookmark_annotation(Members& members) {
    for (Member& member : members) {
        if (member.key != "metadata") continue;
        if (member.node.member("annotations") != nullptr) continue;
        Projection node = project::map<&api::ObjectMeta::annotations>();
        node.only = initial_events_end;
        node.field = 12;
        member.node.add_member("annotations", std::move(node));
    }
}

/// Notes managedFields, and skips them.
inline void add_managed_fields(Members& members) {
    for (Member& member : members) {
        if (member.key != "metadata") continue;
        Projection node{.type = Projection::Type::presence};
        node.field = 17;
        member.node.add_member("managedFields", std::move(node));
    }
}

/// Even an object beyond its limit is identified.
inline void mark_identity(Members& members) {
    constexpr std::string_view texts[] = {"name", "namespace", "uid", "resourceVersion"};
    for (Member& member : members) {
        if (member.key != "metadata") continue;
        for (Projection& node : member.node.members)
            node.identity = std::ranges::find(texts, node.name) != std::end(texts);
    }
}

/// The wanted rows of an object, the common members of all objects, and the members of a Status:
/// JSON does not announce which of the two follows.
template <class Model, class Rows>
Members object_members(const Rows& rows, const WantedFields& wanted) {
    Members members = TableProjection(wanted).members(rows);
    add_bookmark_annotation(members);
    add_managed_fields(members);
    mark_identity(members);
    members.emplace_back("kind", object_kind<Model>());
    for (Member& member : status_members<Model>()) {
        member.node.field = 0;
        members.push_back(std::move(member));
    }
    return members;
}

}  // namespace k8s_sd::inline v0::detail
