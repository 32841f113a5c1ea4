#include "k8s_sd/api/pod.hpp"
#include "k8s_sd/api/service.hpp"
#include "k8s_sd/detail/watch/selection.hpp"
#include "k8s_sd/error.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace k8s_sd::inline v0::detail {

namespace {

/// A selectable field of the kind (`SelectableFields` in its registry in Kubernetes), and its
/// accessor in the decoded model.
struct KnownField {
    Kind kind;
    std::string_view path;
    std::string_view (*read)(const void* model);
};

const api::Pod& pod(const void* model) { return *static_cast<const api::Pod*>(model); }
const api::Service& service(const void* model) { return *static_cast<const api::Service*>(model); }

constexpr std::array<KnownField, 5> known_fields{{
    {Kind::pod, "spec.nodeName", [](const void* p) { return pod(p).spec.node_name; }},
    {Kind::pod, "status.phase", [](const void* p) { return pod(p).status.phase; }},
    {Kind::pod, "status.podIP", [](const void* p) { return pod(p).status.pod_ip; }},
    {Kind::service, "spec.clusterIP", [](const void* p) { return service(p).spec.cluster_ip; }},
    {Kind::service, "spec.type", [](const void* p) { return service(p).spec.type; }},
}};

const KnownField* find_field(Kind kind, std::string_view path) {
    const auto it =
        std::find_if(known_fields.begin(), known_fields.end(),
                     [&](const KnownField& f) { return f.kind == kind && f.path == path; });
    return it == known_fields.end() ? nullptr : it;
}

/// Cluster-scoped objects have no `metadata.namespace`: the server refuses such a selector.
bool is_known(Kind kind, std::string_view path) {
    if (path == "metadata.name") return true;
    if (path == "metadata.namespace") return resource_of(kind).namespaced;
    return find_field(kind, path) != nullptr;
}

// If JSON repeats a key, the last value wins, as in Kubernetes' decoders.
std::optional<std::string_view> label_of(const DecodedObject& object, std::string_view key) {
    return object.meta.labels.find(key);
}

}  // namespace

Selection::Selection(Kind kind, const std::string& label, const std::string& field) {
    try {
        labels_ = LabelSelector::parse(label);
        fields_ = FieldSelector::parse(field);
    } catch (const ConfigError&) {
        known_here_ = false;
    }
    for (const FieldSelector::Requirement& r : fields_.requirements()) {
        known_here_ = known_here_ && is_known(kind, r.path);
        const bool names_one = r.path == "metadata.name" || r.path == "spec.nodeName";
        narrow_ = narrow_ || (names_one && r.equal);
    }
}

std::string_view field_value(const DecodedObject& object, std::string_view path) {
    if (path == "metadata.name") return object.meta.name;
    if (path == "metadata.namespace") return object.meta.namespace_;
    const KnownField* field = find_field(object.kind, path);
    return field ? field->read(object.model) : std::string_view();
}

bool Selection::matches(const DecodedObject& object) const {
    return labels_.matches([&](std::string_view key) { return label_of(object, key); }) &&
           fields_.matches(
               [&](std::string_view path) { return std::optional(field_value(object, path)); });
}

}  // namespace k8s_sd::inline v0::detail
