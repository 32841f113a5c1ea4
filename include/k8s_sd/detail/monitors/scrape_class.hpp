#pragma once

#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/object_view.hpp"

namespace k8s_sd::inline v0::detail {

/// The scrape class of an object: the one it names, else the owner's default; absent if neither is
/// there. A name without a class is a fault.
ObjectView scrape_class_of(const ObjectView& spec, const JobContext&);

/// Refuses two defaults, and classes with invalid rules, TLS settings or authorization.
/// \param context  of the owner: the Secrets are in its namespace
void check_scrape_classes(const MonitorOwner&, const JobContext& context);

}  // namespace k8s_sd::inline v0::detail
