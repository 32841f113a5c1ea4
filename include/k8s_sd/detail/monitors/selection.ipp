#include "k8s_sd/detail/monitors/generation.hpp"

namespace k8s_sd::inline v0::detail {

namespace {

bool selects(const LabelSelector& selector, const MonitorLabels& labels) {
    return selector.matches([&](std::string_view key) -> std::optional<std::string_view> {
        const auto found = labels.find(key);
        if (found == labels.end()) return std::nullopt;
        return std::string_view(found->second);
    });
}

}  // namespace

Unselected selection(const MonitorOwner& owner, MonitorKind kind, std::string_view object_namespace,
                     const MonitorLabels& object_labels, const MonitorLabels& namespace_labels) {
    const MonitorSelection& selection = owner.selections[static_cast<std::size_t>(kind)];
    if (!selection.objects) return Unselected::kind_off;
    if (!selection.namespaces && object_namespace != owner.owner_namespace) {
        return Unselected::other_namespace;
    }
    if (selection.namespaces && !selects(*selection.namespaces, namespace_labels)) {
        return Unselected::namespace_labels;
    }
    if (!selects(*selection.objects, object_labels)) return Unselected::object_labels;
    return Unselected::selected;
}

}  // namespace k8s_sd::inline v0::detail
