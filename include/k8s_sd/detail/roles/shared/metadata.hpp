#pragma once

#include "k8s_sd/api/object_meta.hpp"
#include "k8s_sd/detail/labels/label_factory.hpp"
#include "k8s_sd/detail/roles/group_builder.hpp"

#include <array>

namespace k8s_sd::inline v0::detail {

/// The labels and annotations of an object as target labels.
struct Metadata {
    std::array<LabelBlockPtr, 2> blocks;  // labels, annotations; null: none

    void add_to(GroupBuilder& group) const { group.add(blocks[0]).add(blocks[1]); }
    Labels labels() const noexcept { return {blocks.data(), blocks.data() + blocks.size()}; }
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
    KeyValues labels = meta.labels;
    KeyValues annotations = meta.annotations;
    return {{factory.family(names.labels, labels), factory.family(names.annotations, annotations)}};
}

inline LabelBlockPtr namespace_label(LabelFactory& factory, std::string_view ns) {
    return factory.block().add("__meta_kubernetes_namespace", ns).make_shared();
}

}  // namespace k8s_sd::inline v0::detail
