#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/labels/label_factory.hpp"
#include "k8s_sd/detail/roles/group_builder.hpp"
#include "k8s_sd/object.hpp"

#include <cstddef>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Read access to other objects of the scope, for generators. The implementation records what
/// was asked for, so that the group is generated again when the answer changes.
class Lookup {
 public:
    virtual const Object* find(Kind kind, std::string_view ns, std::string_view name) = 0;
    /// The generator begins with the targets: all that follows is asked by one part or another.
    /// \param premise  what the parts need to know of the answers so far; if it differs from that
    ///                 of the earlier group, all parts are made again
    virtual void begin_parts(bool /*premise*/) {}
    /// The generator comes to the next part. The parts of an object are always the same.
    /// \returns whether that of the earlier group is to be kept: nothing that it asked for, and not
    ///          the object itself, has changed
    virtual bool begin_part() { return false; }
    template <class T>
    const T* get(Kind kind, std::string_view ns, std::string_view name) {
        return static_cast<const T*>(find(kind, ns, name));
    }

 protected:
    ~Lookup() = default;
};

/// What decides about labels besides the objects.
struct RoleOptions {
    const DialectRules* rules = &prometheus_rules;
    AttachMetadata attach;
    /// Namespaces are configured by name.
    bool by_namespace = false;
    Division division{};
    std::size_t max_targets = 100'000;  ///< of one object
};

/// Everything a generator works with.
struct GeneratorContext {
    const RoleOptions& options;
    LabelFactory& factory;
    Lookup& lookup;
    GroupBuilder& group;
};

/// The targets of an object that changes as a whole. `make()` adds them to the group.
template <class Make>
void add_targets(GeneratorContext& g, Make make) {
    g.lookup.begin_parts(false);
    if (g.lookup.begin_part()) {
        g.group.keep_targets();
    } else {
        make();
    }
}

/// One of the parts of an object that has many. `make()` adds its targets to the group.
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
