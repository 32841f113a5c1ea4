#pragma once

#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/object_view.hpp"

/// The service discoveries of a ScrapeConfig.
namespace k8s_sd::inline v0::detail {

/// Refuses faults, absent Secrets, and versions of Prometheus without one of the discoveries, even
/// of those that the object lacks.
void check_service_discoveries(const ObjectView& spec, const JobContext&);

/// `static_configs`, `file_sd_configs`, …
void put_service_discoveries(JobObject&, const ObjectView& spec, const JobContext&);

}  // namespace k8s_sd::inline v0::detail
