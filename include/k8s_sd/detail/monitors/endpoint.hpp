#pragma once

#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/object_view.hpp"
#include "k8s_sd/detail/monitors/relabelings.hpp"

#include <vector>

/// Common to the endpoints of ServiceMonitors and PodMonitors.
namespace k8s_sd::inline v0::detail {

/// Whether the API server selects the objects (`selectorMechanism: RoleSelector`), not rules.
bool uses_role_selector(const ObjectView& spec);
/// Refuses it for versions of Prometheus without selectors.
void check_selector_mechanism(const ObjectView& spec, const JobContext&);

/// Refuses faults of an endpoint.
void check_endpoint(const ObjectView& endpoint, const JobContext&);

/// `honor_labels` up to `track_timestamps_staleness`.
void put_endpoint_honors(JobObject&, const ObjectView& endpoint, const JobContext&);
/// `scrape_interval` up to `enable_http2`.
void put_endpoint_request(JobObject&, const ObjectView& endpoint, const JobContext&);
/// Limits, histograms, protocols and the body size.
void put_scrape_limits(JobObject&, const ObjectView& spec, const ObjectView& scrape_class,
                       const JobContext&);

/// Keeps the container ports of a name, or of a number other than 0.
void add_target_port_rule(RuleList&, const ObjectView& target_port);
/// Keeps the container ports of `port`, `portNumber` or `targetPort`, whichever comes first.
void add_pod_port_rule(RuleList&, const ObjectView& endpoint);
/// `endpoint`: the name of the port, else the target port.
void add_endpoint_label(RuleList&, const ObjectView& endpoint);
/// Labels of pods, of the object and of the owner.
void add_pod_target_labels(RuleList&, const ObjectView& spec, const JobContext&);
/// The rules of the class and the object, and the owner's enforced label.
void add_last_rules(RuleList&, const std::vector<ObjectView>& of_object,
                    const ObjectView& scrape_class, const JobContext&);

}  // namespace k8s_sd::inline v0::detail
