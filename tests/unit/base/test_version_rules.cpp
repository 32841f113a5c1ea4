#include "k8s_sd/detail/base/dialect_rules.hpp"

#include <catch2/catch_test_macros.hpp>
#include <iterator>
#include <set>
#include <string>

namespace k8s_sd::detail {
namespace {

using V = VersionRules;
using enum PrometheusVersion;

/// The first release with a rule, and the last one without it.
struct Release {
    std::string sentence;
    bool VersionRules::*rule;
    PrometheusVersion without, with;
};

const Release releases[] = {
    {"rules have names of the job's scheme", &V::has_names_of_scheme_in_rules, v3_6, v3_7},
    {"a pod needs a known node", &V::needs_known_node, v3_10, v3_11},
    {"the second IP family has no targets", &V::skips_second_ip_family, v3_10, v3_11},
    {"nodes have labels of their conditions", &V::writes_node_conditions, v3_11, v3_12},
    {"targets have labels about histograms", &V::has_histogram_labels, v3_12, v3_13},
    {"the load balancer's IP is from the status", &V::reads_load_balancer_status, v3_14, v3_15},
    {"targets may have a socket", &V::has_unix_sockets, v3_14, v3_15},
};

TEST_CASE("VersionRules: each rule begins with its release and holds from then on") {
    for (const auto& [sentence, rule, without, with] : releases) {
        CAPTURE(sentence);
        CHECK_FALSE(version_rules_of({.version = v3_5}).*rule);
        CHECK_FALSE(version_rules_of({.version = without}).*rule);
        CHECK(version_rules_of({.version = with}).*rule);
        CHECK(version_rules_of({.version = v3_15}).*rule);
    }
}

TEST_CASE("VersionRules: vmagent has none of them") {
    for (const Release& release : releases) {
        CHECK_FALSE(version_rules_of({LabelDialect::victoriametrics, v3_15}).*release.rule);
    }
}

TEST_CASE("VersionRules: each rule has a row in the table, and a statement here") {
    std::set<const bool*> rules, stated;
    for (const VersionRow& row : version_table) rules.insert(&(no_version_rules.*row.rule));
    for (const Release& release : releases) stated.insert(&(no_version_rules.*release.rule));
    CHECK(rules == stated);
    CHECK(rules.size() == std::size(version_table));
    CHECK(rules.size() * sizeof(bool) == sizeof(VersionRules));
}

TEST_CASE("PrometheusVersion: the names are those of the releases") {
    CHECK(to_string(PrometheusVersion()) == "3.5");
    CHECK(to_string(v3_5) == "3.5");
    CHECK(to_string(v3_10) == "3.10");
    CHECK(to_string(v3_15) == "3.15");
    for (std::size_t i = 0; i < prometheus_version_names.size(); ++i) {
        const auto version = static_cast<PrometheusVersion>(i);
        CHECK(prometheus_version_from_string(to_string(version)) == version);
        CHECK(to_string(version) == "3." + std::to_string(i + 5));
    }
    for (const char* other : {"", "3", "3.4", "3.16", "3.5.3", "v3.5", "3.05", " 3.5"}) {
        CAPTURE(other);
        CHECK_FALSE(prometheus_version_from_string(other));
    }
}

}  // namespace
}  // namespace k8s_sd::detail
