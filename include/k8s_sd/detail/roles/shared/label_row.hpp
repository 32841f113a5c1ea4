#pragma once

#include <cstdint>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The row of a label in docs/guide/labels.md. scripts/labels writes the page from
/// RoleTraits<role>::labels, and a test compares the rows with the labels of recorded clusters.
struct LabelRow {
    enum class Place : std::uint8_t { group, target };
    enum class Dialects : std::uint8_t { both, prometheus, victoriametrics };

    /// Without "__meta_kubernetes_". "<key>" is a placeholder. A row "label_<key>" or
    /// "annotation_<key>" implies "labelpresent_<key>" or "annotationpresent_<key>".
    std::string_view name;
    Place place;
    Dialects dialects;
    std::string_view says;
    /// Completes "Absent …". Empty: present in each group or target.
    std::string_view absent;
};

}  // namespace k8s_sd::inline v0::detail
