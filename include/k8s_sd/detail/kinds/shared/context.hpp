#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/labels/group_builder.hpp"
#include "k8s_sd/detail/labels/label_factory.hpp"
#include "k8s_sd/objects/object.hpp"

#include <cstddef>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Read access to other objects of the scope for generators. The implementation records the
/// lookups, so a change of a result regenerates the group.
class Lookup {
 public:
    virtual const Object* find(Kind kind, std::string_view ns, std::string_view name) = 0;
    /// The generator begins with the targets: all further lookups belong to parts.
    /// \param premise  summarizes the results so far, as far as they affect the parts; if it
    /// differs from that of the earlier group, all parts are regenerated
    virtual void begin_parts(bool /*premise*/) {}
    /// The generator begins the next part. The sequence of parts of an object is fixed.
    /// \returns whether to keep the part of the earlier group, because neither its lookups nor the
    /// object itself have changed
    virtual bool begin_part() { return false; }
    template <class T>
    const T* get(Kind kind, std::string_view ns, std::string_view name) {
        return static_cast<const T*>(find(kind, ns, name));
    }

 protected:
    ~Lookup() = default;
};

/// The settings that affect labels.
struct RoleOptions {
    const DialectRules* rules = &prometheus_rules;
    AttachMetadata attach;
    /// The configuration lists namespaces.
    bool by_namespace = false;
    Division division{};
    std::size_t max_targets = 100'000;  ///< of one object
    const VersionRules* version_rules = &no_version_rules;
    LabelBlockPtr cluster{};  ///< the label of DiscoveryConfig::cluster; null: none
};

/// The inputs and outputs of a generator.
struct GeneratorContext {
    const RoleOptions& options;
    LabelFactory& factory;
    Lookup& lookup;
    GroupBuilder& group;
};

/// Adds the targets of an object without parts, unless unchanged. `make()` adds them to the group.
template <class Make>
void add_targets(GeneratorContext& g, Make make) {
    g.lookup.begin_parts(false);
    if (g.lookup.begin_part()) {
        g.group.keep_targets();
    } else {
        make();
    }
}

/// Adds a part of an object with many parts, unless unchanged. `make()` adds its targets to the
/// group.
/// \param stride  see PlacedPart
template <class Make>
void add_part(GeneratorContext& g, std::size_t stride, Make make) {
    if (g.lookup.begin_part()) {
        g.group.keep_part();
        return;
    }
    g.group.begin_part(stride);
    make();
    g.group.end_part();
}

}  // namespace k8s_sd::inline v0::detail
