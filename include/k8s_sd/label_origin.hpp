#pragma once

#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/dialect.hpp"
#include "k8s_sd/kind.hpp"
#include "k8s_sd/role.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0 {

/// Where the value of a label comes from.
struct LabelOrigin {
    Kind kind{};  ///< of the object; see resource_of() for its name
    /// In that object, as kubectl's jsonpath writes it: `spec.nodeName`. Several, separated by
    /// commas, where the value is made of them. Of a key that became part of the label's name a `?`
    /// stands for each character that is not known: `metadata.labels["app?kubernetes?io?name"]`.
    std::string field{};
};

/// Where a label that discovery made comes from; nullopt for any other name. The list is
/// in docs/guide/labels.md. Thread-safe.
/// \param role  of the configuration: `__address__` and the namespace are those of its objects
/// \param dialect  of the configuration: in role endpoints the protocol of a container's port is
///                 the endpoint's in Prometheus' dialect
K8S_SD_EXPORT std::optional<LabelOrigin> label_origin(
    std::string_view name, Role role, LabelDialect dialect = LabelDialect::prometheus);

}  // namespace k8s_sd::inline v0
