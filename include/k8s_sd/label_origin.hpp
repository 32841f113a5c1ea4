#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/dialect.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/role.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0 {

/// The source of a label's value.
struct LabelOrigin {
    Kind kind{};  ///< kind of the object; see resource_of() for its name
    /// Path in the object in kubectl's jsonpath notation: `spec.nodeName`. Several paths, separated
    /// by commas, if the value combines them. In a key recovered from the label's name, a `?`
    /// stands for each unknown character: `metadata.labels["app?kubernetes?io?name"]`.
    std::string field{};
};

/// The origin of a label made by discovery; nullopt for any other name. docs/guide/labels.md has
/// the list. Thread-safe.
/// \param role  role of the configuration: `__address__` and the namespace come from the objects of
///              the role
/// \param dialect  dialect of the configuration: with role endpoints in Prometheus' dialect, the
///                 protocol of a container's port comes from the endpoint
K8S_SD_EXPORT std::optional<LabelOrigin> label_origin(
    std::string_view name, Role role, LabelDialect dialect = LabelDialect::prometheus);

}  // namespace k8s_sd::inline v0
