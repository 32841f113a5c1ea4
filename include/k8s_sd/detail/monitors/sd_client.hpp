#pragma once

#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/object_view.hpp"

#include <string_view>

/// The HTTP client of a service discovery, with the names of fields of the owner's operator.
namespace k8s_sd::inline v0::detail {

/// Refuses contradictions, absent Secrets, and files if the owner denies them.
void check_sd_client(const ObjectView& config, const JobContext&);
void put_sd_client(JobObject&, const ObjectView& config, const JobContext&);
/// Whether a field of a discovery belongs to its HTTP client.
bool is_sd_client_field(std::string_view field, const JobContext&);

}  // namespace k8s_sd::inline v0::detail
