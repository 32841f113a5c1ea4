#pragma once

#include "k8s_sd/detail/codec/projection.hpp"
#include "k8s_sd/detail/objects/model/meta.hpp"

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>

/// What every object has in common in JSON. The tables read like the Kubernetes API reference.
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
    node.add_pair = [](void* around, std::string_view key, std::string_view value) {
        if (key == initial_events_end)
            static_cast<model::ObjectMeta*>(around)->annotations.emplace_back(key, value);
    };
    return node;
}

inline Members metadata_members(MetadataFields fields) {
    using M = model::ObjectMeta;
    using O = model::OwnerReference;
    using namespace project;
    Members members{
        {"name", text<&M::name>()},
        {"namespace", text<&M::ns>()},
        {"uid", text<&M::uid>()},
        {"resourceVersion", text<&M::resource_version>()},
    };
    if (fields != MetadataFields::all) members.emplace_back("annotations", bookmark_annotation());
    if (fields == MetadataFields::identity) return members;
    members.emplace_back("ownerReferences", array<&M::owner_references>({
        {"kind", text<&O::kind>()},
        {"name", text<&O::name>()},
        {"controller", boolean<&O::controller>()},
    }));
    if (fields == MetadataFields::owners) return members;
    members.emplace_back("labels", map<&M::labels>());
    members.emplace_back("annotations", map<&M::annotations>());
    return members;
}

/// 0: it is none.
inline std::int64_t status_code(std::string_view text) noexcept {
    std::int64_t code = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, ec] = std::from_chars(text.data(), end, code);
    return ec == std::errc() && rest == end ? code : 0;
}

/// The Status that may come in place of an object has its fields where the object has its own.
template <class Model, auto Pointer>
Projection status_text() {
    Projection node{.type = Projection::Type::text};
    node.set_text = [](void* around, std::string_view value) {
        static_cast<Model*>(around)->meta.status.*Pointer = value;
    };
    return node;
}

/// Adds what every object has, and the fields of a Status. Of metadata only what reaches a label is
/// read.
template <class Model>
Members object_members(Members members, MetadataFields fields = MetadataFields::all) {
    using S = model::Status;
    using namespace project;
    Projection kind{.type = Projection::Type::text};
    kind.set_text = [](void* around, std::string_view value) {
        static_cast<Model*>(around)->meta.kind = value;
    };
    Projection code{.type = Projection::Type::number};
    code.set_number = [](void* around, std::int64_t value) {
        static_cast<Model*>(around)->meta.status.code = value;
    };
    // Some write it in quotes.
    code.set_text = [](void* around, std::string_view value) {
        static_cast<Model*>(around)->meta.status.code = status_code(value);
    };
    Projection details = object({
        {"retryAfterSeconds", number<&S::retry_after_seconds>()},
        {"causes", array<&S::causes>({
            {"reason", text<&S::Cause::reason>()},
            {"message", text<&S::Cause::message>()},
        })},
    });
    details.begin = [](void* around) -> void* { return &static_cast<Model*>(around)->meta.status; };
    members.emplace_back("metadata", object<&Model::meta>(metadata_members(fields)));
    members.emplace_back("kind", std::move(kind));
    members.emplace_back("code", std::move(code));
    members.emplace_back("message", status_text<Model, &S::message>());
    members.emplace_back("reason", status_text<Model, &S::reason>());
    members.emplace_back("details", std::move(details));
    return members;
}

// clang-format on

}  // namespace k8s_sd::inline v0::detail
