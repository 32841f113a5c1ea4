#pragma once

#include "k8s_sd/api/namespace.hpp"
#include "k8s_sd/detail/codec/object_members.hpp"
#include "k8s_sd/detail/kinds/kind_traits.hpp"
#include "k8s_sd/detail/kinds/shared/context.hpp"
#include "k8s_sd/detail/kinds/shared/metadata.hpp"
#include "k8s_sd/detail/objects/label_object.hpp"

#include <string>
#include <vector>

namespace k8s_sd::inline v0::detail {

class NamespaceObject;

template <>
struct Table<api::NamespaceStatus> {
    static constexpr FieldRows rows{Row<&api::NamespaceStatus::phase>{"phase", 1}};
};

template <>
struct KindTraits<Kind::namespace_> {
    using Model = api::Namespace;
    using LabelObject = NamespaceObject;
    static constexpr FieldRows rows{
        Row<&Model::metadata>{"metadata", 1, Use::always},
        Row<&Model::status>{"status", 3},
    };
};

inline constexpr MetadataNames namespace_metadata_names{
    {"__meta_kubernetes_namespace_label_", "__meta_kubernetes_namespace_labelpresent_"},
    {"__meta_kubernetes_namespace_annotation_", "__meta_kubernetes_namespace_annotationpresent_"}};

class NamespaceObject : public LabelObject {
 public:
    NamespaceObject(const api::Namespace& object, const RoleOptions&, LabelFactory& factory)
        : LabelObject(Kind::namespace_, object.metadata.uid),
          metadata(make_metadata(namespace_metadata_names, object.metadata, factory)),
          own_name_(object.metadata.name) {
        set_key({}, own_name_);
    }
    Labels metadata_labels() const noexcept override { return metadata.labels(); }
    bool same_content(const Object& other) const noexcept override {
        return metadata == static_cast<const NamespaceObject&>(other).metadata;
    }

    Metadata metadata;

 private:
    void collect(std::vector<LabelBlockPtr>& blocks) const override {
        blocks.insert(blocks.end(), metadata.blocks.begin(), metadata.blocks.end());
    }
    std::string own_name_;
};

/// attach_metadata.namespace
inline void attach_namespace(GeneratorContext& g, std::string_view ns) {
    if (!g.options.attach.namespace_) return;
    const auto* object = g.lookup.get<NamespaceObject>(Kind::namespace_, {}, ns);
    if (object != nullptr) object->metadata.add_to(g.group);
}

/// The same, but without labels that another namespace has, too: those of `preferred` win.
inline void attach_namespace_behind(GeneratorContext& g, std::string_view ns,
                                    std::string_view preferred) {
    if (!g.options.attach.namespace_) return;
    const auto* object = g.lookup.get<NamespaceObject>(Kind::namespace_, {}, ns);
    const auto* first = g.lookup.get<NamespaceObject>(Kind::namespace_, {}, preferred);
    if (object == nullptr) return;
    const Labels taken = first != nullptr ? first->metadata.labels() : Labels();
    for (const LabelBlockPtr& block : object->metadata.blocks) {
        if (block) g.group.add(g.factory.without(*block, taken));
    }
}

}  // namespace k8s_sd::inline v0::detail
