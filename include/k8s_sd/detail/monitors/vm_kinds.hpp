#pragma once

#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/kinds.hpp"
#include "k8s_sd/detail/monitors/object_view.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string_view>

/// The kinds of VictoriaMetrics' operator, one file each.
namespace k8s_sd::inline v0::detail {

/// Reads a VMAgent or VMSingle object.
MonitorOwner read_vm_owner(const boost::json::value& object, std::string_view default_namespace,
                           Faults&);

/// The section `global` of its configuration.
boost::json::object vm_global_section(const JobContext&);

/// Validates an object of one of the kinds, and makes its jobs.
void make_vm_jobs(const ObjectView& spec, const JobContext&, JobList&);

void make_vm_service_scrape_jobs(const ObjectView& spec, const JobContext&, JobList&);
void make_vm_pod_scrape_jobs(const ObjectView& spec, const JobContext&, JobList&);
void make_vm_probe_job(const ObjectView& spec, const JobContext&, JobList&);
void make_vm_node_scrape_job(const ObjectView& spec, const JobContext&, JobList&);
void make_vm_static_scrape_jobs(const ObjectView& spec, const JobContext&, JobList&);
void make_vm_scrape_config_job(const ObjectView& spec, const JobContext&, JobList&);

}  // namespace k8s_sd::inline v0::detail
