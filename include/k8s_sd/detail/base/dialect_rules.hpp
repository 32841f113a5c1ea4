#pragma once

#include "k8s_sd/dialect.hpp"

namespace k8s_sd::inline v0::detail {

/// Everything in which Prometheus 3.5 and vmagent 1.145 differ, each fact under a name. No other
/// code asks which dialect it serves. A comment says what the one does for whom the rule holds,
/// then what the other does.
struct DialectRules {
    // Configuration.

    /// Prometheus refuses it beside a URL or a kubeconfig file; vmagent does not mind.
    bool refuses_own_namespace_outside_a_pod;
    /// Prometheus watches it besides the listed namespaces; vmagent only where none is listed.
    bool adds_own_namespace_to_listed_ones;
    /// Prometheus takes one selector a kind; vmagent joins several.
    bool refuses_repeated_selectors;
    /// Prometheus refuses selectors for kinds that the role does not need; vmagent ignores them.
    bool refuses_unused_selectors;
    /// Prometheus refuses `api_server: ""`; vmagent takes it for in-cluster access.
    bool refuses_empty_api_server;
    /// Prometheus takes headers, proxies, `follow_redirects: false` and `enable_http2: false` for
    /// options of a server given by URL; vmagent takes them anywhere.
    bool http_options_need_api_server;
    /// vmagent reaches a server that is given by URL through the proxies of the environment;
    /// Prometheus only with `proxy_from_environment`. Both do so for a kubeconfig file.
    bool uses_proxies_of_environment;
    /// vmagent ignores credentials and TLS options where no server is given by URL; Prometheus
    /// refuses them.
    bool ignores_credentials_without_api_server;
    /// vmagent puts the values of environment variables where a file says `%{NAME}`; Prometheus
    /// does not.
    bool expands_variables;
    /// vmagent has relabel_configs and metric_relabel_configs in `global`; Prometheus does not.
    bool has_global_rules;
    /// Files of `scrape_config_files` are lists of jobs to vmagent; to Prometheus mappings like the
    /// main file.
    bool job_files_are_lists;
    /// In such files paths are relative to the directory of the main file to vmagent; to Prometheus
    /// to that of the file itself.
    bool job_files_have_directory_of_main_file;
    /// vmagent takes endpointslices for role endpointslice, but in a selector for nothing at all;
    /// Prometheus knows no such role.
    bool has_role_endpointslices;

    // Relabelling.

    /// Prometheus takes null for an empty text; vmagent for a key that is missing.
    bool reads_null_as_empty_text;
    /// vmagent takes an empty action for the default; Prometheus refuses it.
    bool empty_action_is_default;
    /// Prometheus refuses fields that an action does not use; vmagent ignores them.
    bool refuses_unused_fields;
    /// Prometheus hashes with MD5; vmagent with XXH64.
    bool hashmod_is_md5;
    /// vmagent puts the value of a label where a replacement says `{{label}}`; Prometheus does not.
    bool expands_label_references;
    /// vmagent takes every regex that means `.*` for the default one, whose group is the whole
    /// source; to Prometheus `.*` has no group.
    bool takes_dot_star_for_default_regex;
    /// vmagent compiles a regex also without anchors, and refuses `a)|(b`; Prometheus does not.
    bool compiles_regex_without_anchors;
    /// vmagent refuses keep, drop, hashmod, lowercase and uppercase without source labels (the
    /// first two only without `if`); to Prometheus the source is empty.
    bool needs_source_labels;
    /// Prometheus refuses a source label without name, and a labelmap that can only make such; in
    /// vmagent the one is empty, and the other copies nothing.
    bool refuses_nameless_labels;
    /// vmagent's labelmap copies empty values too, over what was there; Prometheus' does not.
    bool labelmap_copies_empty_values;
    /// vmagent drops a target when a rule has taken its last label; in Prometheus the next rule may
    /// give it new ones.
    bool drops_what_has_no_label_left;

    // Scrape targets.

    /// vmagent reads "1.5s", "90" (seconds), "1s1h", "1H" and "-1s"; Prometheus needs units, from
    /// long to short, and nothing below 0.
    bool reads_lax_durations;
    /// vmagent writes "1m0s", as Go does; Prometheus "1m".
    bool writes_durations_as_go;
    /// Prometheus cuts a default timeout in `global` to the interval there, so that jobs inherit it
    /// cut; in vmagent they inherit what is written.
    bool cuts_global_timeout;
    /// vmagent takes a job's scheme in any case and writes it in lower case; Prometheus takes
    /// `http` and `https` only.
    bool lowers_case_of_scheme;
    /// Prometheus refuses a scrape timeout above the interval; vmagent cuts a job's to the
    /// interval, and takes a target's.
    bool refuses_timeout_above_interval;
    /// To vmagent a label of a target that is empty before relabelling hides the job's default, and
    /// is there, empty, for the rules; to Prometheus it is none.
    bool keeps_empty_labels;
    /// vmagent sorts the labels before relabelling; Prometheus does not.
    bool sorts_labels_before_relabelling;
    /// Where rules have deleted scheme, path, interval or timeout, vmagent falls back to "http",
    /// "/metrics" and the job's times; Prometheus does not.
    bool falls_back_to_defaults;
    /// vmagent joins a target's URL from the labels as they are, takes scheme and path from an
    /// address that has them, and puts the default port into `instance` only; Prometheus wants
    /// host and port, and encodes them.
    bool joins_urls_as_they_are;

    // Targets from elsewhere.

    /// Prometheus refuses a list of http_sd with unknown keys, with null as a group or with an
    /// empty label name, and a type other than application/json; vmagent ignores all that. Also of
    /// files: null as a group and empty label names.
    bool refuses_bad_target_lists;
    /// Prometheus takes files that are called .json, .yml or .yaml, and reads .json as JSON; to
    /// vmagent all files are YAML, which JSON is as well.
    bool reads_target_files_by_extension;
    /// Where a file of targets cannot be used any more, vmagent drops its targets; Prometheus keeps
    /// them.
    bool drops_targets_of_bad_files;
    /// vmagent takes the label `__address__` of a static group, or one of a file, for the address
    /// of its targets; Prometheus takes the targets.
    bool address_label_replaces_targets;
    /// Prometheus refuses a job without rules that has a static target with a slash; to vmagent it
    /// may be a URL.
    bool refuses_slash_in_static_targets;
    /// vmagent tells `__meta_filepath` relative to the directory of its configuration; Prometheus
    /// as it opens the file.
    bool writes_relative_file_paths;

    // Role node.

    /// vmagent passes over a type whose first address is empty; Prometheus takes the empty address.
    bool skips_empty_node_addresses;
    /// vmagent attaches at least the name of a node that it does not know; Prometheus nothing.
    bool attaches_name_of_unknown_node;

    // Role pod.

    /// vmagent gives pods of phase Succeeded or Failed no targets; Prometheus does.
    bool skips_finished_pods;
    /// vmagent gives terminated containers no targets; Prometheus does.
    bool skips_terminated_containers;
    /// vmagent puts an IPv6 address without port in brackets; Prometheus does not.
    bool brackets_bare_ipv6;

    // Role service.

    /// Prometheus writes the IP of services of type LoadBalancer; vmagent does not.
    bool writes_load_balancer_ip;

    // Role ingress.

    /// To Prometheus the TLS host "*" covers hosts of one DNS label; to vmagent none.
    bool lone_wildcard_covers_one_label;
    /// vmagent makes a target of a rule that has `http` without paths; Prometheus does not.
    bool http_rule_without_paths_is_a_target;

    // Roles endpoints and endpointslice.

    /// Prometheus writes a target reference without kind; vmagent leaves it out.
    bool writes_references_without_kind;
    /// Prometheus has one cache for each configured namespace and finds no pod of another one;
    /// vmagent does.
    bool finds_pods_in_own_namespace_only;
    /// vmagent gives an endpoint the namespace label of a pod of another one; Prometheus does not.
    bool writes_namespace_of_pod_elsewhere;
    /// vmagent finds the node and namespace to attach through the endpoint's pod or service;
    /// Prometheus through the endpoint itself.
    bool attaches_through_pod_or_service;
    /// vmagent takes the type and address of a service as well as its name, labels and annotations,
    /// with which Prometheus is content.
    bool endpoints_get_service_type;
    /// vmagent passes over ports of init containers that are no sidecars (in role endpointslice
    /// only as targets of their own); Prometheus does not.
    bool skips_ports_of_init_containers;
    /// vmagent writes the reference to the pod at ports that no endpoint covers; Prometheus not.
    bool uncovered_ports_refer_to_pod;

    // Role endpoints.

    /// Prometheus writes the protocol of the endpoint's port as that of the container's port;
    /// vmagent writes the container's own.
    bool container_port_has_protocol_of_endpoint;

    // Role endpointslice.

    /// vmagent takes a condition that is not set for false; Prometheus leaves it out.
    bool writes_unset_conditions;
    /// Prometheus writes the zone of an endpoint; vmagent does not.
    bool writes_zone;
    /// Prometheus reads deprecatedTopology; vmagent only what v1beta1 calls topology, as both do.
    bool writes_topology;
    /// vmagent takes a port without number for 0; Prometheus writes neither port nor label.
    bool missing_port_number_is_zero;
};

inline constexpr DialectRules prometheus_rules{
    .refuses_own_namespace_outside_a_pod = true,
    .adds_own_namespace_to_listed_ones = true,
    .refuses_repeated_selectors = true,
    .refuses_unused_selectors = true,
    .refuses_empty_api_server = true,
    .http_options_need_api_server = true,
    .uses_proxies_of_environment = false,
    .ignores_credentials_without_api_server = false,
    .expands_variables = false,
    .has_global_rules = false,
    .job_files_are_lists = false,
    .job_files_have_directory_of_main_file = false,
    .has_role_endpointslices = false,
    .reads_null_as_empty_text = true,
    .empty_action_is_default = false,
    .refuses_unused_fields = true,
    .hashmod_is_md5 = true,
    .expands_label_references = false,
    .takes_dot_star_for_default_regex = false,
    .compiles_regex_without_anchors = false,
    .needs_source_labels = false,
    .refuses_nameless_labels = true,
    .labelmap_copies_empty_values = false,
    .drops_what_has_no_label_left = false,
    .reads_lax_durations = false,
    .writes_durations_as_go = false,
    .cuts_global_timeout = true,
    .lowers_case_of_scheme = false,
    .refuses_timeout_above_interval = true,
    .keeps_empty_labels = false,
    .sorts_labels_before_relabelling = false,
    .falls_back_to_defaults = false,
    .joins_urls_as_they_are = false,
    .refuses_bad_target_lists = true,
    .reads_target_files_by_extension = true,
    .drops_targets_of_bad_files = false,
    .address_label_replaces_targets = false,
    .refuses_slash_in_static_targets = true,
    .writes_relative_file_paths = false,
    .skips_empty_node_addresses = false,
    .attaches_name_of_unknown_node = false,
    .skips_finished_pods = false,
    .skips_terminated_containers = false,
    .brackets_bare_ipv6 = false,
    .writes_load_balancer_ip = true,
    .lone_wildcard_covers_one_label = true,
    .http_rule_without_paths_is_a_target = false,
    .writes_references_without_kind = true,
    .finds_pods_in_own_namespace_only = true,
    .writes_namespace_of_pod_elsewhere = false,
    .attaches_through_pod_or_service = false,
    .endpoints_get_service_type = false,
    .skips_ports_of_init_containers = false,
    .uncovered_ports_refer_to_pod = false,
    .container_port_has_protocol_of_endpoint = true,
    .writes_unset_conditions = false,
    .writes_zone = true,
    .writes_topology = true,
    .missing_port_number_is_zero = false,
};

inline constexpr DialectRules victoriametrics_rules{
    .refuses_own_namespace_outside_a_pod = false,
    .adds_own_namespace_to_listed_ones = false,
    .refuses_repeated_selectors = false,
    .refuses_unused_selectors = false,
    .refuses_empty_api_server = false,
    .http_options_need_api_server = false,
    .uses_proxies_of_environment = true,
    .ignores_credentials_without_api_server = true,
    .expands_variables = true,
    .has_global_rules = true,
    .job_files_are_lists = true,
    .job_files_have_directory_of_main_file = true,
    .has_role_endpointslices = true,
    .reads_null_as_empty_text = false,
    .empty_action_is_default = true,
    .refuses_unused_fields = false,
    .hashmod_is_md5 = false,
    .expands_label_references = true,
    .takes_dot_star_for_default_regex = true,
    .compiles_regex_without_anchors = true,
    .needs_source_labels = true,
    .refuses_nameless_labels = false,
    .labelmap_copies_empty_values = true,
    .drops_what_has_no_label_left = true,
    .reads_lax_durations = true,
    .writes_durations_as_go = true,
    .cuts_global_timeout = false,
    .lowers_case_of_scheme = true,
    .refuses_timeout_above_interval = false,
    .keeps_empty_labels = true,
    .sorts_labels_before_relabelling = true,
    .falls_back_to_defaults = true,
    .joins_urls_as_they_are = true,
    .refuses_bad_target_lists = false,
    .reads_target_files_by_extension = false,
    .drops_targets_of_bad_files = true,
    .address_label_replaces_targets = true,
    .refuses_slash_in_static_targets = false,
    .writes_relative_file_paths = true,
    .skips_empty_node_addresses = true,
    .attaches_name_of_unknown_node = true,
    .skips_finished_pods = true,
    .skips_terminated_containers = true,
    .brackets_bare_ipv6 = true,
    .writes_load_balancer_ip = false,
    .lone_wildcard_covers_one_label = false,
    .http_rule_without_paths_is_a_target = true,
    .writes_references_without_kind = false,
    .finds_pods_in_own_namespace_only = false,
    .writes_namespace_of_pod_elsewhere = true,
    .attaches_through_pod_or_service = true,
    .endpoints_get_service_type = true,
    .skips_ports_of_init_containers = true,
    .uncovered_ports_refer_to_pod = true,
    .container_port_has_protocol_of_endpoint = false,
    .writes_unset_conditions = true,
    .writes_zone = false,
    .writes_topology = false,
    .missing_port_number_is_zero = true,
};

constexpr const DialectRules& rules_of(LabelDialect dialect) noexcept {
    return dialect == LabelDialect::prometheus ? prometheus_rules : victoriametrics_rules;
}

}  // namespace k8s_sd::inline v0::detail
