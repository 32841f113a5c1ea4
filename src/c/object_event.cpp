#include "object_event.hpp"

#include "json_pointer.hpp"
#include "metadata_json.hpp"

#include <boost/json/serialize.hpp>
#include <string>
#include <utility>

namespace k8s_sd_c {

namespace {

namespace json = boost::json;

std::string key_of(const k8s_sd::api::ObjectMeta& metadata) {
    std::string key(metadata.namespace_);
    if (!key.empty()) key += '/';
    return key.append(metadata.name);
}

std::string serialized(const json::value& value) { return json::serialize(value); }

/// The text of a string, which the view refers to; nullopt for another value.
std::optional<std::string_view> text_of(const json::value& value) {
    const json::string* text = value.if_string();
    if (!text) return std::nullopt;
    return std::string_view(text->data(), text->size());
}

}  // namespace

ObjectEvent::ObjectEvent(WatchIdentity watch, const k8s_sd::ObjectDiff<k8s_sd::Generic>& diff)
    : Event(K8S_SD_OBJECTS, watch, diff.full) {
    changes_.reserve(diff.added.size() + diff.changed.size() + diff.removed.size());
    // An object created anew under its name is in both lists.
    for (const auto& object : diff.removed) changes_.push_back({K8S_SD_REMOVED, object});
    for (const auto& object : diff.added) changes_.push_back({K8S_SD_ADDED, object});
    for (const auto& changed : diff.changed) changes_.push_back({K8S_SD_CHANGED, changed.after});
}

std::string_view ObjectEvent::key(std::size_t change) {
    return made_.get(change, "key", [&] { return key_of(changes_[change].object->metadata); });
}

const k8s_sd::api::StringMap* ObjectEvent::map(std::size_t change, std::int64_t set) const {
    const k8s_sd::api::ObjectMeta& metadata = changes_[change].object->metadata;
    if (set == K8S_SD_LABELS) return &metadata.labels;
    return set == K8S_SD_ANNOTATIONS ? &metadata.annotations : nullptr;
}

std::size_t ObjectEvent::pairs(std::size_t change, std::int64_t set,
                               std::span<k8s_sd_pair> out) const {
    const auto* const found = map(change, set);
    return found ? copy_pairs(*found, out) : 0;
}

std::optional<std::string_view> ObjectEvent::value(std::size_t change, std::int64_t set,
                                                   std::string_view name) const {
    const auto* const found = map(change, set);
    return found ? found->find(name) : std::nullopt;
}

const json::value& ObjectEvent::metadata(std::size_t change) {
    const auto it = metadata_.find(change);
    if (it != metadata_.end()) return it->second;
    return metadata_.emplace(change, metadata_json(changes_[change].object->metadata))
        .first->second;
}

std::optional<std::string_view> ObjectEvent::field(std::size_t change, std::string_view pointer) {
    const k8s_sd::Generic& object = *changes_[change].object;
    // The identity, without a document of all metadata.
    if (pointer == "/metadata/name") return object.metadata.name;
    if (pointer == "/metadata/namespace") return object.metadata.namespace_;
    if (pointer == "/metadata/uid") return object.metadata.uid;
    if (!pointer.starts_with('/')) return std::nullopt;
    std::string_view rest = pointer;
    const std::string member = take_token(rest);
    const json::value* const root =
        member == "metadata" ? &metadata(change)
                             : object.content.if_contains({member.data(), member.size()});
    const json::value* const found = root ? find(*root, rest) : nullptr;
    if (!found) return std::nullopt;
    if (const auto text = text_of(*found)) return text;
    return made_.get(change, pointer, [&] { return serialized(*found); });
}

void ObjectEvent::write_change(JsonWriter& out, std::size_t change) {
    const k8s_sd::Generic& object = *changes_[change].object;
    out.name("object").begin('{').name("metadata").raw(serialized(metadata(change)));
    for (const auto& [name, value] : object.content) {
        out.name({name.data(), name.size()}).raw(serialized(value));
    }
    out.end('}');
}

}  // namespace k8s_sd_c
