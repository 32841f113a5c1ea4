#include "k8s_sd/detail/monitors/selectors.hpp"
#include "support/monitors.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace k8s_sd::test {

namespace {

using detail::Unselected;

struct SelectorReading {
    std::string text;
    std::string fault;
    std::string rules;
};

SelectorReading read_selector(const std::string& json) {
    const boost::json::value value = json_of(json);
    detail::Faults faults;
    const detail::ObjectView view(&value, "selector", faults);
    detail::RuleList rules;
    detail::add_selector_rules(rules, view, "pod");
    SelectorReading reading;
    reading.text = detail::selector_text(view);
    reading.fault = faults.first() ? faults.first()->reason : "";
    reading.rules = text_of(detail::to_json(rules.take()));
    return reading;
}

}  // namespace

TEST_CASE("selector_text: requirements are sorted by key, values too") {
    CHECK(read_selector("{}").text == "");
    CHECK(read_selector("{'matchLabels': {'b': '2', 'a': ''}}").text == "a=,b=2");
    CHECK(read_selector("{'matchLabels': {'g': 'g1'}, 'matchExpressions': ["
                        "{'key': 'g', 'operator': 'In', 'values': ['g2', 'g1', 'g2']},"
                        "{'key': 'c', 'operator': 'Exists'},"
                        "{'key': 'a', 'operator': 'NotIn', 'values': ['y', 'x']},"
                        "{'key': 'b', 'operator': 'DoesNotExist', 'values': []}]}")
              .text == "a notin (x,y),!b,c,g=g1,g in (g1,g2)");
}

TEST_CASE("selector_text: invalid selectors are faults") {
    const auto fault = [](const std::string& json) { return read_selector(json).fault; };
    CHECK(fault("{'matchLabels': {'a b': 'c'}}") ==
          "selector.matchLabels.a b: 'a b' is no valid label key");
    CHECK(fault("{'matchLabels': {'a,b': 'c'}}") != "");
    CHECK(fault("{'matchLabels': {'!a': 'c'}}") != "");
    CHECK(fault("{'matchLabels': {'': 'c'}}") != "");
    CHECK(fault("{'matchLabels': {'a=b': 'c'}}") != "");
    CHECK(fault("{'matchLabels': {'X/a': 'c'}}") != "");
    CHECK(fault("{'matchLabels': {'a': 'c,d=e'}}") ==
          "selector.matchLabels.a: 'c,d=e' is no valid label value");
    CHECK(fault("{'matchLabels': {'a': ' c'}}") != "");
    CHECK(fault("{'matchLabels': {'a': 1}}") == "selector.matchLabels.a: must be a text");
    CHECK(fault("{'matchExpressions': [{'key': 'a', 'operator': 'In'}]}") ==
          "selector.matchExpressions[0].values: the operator In needs values");
    CHECK(fault("{'matchExpressions': [{'key': 'a', 'operator': 'Exists', 'values': ['b']}]}") !=
          "");
    CHECK(fault("{'matchExpressions': [{'key': 'a', 'operator': 'in', 'values': ['b']}]}") ==
          "selector.matchExpressions[0].operator: is no operator of a label selector");
    CHECK(fault("{'matchExpressions': {}}") == "selector.matchExpressions: must be a list");
    CHECK(fault("[]") == "selector: must be an object");
}

TEST_CASE("add_selector_rules: one rule for each requirement, values as given") {
    CHECK(read_selector("{'matchLabels': {'b/c': 'x.y'}}").rules ==
          "[{'action':'keep','source_labels':['__meta_kubernetes_pod_label_b_c',"
          "'__meta_kubernetes_pod_labelpresent_b_c'],'regex':'(x.y);true'}]");
    CHECK(read_selector("{'matchExpressions': ["
                        "{'key': 'a', 'operator': 'In', 'values': ['2', '1']}]}")
              .rules == "[{'action':'keep','source_labels':['__meta_kubernetes_pod_label_a',"
                        "'__meta_kubernetes_pod_labelpresent_a'],'regex':'(2|1);true'}]");
    CHECK(read_selector("{'matchExpressions': [{'key': 'a', 'operator': 'DoesNotExist'}]}").rules ==
          "[{'action':'drop','source_labels':['__meta_kubernetes_pod_labelpresent_a'],"
          "'regex':'true'}]");
    CHECK(read_selector("{'matchExpressions': [{'key': 'a', 'operator': 'Like'}]}").rules == "[]");
}

TEST_CASE("selection: an absent selector selects nothing, an empty one everything") {
    MonitorFixture fixture;
    const auto select = [&](std::string_view ns, const detail::MonitorLabels& labels,
                            const detail::MonitorLabels& of_namespace = {}) {
        return detail::selection(fixture.owner, service_monitor, ns, labels, of_namespace);
    };
    CHECK(select("mon", {}) == Unselected::kind_off);
    fixture.set_owner("{'serviceMonitorSelector': {}}");
    CHECK(select("mon", {}) == Unselected::selected);
    CHECK(select("other", {}) == Unselected::other_namespace);
    CHECK(detail::selection(fixture.owner, pod_monitor, "mon", {}, {}) == Unselected::kind_off);
    fixture.set_owner("{'serviceMonitorSelector': {}, 'serviceMonitorNamespaceSelector': {}}");
    CHECK(select("other", {}) == Unselected::selected);
    fixture.set_owner("{'serviceMonitorSelector': {'matchLabels': {'a': 'b'}},"
                      " 'serviceMonitorNamespaceSelector': {'matchLabels': {'team': 'red'}}}");
    CHECK(select("mon", {{"a", "b"}}) == Unselected::namespace_labels);
    CHECK(select("x", {{"a", "c"}}, {{"team", "red"}}) == Unselected::object_labels);
    CHECK(select("x", {{"a", "b"}}, {{"team", "red"}}) == Unselected::selected);
}

}  // namespace k8s_sd::test
