#include "k8s_sd/detail/monitors/namespace_labels.hpp"

namespace k8s_sd::inline v0::detail {

MonitorLabels labels_of(const api::StringMap& map) {
    MonitorLabels labels;
    for (const auto& [name, value] : map) labels.insert_or_assign(std::string(name), value);
    return labels;
}

NamespaceLabels::Names NamespaceLabels::apply(const ObjectDiff<api::Namespace>& diff) {
    Names changed;
    if (diff.full) {
        for (const auto& [name, labels] : labels_) changed.insert(name);
        labels_.clear();
    }
    for (const auto& ns : diff.removed) {
        labels_.erase(std::string(ns->metadata.name));
        changed.emplace(ns->metadata.name);
    }
    const auto put = [&](const api::Namespace& ns) {
        labels_.insert_or_assign(std::string(ns.metadata.name), labels_of(ns.metadata.labels));
        changed.emplace(ns.metadata.name);
    };
    for (const auto& ns : diff.added) put(*ns);
    for (const auto& [before, after] : diff.changed) put(*after);
    are_listed_ = true;
    return changed;
}

void NamespaceLabels::forget() noexcept {
    labels_.clear();
    are_listed_ = false;
}

const MonitorLabels* NamespaceLabels::find(std::string_view ns) const {
    const auto found = labels_.find(ns);
    return found == labels_.end() ? nullptr : &found->second;
}

}  // namespace k8s_sd::inline v0::detail
