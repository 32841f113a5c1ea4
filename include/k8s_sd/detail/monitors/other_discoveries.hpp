#pragma once

#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/object_view.hpp"

/// The discoveries of clouds and other systems. k8s_sd passes them on to its host, so their fields
/// are translated by rule: `refreshInterval` becomes `refresh_interval`.
namespace k8s_sd::inline v0::detail {

/// Refuses absent Secrets and contradictory clients.
void check_other_discoveries(const ObjectView& spec, const JobContext&);

void put_other_discoveries(JobObject&, const ObjectView& spec, const JobContext&);

}  // namespace k8s_sd::inline v0::detail
