#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/labels/label_factory.hpp"
#include "k8s_sd/detail/roles/group_builder.hpp"
#include "k8s_sd/object.hpp"

#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Read access to other objects of the scope, for generators. The implementation records what
/// was asked for, so that the group is generated again when the answer changes.
class Lookup {
 public:
    virtual const Object* find(Kind kind, std::string_view ns, std::string_view name) = 0;
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
    std::size_t max_targets = 100'000;  ///< of one object
};

/// Everything a generator works with.
struct GeneratorContext {
    const RoleOptions& options;
    LabelFactory& factory;
    Lookup& lookup;
    GroupBuilder& group;
};

}  // namespace k8s_sd::inline v0::detail
