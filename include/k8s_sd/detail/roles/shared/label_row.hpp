#pragma once

#include <cstdint>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// What docs/guide/labels.md tells of a label. The page has the rows of RoleTraits<role>::labels
/// (scripts/labels writes them), and a test compares them with the labels of recorded clusters.
struct LabelRow {
    enum class Place : std::uint8_t { group, target };
    enum class Dialects : std::uint8_t { both, prometheus, victoriametrics };

    /// Without "__meta_kubernetes_". "<key>" stands for the changing part. A row of "label_<key>"
    /// or "annotation_<key>" is one of "labelpresent_<key>" or "annotationpresent_<key>" as well.
    std::string_view name;
    Place place;
    Dialects dialects;
    std::string_view says;
    /// "Absent …": when it is. Empty: each group, or each target, has it.
    std::string_view absent;
};

}  // namespace k8s_sd::inline v0::detail
