#include "k8s_sd/detail/objects/model/pod.hpp"
#include "k8s_sd/detail/objects/model/service.hpp"
#include "k8s_sd/detail/watch/selection.hpp"
#include "k8s_sd/error.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace k8s_sd::inline v0::detail {

namespace {

using Text = std::optional<std::string_view>;

/// A field that selectors may name, of those that the API server has for the kind
/// (`SelectableFields` in the registry of each), and how it is read from what is decoded.
struct KnownField {
    Kind kind;
    std::string_view path;
    std::string_view (*read)(const void* model);
};

template <auto Member, class Model>
std::string_view read_text(const void* model) {
    return static_cast<const Model*>(model)->*Member;
}

constexpr std::array<KnownField, 5> known_fields{{
    {Kind::pod, "spec.nodeName", read_text<&model::Pod::node_name, model::Pod>},
    {Kind::pod, "status.phase", read_text<&model::Pod::phase, model::Pod>},
    {Kind::pod, "status.podIP", read_text<&model::Pod::pod_ip, model::Pod>},
    {Kind::service, "spec.clusterIP", read_text<&model::Service::cluster_ip, model::Service>},
    {Kind::service, "spec.type", read_text<&model::Service::type, model::Service>},
}};

const KnownField* find_field(Kind kind, std::string_view path) {
    const auto it =
        std::find_if(known_fields.begin(), known_fields.end(),
                     [&](const KnownField& f) { return f.kind == kind && f.path == path; });
    return it == known_fields.end() ? nullptr : it;
}

/// Objects without a namespace have no such field: the server refuses a selector of it.
bool is_known(Kind kind, std::string_view path) {
    if (path == "metadata.name") return true;
    if (path == "metadata.namespace") return resource_of(kind).namespaced;
    return find_field(kind, path) != nullptr;
}

Text field_of(const DecodedObject& object, std::string_view path) {
    if (path == "metadata.name") return object.meta.name;
    if (path == "metadata.namespace") return object.meta.ns;
    const KnownField* field = find_field(object.kind, path);
    return field ? Text(field->read(object.model)) : std::nullopt;
}

// The last one counts of a key that JSON repeats, as in Kubernetes' decoders.
Text label_of(const DecodedObject& object, std::string_view key) {
    const auto& labels = object.meta.labels;
    const auto it = std::find_if(labels.rbegin(), labels.rend(),
                                 [&](const auto& label) { return label.first == key; });
    return it == labels.rend() ? std::nullopt : Text(it->second);
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

bool Selection::matches(const DecodedObject& object) const {
    return labels_.matches([&](std::string_view key) { return label_of(object, key); }) &&
           fields_.matches([&](std::string_view path) { return field_of(object, path); });
}

}  // namespace k8s_sd::inline v0::detail
