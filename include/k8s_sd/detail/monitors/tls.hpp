#pragma once

#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/object_view.hpp"

#include <optional>
#include <string>

namespace k8s_sd::inline v0::detail {

/// Refuses a contradictory `tlsConfig`, absent Secrets and ConfigMaps, and certificates or keys
/// that cannot be read or do not fit.
void check_tls(const ObjectView& tls, const JobContext&);

/// The section `tls_config`.
/// \param of_class  `tlsConfig` of the scrape class, absent if none
/// \param whole_if_empty  whether an empty `tls` counts as absent, so that the class has its say
/// \returns nullopt if neither has any
std::optional<JobObject> tls_section(const ObjectView& tls, const ObjectView& of_class,
                                     bool whole_if_empty, const JobContext&);

/// The section `tls_config` without a scrape class, for a client other than that of targets.
inline std::optional<JobObject> tls_section(const ObjectView& tls, const JobContext& context) {
    return tls_section(tls, ObjectView(nullptr, "", context.faults), true, context);
}

}  // namespace k8s_sd::inline v0::detail
