#pragma once

#include "k8s_sd/api/object_meta.hpp"
#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/detail/labels/group_builder.hpp"
#include "k8s_sd/detail/labels/label_factory.hpp"
#include "k8s_sd/detail/labels/label_shape.hpp"
#include "k8s_sd/detail/text/url_text.hpp"
#include "k8s_sd/role.hpp"

#include <array>
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
    /// The first version of Prometheus with the label.
    PrometheusVersion since = PrometheusVersion::v3_5;
};

/// The labels and annotations of an object as target labels.
struct Metadata {
    std::array<LabelBlockPtr, 2> blocks;  // labels, annotations; null: none

    void add_to(GroupBuilder& group) const { group.add(blocks[0]).add(blocks[1]); }
    Labels labels() const noexcept {
        return Access::make<Labels>(blocks.data(), blocks.data() + blocks.size());
    }
    friend bool operator==(const Metadata& a, const Metadata& b) noexcept {
        return a.labels() == b.labels();
    }
};

struct MetadataNames {
    FamilyName labels;
    FamilyName annotations;
};

inline Metadata make_metadata(MetadataNames names, const api::ObjectMeta& meta,
                              LabelFactory& factory) {
    return {{factory.family(names.labels, meta.labels),
             factory.family(names.annotations, meta.annotations)}};
}

inline LabelBlockPtr namespace_label(LabelFactory& factory, std::string_view ns) {
    return factory.block().add("__meta_kubernetes_namespace", ns).make_shared();
}

/// Of a slice; a service has one for the IP family of its slices with targets.
inline LabelBlockPtr address_type_label(LabelFactory& factory, std::string_view type) {
    return factory.block().add("__meta_kubernetes_endpointslice_address_type", type).make_shared();
}

}  // namespace k8s_sd::inline v0::detail
