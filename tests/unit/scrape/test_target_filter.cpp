#include "k8s_sd/scrape/target_filter.hpp"
#include "support/groups.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

RelabelRule rule(RelabelAction action, std::vector<std::string> sources, std::string regex,
                 std::string target = {}) {
    RelabelRule rule;
    rule.action = action;
    rule.source_labels = std::move(sources);
    rule.regex = std::move(regex);
    rule.target_label = std::move(target);
    return rule;
}

std::vector<LabelCondition> conditions(std::vector<RelabelRule> rules) {
    ScrapeConfig config;
    config.job_name = "job";
    config.relabel_configs = std::move(rules);
    return target_filter(config).conditions.copy();
}

const RelabelRule keep_app = rule(RelabelAction::keep, {"__meta_app"}, "a");
const std::vector<LabelCondition> only_app = {{{"__meta_app"}, "", {"a"}}};

}  // namespace

TEST_CASE("Target filter: the rules of a ServiceMonitor's selector and port are conditions") {
    using enum RelabelAction;
    const auto found = conditions(
        {rule(replace, {"job"}, "(.*)", "__tmp_prometheus_job_name"),
         rule(keep,
              {"__meta_kubernetes_service_label_app", "__meta_kubernetes_service_labelpresent_app"},
              "(shop);true"),
         rule(keep,
              {"__meta_kubernetes_service_label_tier",
               "__meta_kubernetes_service_labelpresent_tier"},
              "(web|cart);true"),
         rule(drop, {"__meta_kubernetes_service_labelpresent_old"}, "true"),
         rule(keep, {"__meta_kubernetes_service_labelpresent_new"}, "true"),
         rule(keep, {"__meta_kubernetes_endpointslice_port_name"}, "metrics"),
         rule(replace, {"__meta_kubernetes_namespace"}, "(.*)", "namespace")});
    CHECK(found == std::vector<LabelCondition>{
                       {{"__meta_kubernetes_service_label_app",
                         "__meta_kubernetes_service_labelpresent_app"},
                        ";",
                        {"shop;true"}},
                       {{"__meta_kubernetes_service_label_tier",
                         "__meta_kubernetes_service_labelpresent_tier"},
                        ";",
                        {"cart;true", "web;true"}},
                       {{"__meta_kubernetes_service_labelpresent_new"}, "", {"true"}},
                       {{"__meta_kubernetes_endpointslice_port_name"}, "", {"metrics"}}});
}

TEST_CASE("Target filter: rules that are no condition end or leave out nothing before them") {
    using enum RelabelAction;
    // Not literal: skipped, or beyond the recognized patterns.
    CHECK(conditions({rule(keep, {"__meta_app"}, "a.*"), keep_app}) == only_app);
    CHECK(conditions({rule(keep, {"__meta_app"}, "a.c"), keep_app}).empty());
    // Labels that are not from discovery.
    CHECK(conditions({rule(keep, {"__address__"}, "a"), keep_app}) == only_app);
    CHECK(conditions({rule(keep, {}, "a"), keep_app}) == only_app);
    // Labels that an earlier rule may have changed.
    CHECK(conditions({rule(replace, {"x"}, "(.*)", "__meta_app"), keep_app}).empty());
    CHECK(conditions({rule(lowercase, {"x"}, "(.*)", "__meta_app"), keep_app}).empty());
    CHECK(conditions({rule(replace, {"x"}, "(.*)", "y"), keep_app}) == only_app);
    CHECK(conditions({rule(replace, {"x"}, "(.*)", "$1"), keep_app}).empty());
    CHECK(conditions({rule(labelmap, {}, "x(.*)"), keep_app}).empty());
    CHECK(conditions({rule(labeldrop, {}, "x"), keep_app}).empty());
}

TEST_CASE("Target filter: a rule that could fail for a target ends the conditions") {
    using enum RelabelAction;
    RelabelRule templated = rule(replace, {"x"}, "(.*)", "y");
    templated.replacement = "$1$1";
    CHECK(conditions({templated, keep_app}).empty());
    templated.replacement = std::string(2'000, 'x');
    CHECK(conditions({templated, keep_app}).empty());
    RelabelRule conditional = keep_app;
    conditional.if_ = {"{a=\"b\"}"};
    CHECK(conditions({conditional, keep_app}).empty());
    CHECK(conditions({rule(keep, std::vector<std::string>(9, "__meta_app"), "a")}).empty());
    CHECK(conditions(std::vector<RelabelRule>(1'000, keep_app)).size() == 50);
    // A text may grow with each rule.
    CHECK(conditions({rule(replace, {"x", "x"}, "(.*)", "y"),
                      rule(replace, {"y", "y"}, "(.*)", "z"), keep_app})
              .empty());
    ScrapeConfig config;
    config.job_name = std::string(2'000, 'x');
    config.relabel_configs = {keep_app};
    CHECK(target_filter(config).empty());
}

TEST_CASE("Target filter: a target passes with its own labels before those of its group") {
    const TargetFilter filter{{{{"__meta_app", "__meta_tier"}, ";", {"a;b", ";"}}}};
    const auto passes = [&](const LabelMap& target, const LabelMap& group) {
        return filter.passes(*make_group("g", {target}, group), 0);
    };
    CHECK(passes({{"__meta_app", "a"}, {"__meta_tier", "b"}}, {}));
    CHECK(passes({{"__meta_app", "a"}}, {{"__meta_tier", "b"}}));
    CHECK(passes({}, {{"x", "y"}}));
    CHECK(passes({{"__meta_app", ""}}, {{"__meta_app", "c"}}));
    CHECK_FALSE(passes({{"__meta_app", ""}}, {{"__meta_tier", "b"}}));
    CHECK_FALSE(passes({{"__meta_app", "A"}, {"__meta_tier", "b"}}, {}));
    // Rules could fail for such a target.
    CHECK(passes({{"x", std::string(TargetFilter::max_value_bytes + 1, 'x')}},
                 {{"__meta_app", "c"}}));
    CHECK_FALSE(
        passes({{"x", std::string(TargetFilter::max_value_bytes, 'x')}}, {{"__meta_app", "c"}}));
    CHECK(TargetFilter().passes_any(*make_group("g", {{{"x", "y"}}})));
}
