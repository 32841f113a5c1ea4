#pragma once

#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/codec/kind_schema.hpp"
#include "k8s_sd/objects/fields.hpp"

namespace k8s_sd::inline v0::detail {

/// The fields used for labels in some versions of Prometheus only.
Fields version_fields(Kind kind, const VersionRules& rules);

/// The schema for reading the objects of a kind; never destroyed. Thread-safe.
const KindSchema& schema_of(Kind kind, const VersionRules& rules = no_version_rules);

/// The schema for hosts: some fields besides those used for labels.
KindSchema make_schema(Kind kind, const Fields& fields,
                       const VersionRules& rules = no_version_rules);

}  // namespace k8s_sd::inline v0::detail
