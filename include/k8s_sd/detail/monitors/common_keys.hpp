#pragma once

#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/object_view.hpp"
#include "k8s_sd/detail/monitors/relabelings.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Keys of jobs of several kinds.
namespace k8s_sd::inline v0::detail {

/// Refuses a timeout above the interval; the owner's interval counts for an object without.
void check_times(const ObjectView& object, std::string_view interval_key,
                 std::string_view timeout_key, const MonitorOwner&);
/// \returns the fault, empty if none
std::string times_problem(std::string_view interval, std::string_view timeout);

/// `sample_limit` and the like, with the owner's enforced limits.
void put_limits(JobObject&, const ObjectView& spec, const JobContext&);
/// The limits in `global`: the owner's own, not above the enforced ones.
void put_global_limits(JobObject&, const JobContext&);
/// The lower of the object's and the owner's.
void put_body_size_limit(JobObject&, std::string_view own, const JobContext&);

/// `honor_labels` of the object, unless the owner overrides it.
void put_honor_labels(JobObject&, bool honor, const JobContext&);
/// `honor_timestamps`, if the object or the owner's override says something.
void put_honor_timestamps(JobObject&, std::optional<bool> honor, const JobContext&);
void put_track_staleness(JobObject&, const ObjectView& settings, const JobContext&);

/// The settings of native histograms.
void put_histograms(JobObject&, const ObjectView& spec, const JobContext&);
/// `scrape_protocols`.
void put_scrape_protocols(JobObject&, std::vector<std::string> protocols, const JobContext&);
/// `fallback_scrape_protocol` of the object, else of its class.
void put_fallback_protocol(JobObject&, const ObjectView& spec, const ObjectView& scrape_class,
                           const JobContext&);
/// `scheme`, in lower case.
void put_scheme(JobObject&, const ObjectView& settings);
/// `params` of a mapping to lists, if there is one with entries.
void put_params(JobObject&, const ObjectView& params);

/// Whether the owner enforces its namespace label on this object.
bool enforces_namespace(const JobContext&);
/// `→ label = namespace`, if the owner enforces it.
void add_enforced_namespace(RuleList&, const JobContext&);
/// `metric_relabel_configs`: of the class, the object, and the owner; nothing if there are none.
void put_metric_relabelings(GeneratedJob&, const std::vector<ObjectView>& of_object,
                            const ObjectView& scrape_class, const JobContext&);

/// The first rule of every job.
RuleList first_rules(const JobContext&);
/// `drop(phase; (Failed|Succeeded))`, unless the endpoint says `filterRunning: false`.
void add_running_filter(RuleList&, const ObjectView& endpoint);

}  // namespace k8s_sd::inline v0::detail
