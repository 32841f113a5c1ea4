#pragma once

#include "k8s_sd/role.hpp"

#include <array>
#include <compare>
#include <cstddef>

namespace k8s_sd::inline v0::detail {

/// All differences between Prometheus 3.5 and vmagent 1.145, one named flag each. No other code
/// checks the dialect itself. Each comment first describes the product for which the flag is true,
/// then the other one.
struct DialectRules {
    // Configuration.

    /// Targets of Prometheus depend on its version, see VersionRules; vmagent has no versions here.
    bool has_versions;

    /// Prometheus refuses it beside a URL or a kubeconfig file; vmagent accepts it.
    bool refuses_own_namespace_outside_a_pod;
    /// Prometheus watches it besides the listed namespaces; vmagent only if none is listed.
    bool adds_own_namespace_to_listed_ones;
    /// Prometheus accepts one selector a kind; vmagent joins several.
    bool refuses_repeated_selectors;
    /// Prometheus refuses selectors for kinds that the role does not use; vmagent ignores them.
    bool refuses_unused_selectors;
    /// Prometheus refuses `api_server: ""`; vmagent reads it as in-cluster access.
    bool refuses_empty_api_server;
    /// Prometheus accepts headers, proxies, `follow_redirects: false` and `enable_http2: false`
    /// only for a server given by URL; vmagent accepts them anywhere.
    bool http_options_need_api_server;
    /// vmagent reaches a server given by URL through the proxies of the environment; Prometheus
    /// only with `proxy_from_environment`. Both use them for a kubeconfig file.
    bool uses_proxies_of_environment;
    /// vmagent ignores credentials and TLS options unless the server is given by URL; Prometheus
    /// refuses them.
    bool ignores_credentials_without_api_server;
    /// vmagent refuses a `basic_auth` without user and password; Prometheus sends no credentials.
    bool refuses_empty_basic_auth;
    /// Prometheus knows versions of TLS in upper case only; vmagent ignores the case, and an empty
    /// text.
    bool has_exact_tls_versions;
    /// vmagent expands `%{NAME}` in a file to the value of an environment variable; Prometheus
    /// does not.
    bool expands_variables;
    /// vmagent has relabel_configs and metric_relabel_configs in `global`; Prometheus does not.
    bool has_global_rules;
    /// In vmagent files of `scrape_config_files` are lists of jobs; in Prometheus they are mappings
    /// like the main file.
    bool job_files_are_lists;
    /// In such files vmagent resolves paths relative to the directory of the main file; Prometheus
    /// relative to the directory of the file itself.
    bool job_files_have_directory_of_main_file;
    /// vmagent accepts endpointslices as an alias of role endpointslice, but ignores it in a
    /// selector; Prometheus has no such role.
    bool has_role_endpointslices;
    /// vmagent has no roles of Gateway API; Prometheus gets them here as an experiment.
    bool has_roles_of_gateway_api;
    /// Monitors of prometheus-operator become jobs of Prometheus; vmagent gets its jobs from other
    /// kinds.
    bool has_monitors;

    // Relabelling.

    /// Prometheus reads null as an empty text; vmagent as a missing key.
    bool reads_null_as_empty_text;
    /// vmagent treats an empty action as the default; Prometheus refuses it.
    bool empty_action_is_default;
    /// Prometheus refuses fields that an action does not use; vmagent ignores them.
    bool refuses_unused_fields;
    /// Prometheus hashes with MD5; vmagent with XXH64.
    bool hashmod_is_md5;
    /// vmagent replaces `{{label}}` in a replacement by the label's value; Prometheus does not.
    bool expands_label_references;
    /// vmagent treats every regex equivalent to `.*` as the default one, with the whole source as
    /// its group; in Prometheus `.*` has no group.
    bool takes_dot_star_for_default_regex;
    /// vmagent also compiles a regex without anchors, and refuses `a)|(b`; Prometheus does not.
    bool compiles_regex_without_anchors;
    /// vmagent refuses keep, drop, hashmod, lowercase and uppercase without source labels (the
    /// first two only without `if`); in Prometheus the source is then empty.
    bool needs_source_labels;
    /// Prometheus refuses a source label without name, and a labelmap that can only produce such
    /// labels; in vmagent the former is empty, and the latter copies nothing.
    bool refuses_nameless_labels;
    /// vmagent's labelmap also copies empty values, over existing labels; Prometheus' does not.
    bool labelmap_copies_empty_values;
    /// vmagent drops a target when a rule has removed its last label; in Prometheus the next rule
    /// may add new ones.
    bool drops_what_has_no_label_left;

    // Scrape targets.

    /// vmagent reads "1.5s", "90" (seconds), "1s1h", "1H" and "-1s"; Prometheus requires units,
    /// from long to short, and refuses negative durations.
    bool reads_lax_durations;
    /// vmagent writes "1m0s", as Go does; Prometheus "1m".
    bool writes_durations_as_go;
    /// Prometheus caps a default timeout in `global` at the interval there, and jobs inherit the
    /// capped value; in vmagent they inherit the configured one.
    bool cuts_global_timeout;
    /// vmagent writes a scheme in lower case into the scrape URL and the label; Prometheus keeps
    /// the case of the label. Both accept any case.
    bool lowers_case_of_scheme;
    /// Prometheus refuses a scrape timeout above the interval; vmagent caps a job's timeout at the
    /// interval, and accepts a target's.
    bool refuses_timeout_above_interval;
    /// In vmagent a target label with an empty value before relabelling hides the job's default,
    /// and rules see it as present but empty; in Prometheus it counts as absent.
    bool keeps_empty_labels;
    /// vmagent sorts the labels before relabelling; Prometheus does not.
    bool sorts_labels_before_relabelling;
    /// If rules have deleted scheme, path, interval or timeout, vmagent falls back to "http",
    /// "/metrics" and the job's durations; Prometheus does not.
    bool falls_back_to_defaults;
    /// vmagent concatenates a target's URL from the labels without encoding, takes scheme and path
    /// from the address if it has them, and adds the default port to `instance` only; Prometheus
    /// requires host and port, and encodes them.
    bool joins_urls_as_they_are;

    // Targets from elsewhere.

    /// Prometheus refuses an http_sd list with unknown keys, with null as a group, with an empty
    /// label name, or with a type other than application/json; vmagent ignores all of these. In
    /// files, Prometheus refuses null as a group and empty label names.
    bool refuses_bad_target_lists;
    /// Prometheus accepts the file extensions .json, .yml and .yaml, and reads .json as JSON;
    /// vmagent reads every file as YAML, a superset of JSON.
    bool reads_target_files_by_extension;
    /// If a target file becomes unusable, vmagent drops its targets; Prometheus keeps them.
    bool drops_targets_of_bad_files;
    /// vmagent uses the label `__address__` of a static group, or of a group in a file, as the
    /// address of its targets; Prometheus uses the targets.
    bool address_label_replaces_targets;
    /// Prometheus refuses a job without rules if a static target contains a slash; vmagent accepts
    /// a URL there.
    bool refuses_slash_in_static_targets;
    /// vmagent writes `__meta_filepath` relative to the directory of its configuration; Prometheus
    /// writes the path used to open the file.
    bool writes_relative_file_paths;

    // Role node.

    /// vmagent skips an address type if its first address is empty; Prometheus uses the empty
    /// address.
    bool skips_empty_node_addresses;
    /// vmagent attaches at least the name of an unknown node; Prometheus attaches nothing.
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

    /// In Prometheus the TLS host "*" matches hosts of one DNS label; in vmagent it matches none.
    bool lone_wildcard_covers_one_label;
    /// vmagent makes a target of a rule with `http` but without paths; Prometheus does not.
    bool http_rule_without_paths_is_a_target;

    // Roles endpoints and endpointslice.

    /// Prometheus writes a target reference without kind; vmagent omits it.
    bool writes_references_without_kind;
    /// Prometheus has one cache for each configured namespace and finds no pod in another
    /// namespace; vmagent does.
    bool finds_pods_in_own_namespace_only;
    /// For a pod in another namespace, vmagent writes the pod's namespace label to the endpoint;
    /// Prometheus does not.
    bool writes_namespace_of_pod_elsewhere;
    /// vmagent finds the node and namespace to attach through the endpoint's pod or service;
    /// Prometheus through the endpoint itself.
    bool attaches_through_pod_or_service;
    /// vmagent attaches the type and address of a service besides its name, labels and
    /// annotations; Prometheus attaches only the latter.
    bool endpoints_get_service_type;
    /// vmagent skips ports of init containers other than sidecars (in role endpointslice only as
    /// targets of their own); Prometheus does not.
    bool skips_ports_of_init_containers;
    /// vmagent writes the pod reference for ports without an endpoint; Prometheus does not.
    bool uncovered_ports_refer_to_pod;

    // Role endpoints.

    /// Prometheus writes the protocol of the endpoint's port as the protocol of the container's
    /// port; vmagent writes the container's own.
    bool container_port_has_protocol_of_endpoint;

    // Role endpointslice.

    /// vmagent writes a condition that is not set as false; Prometheus omits it.
    bool writes_unset_conditions;
    /// Prometheus writes the zone of an endpoint; vmagent does not.
    bool writes_zone;
    /// Prometheus reads deprecatedTopology; vmagent does not. Both read `topology` of v1beta1.
    bool writes_topology;
    /// vmagent uses 0 for a port without number; Prometheus writes neither port nor label.
    bool missing_port_number_is_zero;
};

inline constexpr DialectRules prometheus_rules{
    .has_versions = true,
    .refuses_own_namespace_outside_a_pod = true,
    .adds_own_namespace_to_listed_ones = true,
    .refuses_repeated_selectors = true,
    .refuses_unused_selectors = true,
    .refuses_empty_api_server = true,
    .http_options_need_api_server = true,
    .uses_proxies_of_environment = false,
    .ignores_credentials_without_api_server = false,
    .refuses_empty_basic_auth = false,
    .has_exact_tls_versions = true,
    .expands_variables = false,
    .has_global_rules = false,
    .job_files_are_lists = false,
    .job_files_have_directory_of_main_file = false,
    .has_role_endpointslices = false,
    .has_roles_of_gateway_api = true,
    .has_monitors = true,
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
    .has_versions = false,
    .refuses_own_namespace_outside_a_pod = false,
    .adds_own_namespace_to_listed_ones = false,
    .refuses_repeated_selectors = false,
    .refuses_unused_selectors = false,
    .refuses_empty_api_server = false,
    .http_options_need_api_server = false,
    .uses_proxies_of_environment = true,
    .ignores_credentials_without_api_server = true,
    .refuses_empty_basic_auth = true,
    .has_exact_tls_versions = false,
    .expands_variables = true,
    .has_global_rules = true,
    .job_files_are_lists = true,
    .job_files_have_directory_of_main_file = true,
    .has_role_endpointslices = true,
    .has_roles_of_gateway_api = false,
    .has_monitors = false,
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

/// All differences between the releases of Prometheus from 3.5 on, one named flag each: false in
/// earlier releases, and for vmagent. No other code compares versions. scripts/labels writes the
/// comments to docs/guide/labels.md.
struct VersionRules {
    /// `metric_name_validation_scheme: legacy` of a job also restricts the label names of its
    /// rules. Before: rules may make any name.
    bool has_names_of_scheme_in_rules;
    /// Role `pod` with `attach_metadata.node`: a pod on an unknown node, or on none, has no
    /// targets. Before: it lacks the labels of the node.
    bool needs_known_node;
    /// Role `endpointslice`: a slice has no targets if its service is dual-stack and has another
    /// first IP family. Before: the slices of both families have targets.
    bool skips_second_ip_family;
    /// Role `node`: labels for the conditions of the node. Before: none.
    bool writes_node_conditions;
    /// Scrape targets have labels for the settings about histograms, and rules may change them.
    /// Before: the settings are those of the job.
    bool has_histogram_labels;
    /// Role `service`: `__meta_kubernetes_service_loadbalancer_ip` has the addresses in the status,
    /// if there are any. Before: it is `spec.loadBalancerIP`.
    bool reads_load_balancer_status;
    /// The label `__unix_socket__` of a scrape target names a socket for its scrapes. Before: it is
    /// a hidden label like others.
    bool has_unix_sockets;
};

/// A rule, and the first version with it.
struct VersionRow {
    bool VersionRules::*rule;
    PrometheusVersion since;
};

inline constexpr VersionRow version_table[] = {
    {&VersionRules::has_names_of_scheme_in_rules, PrometheusVersion::v3_7},
    {&VersionRules::needs_known_node, PrometheusVersion::v3_11},
    {&VersionRules::skips_second_ip_family, PrometheusVersion::v3_11},
    {&VersionRules::writes_node_conditions, PrometheusVersion::v3_12},
    {&VersionRules::has_histogram_labels, PrometheusVersion::v3_13},
    {&VersionRules::reads_load_balancer_status, PrometheusVersion::v3_15},
    {&VersionRules::has_unix_sockets, PrometheusVersion::v3_15},
};

inline constexpr VersionRules no_version_rules{};

inline constexpr auto prometheus_version_rules = [] {
    std::array<VersionRules, prometheus_version_names.size()> all{};
    for (const VersionRow& row : version_table) {
        for (auto i = static_cast<std::size_t>(row.since); i < all.size(); ++i)
            all[i].*row.rule = true;
    }
    return all;
}();

/// A dialect and its version.
struct VersionedDialect {
    LabelDialect labels = LabelDialect::prometheus;
    PrometheusVersion version = PrometheusVersion::v3_5;
    auto operator<=>(const VersionedDialect&) const = default;
};

/// The dialect of a configuration or view.
template <class Config>
constexpr VersionedDialect dialect_of(const Config& config) noexcept {
    return {config.dialect, config.prometheus_version};
}

/// \pre the version is one of the enumerators
constexpr const VersionRules& version_rules_of(VersionedDialect dialect) noexcept {
    if (!rules_of(dialect.labels).has_versions) return no_version_rules;
    return prometheus_version_rules[static_cast<std::size_t>(dialect.version)];
}

}  // namespace k8s_sd::inline v0::detail
