#pragma once

#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/object_view.hpp"

#include <optional>
#include <string>
#include <string_view>

/// Values of Secrets and ConfigMaps. For an owner of prometheus-operator they are inserted as they
/// are, see References.
namespace k8s_sd::inline v0::detail {

/// The value of a reference; an absent one is a fault. `optional: true` has no effect, as in the
/// operator.
/// \param at  the field with the reference
std::optional<std::string> required_value(const MonitorReference&, const ObjectView& at,
                                          const JobContext&);

/// The value of a key of a Secret, `{name, key}`; an absent one is a fault.
std::optional<std::string> required_secret(const ObjectView& selector, const JobContext&);

/// The value of a reference; nullopt if it is absent.
std::optional<std::string> present_value(const MonitorReference&, const JobContext&);

/// The reference of a `{secret: {name, key}}` or `{configMap: {name, key}}`; nullopt if neither is
/// there.
std::optional<MonitorReference> secret_or_config_map(const ObjectView& selector, const JobContext&);

/// Refuses a selector with both.
void check_secret_or_config_map(const ObjectView& selector);

}  // namespace k8s_sd::inline v0::detail
