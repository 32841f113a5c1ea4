#pragma once

#include "k8s_sd/detail/codec/projection.hpp"
#include "k8s_sd/detail/objects/model/meta.hpp"

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>

/// What every object has in common. The tables read like the Kubernetes API reference: the name of
/// a member in JSON, the number of its field in protobuf (generated.proto of the API group), and
/// where it goes.
namespace k8s_sd::inline v0::detail {

// The tables are laid out by hand: one field a line, as deep as the document.
// clang-format off

enum class MetadataFields : std::uint8_t {
    all,
    owners,    ///< neither labels nor annotations
    identity,  ///< nor owners
};

/// The annotation of a bookmark that ends the list which a watch began with.
inline constexpr std::string_view initial_events_end = "k8s.io/initial-events-end";

/// Of annotations that nobody wants, that of a bookmark.
inline Projection bookmark_annotation() {
    Projection node = project::map<&model::ObjectMeta::annotations>();
    node.only = initial_events_end;
    return node;
}

inline Members metadata_members(MetadataFields fields) {
    using M = model::ObjectMeta;
    using O = model::OwnerReference;
    using namespace project;
    Members members{
        {"name", 1, text<&M::name>()},
        {"namespace", 3, text<&M::ns>()},
        {"uid", 5, text<&M::uid>()},
        {"resourceVersion", 6, text<&M::resource_version>()},
    };
    if (fields != MetadataFields::all)
        members.emplace_back("annotations", 12, bookmark_annotation());
    if (fields == MetadataFields::identity) return members;
    members.emplace_back("ownerReferences", 13, array<&M::owner_references>({
        {"kind", 1, text<&O::kind>()},
        {"name", 3, text<&O::name>()},
        {"controller", 6, boolean<&O::controller>()},
    }));
    if (fields == MetadataFields::owners) return members;
    members.emplace_back("labels", 11, map<&M::labels>());
    members.emplace_back("annotations", 12, map<&M::annotations>());
    return members;
}

/// 0: it is none.
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
        static_cast<Model*>(around)->meta.status.*Pointer = value;
    };
    return node;
}

/// The Status that may come in place of an object.
template <class Model>
Members status_members() {
    using S = model::Status;
    using namespace project;
    Projection code{.type = Projection::Type::number};
    code.set_number = [](void* around, std::int64_t value) {
        static_cast<Model*>(around)->meta.status.code = value;
    };
    // Some write it in quotes.
    code.set_text = [](void* around, std::string_view value) {
        static_cast<Model*>(around)->meta.status.code = status_code(value);
    };
    Projection details = object({
        {"causes", 4, array<&S::causes>({
            {"reason", 1, text<&S::Cause::reason>()},
            {"message", 2, text<&S::Cause::message>()},
        })},
        {"retryAfterSeconds", 5, number<&S::retry_after_seconds>()},
    });
    details.begin = [](void* around) -> void* { return &static_cast<Model*>(around)->meta.status; };
    return {
        {"message", 3, status_text<Model, &S::message>()},
        {"reason", 4, status_text<Model, &S::reason>()},
        {"details", 5, std::move(details)},
        {"code", 6, std::move(code)},
    };
}

/// Where the kind goes that an object says it has: JSON has it among the members, protobuf around
/// them.
template <class Model>
Projection object_kind() {
    Projection kind{.type = Projection::Type::text};
    kind.set_text = [](void* around, std::string_view value) {
        static_cast<Model*>(around)->meta.kind = value;
    };
    return kind;
}

/// Adds what every object has, and the members of a Status: JSON does not say before which of the
/// two it is. Of metadata only what reaches a label is read.
template <class Model>
Members object_members(Members members, MetadataFields fields = MetadataFields::all) {
    members.emplace_back("metadata", 1, project::object<&Model::meta>(metadata_members(fields)));
    members.emplace_back("kind", object_kind<Model>());
    for (Member& member : status_members<Model>()) {
        member.node.field = {};
        members.push_back(std::move(member));
    }
    return members;
}

// clang-format on

}  // namespace k8s_sd::inline v0::detail
