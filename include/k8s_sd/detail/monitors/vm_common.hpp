#pragma once

#include "k8s_sd/detail/monitors/job_context.hpp"
#include "k8s_sd/detail/monitors/object_view.hpp"
#include "k8s_sd/detail/monitors/relabelings.hpp"

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

/// Common to the kinds of VictoriaMetrics' operator. The main differences from prometheus-operator:
/// no first rule, no rules of shards, and selector rules about values only, so that an absent label
/// equals an empty one.
namespace k8s_sd::inline v0::detail {

/// A discovery of Kubernetes objects.
struct VMDiscovery {
    std::string_view role;
    std::vector<std::string> namespaces{};  ///< empty: all
    ObjectView selector;
    std::vector<ObjectView> attach_metadata{};  ///< the first with a field decides it
    bool of_node = false;                       ///< the pods of the agent's own node only
};

/// `attach_metadata`: the fields that apply to the role and are true.
/// \param attach_metadata  the first with a field decides it
void put_vm_attached(JobObject& entry, std::string_view role,
                     const std::vector<ObjectView>& attach_metadata);
/// An entry of `kubernetes_sd_configs`.
JobObject vm_kubernetes_entry(const VMDiscovery&, const JobContext&);
/// The namespaces of a `namespaceSelector`.
std::vector<std::string> vm_namespaces(const ObjectView& selector, const JobContext&);

/// An entry of `static_configs`.
JobObject vm_static_config(const std::vector<std::string>& targets, const ObjectView& labels);

/// The settings of an endpoint besides its discovery.
struct VMScrapeParams {
    const ObjectView& endpoint;
    const ObjectView& spec;     ///< with the limits of endpoints without
    std::string_view path{};    ///< instead of the endpoint's; empty: the endpoint's
    std::string_view scheme{};  ///< the same
    std::string_view module{};  ///< a parameter; empty: none
    std::string_view default_timeout{};
};
/// `honor_labels` up to `series_limit`.
void put_vm_scrape_params(JobObject&, const VMScrapeParams&, const JobContext&);
/// The keys of vmagent alone, in `vm_scrape_params`.
void put_vm_extensions(JobObject&, const ObjectView& endpoint, const JobContext&);

/// The selector as rules, unless the API server selects.
void add_vm_selector_rules(RuleList&, const ObjectView& selector, const std::string& object,
                           const JobContext&);
/// Rules in the spelling of VictoriaMetrics, which has more fields.
void add_vm_user_rules(RuleList&, const std::vector<ObjectView>& rules);
/// The owner's template for the kind, and its enforced label.
void add_vm_last_rules(RuleList&, const JobContext&);
/// `metric_relabel_configs`, without rules about the enforced label.
void put_vm_metric_relabelings(GeneratedJob&, const std::vector<ObjectView>& of_class,
                               const std::vector<ObjectView>& of_object, const JobContext&);

}  // namespace k8s_sd::inline v0::detail
