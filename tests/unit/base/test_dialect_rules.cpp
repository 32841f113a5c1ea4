#include "k8s_sd/detail/base/dialect_rules.hpp"

#include <catch2/catch_test_macros.hpp>
#include <iterator>
#include <set>
#include <string>

namespace k8s_sd::detail {
namespace {

/// The dialect of a rule, and its difference from the other dialect.
struct Statement {
    LabelDialect who;
    std::string sentence;
    bool DialectRules::*rule;
};

constexpr LabelDialect prometheus = LabelDialect::prometheus;
constexpr LabelDialect vmagent = LabelDialect::victoriametrics;
using R = DialectRules;

const Statement statements[] = {
    {prometheus, "has versions", &R::has_versions},
    {prometheus, "refuses own_namespace with a URL", &R::refuses_own_namespace_outside_a_pod},
    {prometheus, "watches names and own_namespace", &R::adds_own_namespace_to_listed_ones},
    {prometheus, "takes one selector a kind", &R::refuses_repeated_selectors},
    {prometheus, "refuses a selector without use", &R::refuses_unused_selectors},
    {prometheus, "refuses an empty api_server", &R::refuses_empty_api_server},
    {prometheus, "ties HTTP options to api_server", &R::http_options_need_api_server},
    {vmagent, "uses the proxies of the environment", &R::uses_proxies_of_environment},
    {vmagent, "ignores credentials in a pod", &R::ignores_credentials_without_api_server},
    {vmagent, "refuses an empty basic_auth", &R::refuses_empty_basic_auth},
    {prometheus, "knows versions of TLS in upper case", &R::has_exact_tls_versions},
    {vmagent, "puts variables into files", &R::expands_variables},
    {vmagent, "has rules in global", &R::has_global_rules},
    {vmagent, "reads lists of jobs from files", &R::job_files_are_lists},
    {vmagent, "knows the role endpointslices", &R::has_role_endpointslices},
    {prometheus, "has the roles of Gateway API", &R::has_roles_of_gateway_api},
    {prometheus, "has the monitors of prometheus-operator", &R::has_monitors},

    {prometheus, "reads null as an empty text", &R::reads_null_as_empty_text},
    {vmagent, "reads an empty action as replace", &R::empty_action_is_default},
    {prometheus, "refuses fields without use", &R::refuses_unused_fields},
    {prometheus, "hashes with MD5", &R::hashmod_is_md5},
    {vmagent, "expands {{label}} in a replacement", &R::expands_label_references},
    {vmagent, "takes .* for (.*)", &R::takes_dot_star_for_default_regex},
    {vmagent, "compiles a regex without anchors too", &R::compiles_regex_without_anchors},
    {vmagent, "refuses keep without source labels", &R::needs_source_labels},
    {prometheus, "refuses source labels without name", &R::refuses_nameless_labels},
    {vmagent, "copies empty values in labelmap", &R::labelmap_copies_empty_values},
    {vmagent, "drops what has no label left", &R::drops_what_has_no_label_left},

    {vmagent, "reads 1.5s and 90 as durations", &R::reads_lax_durations},
    {vmagent, "writes 1m0s for a minute", &R::writes_durations_as_go},
    {vmagent, "resolves paths of job files beside the main file",
     &R::job_files_have_directory_of_main_file},
    {prometheus, "cuts the timeout in global", &R::cuts_global_timeout},
    {vmagent, "takes the scheme HTTPS", &R::lowers_case_of_scheme},
    {prometheus, "refuses a timeout above the interval", &R::refuses_timeout_above_interval},
    {vmagent, "keeps empty labels of targets", &R::keeps_empty_labels},
    {vmagent, "sorts labels before relabelling", &R::sorts_labels_before_relabelling},
    {vmagent, "falls back to /metrics for an empty path", &R::falls_back_to_defaults},
    {vmagent, "joins URLs of labels as they are", &R::joins_urls_as_they_are},

    {prometheus, "refuses lists with unknown keys", &R::refuses_bad_target_lists},
    {prometheus, "reads files by their extension", &R::reads_target_files_by_extension},
    {vmagent, "drops the targets of bad files", &R::drops_targets_of_bad_files},
    {vmagent, "takes __address__ of a static group", &R::address_label_replaces_targets},
    {prometheus, "refuses a static target with a slash", &R::refuses_slash_in_static_targets},
    {vmagent, "writes relative paths of files", &R::writes_relative_file_paths},

    {vmagent, "passes over empty addresses of nodes", &R::skips_empty_node_addresses},
    {vmagent, "attaches the name of an unknown node", &R::attaches_name_of_unknown_node},

    {vmagent, "drops finished pods", &R::skips_finished_pods},
    {vmagent, "drops terminated containers", &R::skips_terminated_containers},
    {vmagent, "puts a bare IPv6 address in brackets", &R::brackets_bare_ipv6},

    {prometheus, "writes the load balancer's IP", &R::writes_load_balancer_ip},

    {prometheus, "matches a host of one label by *", &R::lone_wildcard_covers_one_label},
    {vmagent, "makes a target of http without paths", &R::http_rule_without_paths_is_a_target},

    {prometheus, "writes references without kind", &R::writes_references_without_kind},
    {prometheus, "knows pods of its namespace only", &R::finds_pods_in_own_namespace_only},
    {vmagent, "writes the namespace of a pod elsewhere", &R::writes_namespace_of_pod_elsewhere},
    {vmagent, "attaches through pod or service", &R::attaches_through_pod_or_service},
    {vmagent, "writes the service's type to endpoints", &R::endpoints_get_service_type},
    {vmagent, "drops ports of init containers", &R::skips_ports_of_init_containers},
    {vmagent, "refers to the pod at uncovered ports", &R::uncovered_ports_refer_to_pod},

    {prometheus, "writes the endpoint's protocol twice",
     &R::container_port_has_protocol_of_endpoint},

    {vmagent, "writes conditions that are not set", &R::writes_unset_conditions},
    {prometheus, "writes the zone of an endpoint", &R::writes_zone},
    {prometheus, "writes the deprecated topology", &R::writes_topology},
    {vmagent, "writes 0 for a port without number", &R::missing_port_number_is_zero},
};

TEST_CASE("DialectRules: each rule holds for one dialect and not for the other") {
    for (const auto& [who, sentence, rule] : statements) {
        CAPTURE(to_string(who), sentence);
        const LabelDialect other = who == prometheus ? vmagent : prometheus;
        CHECK(rules_of(who).*rule);
        CHECK_FALSE(rules_of(other).*rule);
    }
}

TEST_CASE("DialectRules: there is a statement about every rule") {
    std::set<const bool*> rules;
    for (const Statement& statement : statements) rules.insert(&(prometheus_rules.*statement.rule));
    CHECK(rules.size() == std::size(statements));
    CHECK(rules.size() * sizeof(bool) == sizeof(DialectRules));
}

TEST_CASE("DialectRules: there is one table a dialect") {
    CHECK(&rules_of(LabelDialect::prometheus) == &prometheus_rules);
    CHECK(&rules_of(LabelDialect::victoriametrics) == &victoriametrics_rules);
    STATIC_REQUIRE(rules_of(LabelDialect::victoriametrics).skips_finished_pods);
}

}  // namespace
}  // namespace k8s_sd::detail
