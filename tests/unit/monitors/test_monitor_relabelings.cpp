#include "k8s_sd/detail/monitors/relabelings.hpp"
#include "support/monitors.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace k8s_sd::test {

namespace {

std::string rule_fault(const std::string& json, MonitorVersion version = {}) {
    const boost::json::value list = json_of("[" + json + "]");
    detail::Faults faults;
    MonitorOwner owner;
    owner.version = version;
    const MonitorOptions options;
    const MonitorValues values;
    detail::References references(values, owner);
    detail::PatternBudget patterns(detail::monitor_pattern_limits());
    const detail::JobContext context{.owner = owner,
                                     .options = options,
                                     .references = references,
                                     .faults = faults,
                                     .patterns = patterns};
    detail::check_relabelings(detail::ObjectView(&list, "r", faults).items(), context);
    return faults.first() ? faults.first()->reason : "";
}

std::string rule_made(const std::string& json) {
    const boost::json::value list = json_of("[" + json + "]");
    detail::Faults faults;
    detail::RuleList rules;
    rules.add_user_rules(detail::ObjectView(&list, "r", faults).items());
    return text_of(detail::to_json(rules.take()));
}

}  // namespace

TEST_CASE("Rules of monitors: fields are copied unless they are empty") {
    CHECK(rule_made("{}") == "[{}]");
    CHECK(rule_made("{'action': 'LabelMap', 'sourceLabels': ['a', 'b'], 'separator': '',"
                    " 'targetLabel': 't', 'regex': 'x', 'modulus': 3, 'replacement': ''}") ==
          "[{'source_labels':['a','b'],'separator':'','target_label':'t','regex':'x','modulus':3,"
          "'replacement':'','action':'labelmap'}]");
    CHECK(rule_made("{'sourceLabels': [], 'regex': '', 'modulus': 0, 'targetLabel': ''}") ==
          "[{}]");
}

TEST_CASE("Rules of monitors: sound ones") {
    for (const char* rule : {
             "{'targetLabel': 't'}",
             "{'action': 'Keep', 'sourceLabels': ['a'], 'regex': 'b'}",
             "{'action': 'drop'}",
             "{'action': 'hashmod', 'modulus': 2, 'targetLabel': 't'}",
             "{'action': 'LabelDrop', 'regex': 'a.*', 'separator': ';', 'replacement': '$1'}",
             "{'action': 'Lowercase', 'targetLabel': 't', 'replacement': '$1'}",
             "{'action': 'KeepEqual', 'sourceLabels': ['a'], 'targetLabel': 't', 'regex': '(.*)'}",
             "{'action': 'LabelMap', 'replacement': 'x y$1'}",
             "{'targetLabel': 'dots.utf8 and $1'}",
             "{'action': 'whatever'}",
         }) {
        INFO(rule);
        CHECK(rule_fault(rule) == "");
    }
}

TEST_CASE("Rules of monitors: faults") {
    const auto fault = [](const std::string& rule) { return rule_fault(rule); };
    CHECK(fault("{'targetLabel': 't', 'regex': '('}").starts_with("r[0]: invalid regex: "));
    CHECK(fault("{'action': 'keep', 'regex': '['}").starts_with("r[0]: invalid regex: "));
    CHECK(fault("{}") == "r[0]: action 'replace' needs a targetLabel");
    CHECK(fault("{'action': 'HashMod', 'modulus': 1}") ==
          "r[0]: action 'hashmod' needs a targetLabel");
    CHECK(fault("{'action': 'HashMod', 'targetLabel': 't'}") ==
          "r[0]: action 'hashmod' needs a modulus above 0");
    CHECK(fault("{'action': 'Lowercase', 'targetLabel': 't', 'replacement': ''}") ==
          "r[0]: action 'lowercase' takes no replacement");
    CHECK(fault("{'action': 'DropEqual', 'targetLabel': 't', 'modulus': 2}") ==
          "r[0]: action 'dropequal' takes sourceLabels and targetLabel only");
    CHECK(fault("{'action': 'KeepEqual', 'targetLabel': 't', 'separator': ','}") ==
          "r[0]: action 'keepequal' takes sourceLabels and targetLabel only");
    CHECK(fault("{'action': 'LabelKeep', 'sourceLabels': ['a']}") ==
          "r[0]: action 'labelkeep' takes a regex only");
    CHECK(fault("{'action': 'LabelDrop', 'targetLabel': 'a'}") ==
          "r[0]: action 'labeldrop' takes a regex only");
    CHECK(fault("{'action': 'LabelMap', 'replacement': ''}") ==
          "r[0]: '' is an invalid replacement");
    CHECK(fault("{'targetLabel': 1}") == "r[0].targetLabel: must be a text");
    CHECK(fault("7") == "r[0]: must be an object");
}

TEST_CASE("Rules of monitors: older versions accept fewer actions and names") {
    const auto fault = [](const std::string& rule, std::uint64_t minor) {
        return rule_fault(rule, {2, minor, 0});
    };
    CHECK(fault("{'action': 'Uppercase', 'targetLabel': 't'}", 36) == "");
    CHECK(fault("{'action': 'Uppercase', 'targetLabel': 't'}", 35) ==
          "r[0]: action 'uppercase' needs Prometheus 2.36");
    CHECK(fault("{'action': 'KeepEqual', 'targetLabel': 't'}", 40) ==
          "r[0]: action 'keepequal' needs Prometheus 2.41");
    CHECK(fault("{'targetLabel': 'a.b'}", 55) == "r[0]: 'a.b' is an invalid targetLabel");
    CHECK(fault("{'targetLabel': '${1}_x'}", 55) == "r[0]: '${1}_x' is an invalid targetLabel");
    CHECK(fault("{'action': 'labelmap', 'replacement': '$1'}", 55) ==
          "r[0]: '$1' is an invalid replacement");
    CHECK(fault("{'action': 'labelmap'}", 55) == "");
}

TEST_CASE("Rules of monitors: equal ones are one object, and print as they would alone") {
    MonitorFixture fixture;
    fixture.set_owner("{'scrapeClasses': [{'name': 'c', 'default': true, 'relabelings':"
                      " [{'targetLabel': 't', 'replacement': 'x'}]}], 'podTargetLabels': ['p']}");
    detail::GeneratedRules known;
    const auto made = [&](const std::string& name, const std::string& spec) {
        boost::json::object object{{"metadata", {{"namespace", "ns"}, {"name", name}}}};
        object["spec"] = json_of(spec);
        const auto alone =
            detail::generate(fixture.owner, service_monitor, object, {}, fixture.values);
        const auto shared =
            detail::generate(fixture.owner, service_monitor, object, {}, fixture.values, &known);
        REQUIRE(shared.jobs.size() == 1);
        CHECK(shared.jobs[0].config.to_json() == alone.jobs.at(0).config.to_json());
        CHECK(shared.bytes == alone.bytes);
        return shared.jobs[0].config.relabel_configs;
    };
    const auto spec_of = [](const std::string& app) {
        return "{'selector': {'matchLabels': {'app': '" + app +
               "'}}, 'endpoints': [{'port': 'web', 'relabelings': [{'action': 'labeldrop',"
               " 'regex': 'x'}]}]}";
    };
    const detail::RuleTexts a = made("a", spec_of("a"));
    const detail::RuleTexts b = made("b", spec_of("b"));
    REQUIRE(a.size() == b.size());
    std::size_t different = 0;
    for (std::size_t i = 0; i < a.size(); ++i) different += a[i] != b[i];
    CHECK(different == 1);
    CHECK(made("c", spec_of("a")) == a);
}

TEST_CASE("Rules of monitors: a rule of the wrong type is at fault each time") {
    MonitorFixture fixture;
    boost::json::object object{{"metadata", {{"namespace", "ns"}, {"name", "m"}}}};
    object["spec"] = json_of(
        "{'selector': {}, 'endpoints': [{'port': 'a', 'relabelings': [{'targetLabel': 5}]}]}");
    detail::GeneratedRules known;
    for (int time = 0; time < 2; ++time) {
        const auto made =
            detail::generate(fixture.owner, service_monitor, object, {}, fixture.values, &known);
        REQUIRE(made.refusal);
        CHECK(made.refusal->reason == "endpoints[0].relabelings[0].targetLabel: must be a text");
    }
}

TEST_CASE("Rules of monitors: those of VictoriaMetrics are shared, too, with all their fields") {
    MonitorFixture fixture;
    fixture.set_owner("{'enforcedNamespaceLabel': 'n', 'serviceScrapeRelabelTemplate':"
                      " [{'target_label': 't', 'replacement': 'x'}]}",
                      "VMAgent");
    detail::GeneratedRules known;
    const auto made = [&](const std::string& condition) {
        boost::json::object object{{"metadata", {{"namespace", "ns"}, {"name", "m"}}}};
        object["spec"] =
            json_of("{'selector': {'matchLabels': {'app': 'a'}}, 'endpoints': [{'port': 'web',"
                    " 'relabelConfigs': [{'if': '" +
                    condition +
                    "', 'action': 'drop'}],"
                    " 'metricRelabelConfigs': [{'action': 'drop', 'regex': ['x', 'y']}]}]}");
        const auto make = [&](detail::GeneratedRules* rules) {
            return detail::generate(fixture.owner, MonitorKind::vm_service_scrape, object, {},
                                    fixture.values, rules);
        };
        const auto shared = make(&known);
        REQUIRE(shared.jobs.size() == 1);
        CHECK(shared.jobs[0].config.to_json() == make(nullptr).jobs.at(0).config.to_json());
        detail::RuleTexts rules = shared.jobs[0].config.relabel_configs;
        const detail::RuleTexts& of_metrics = shared.jobs[0].config.metric_relabel_configs;
        rules.insert(rules.end(), of_metrics.begin(), of_metrics.end());
        return rules;
    };
    const detail::RuleTexts a = made("{a=1}");
    CHECK(made("{a=1}") == a);
    const detail::RuleTexts b = made("{a=2}");
    REQUIRE(a.size() == b.size());
    std::size_t different = 0;
    for (std::size_t i = 0; i < a.size(); ++i) different += a[i] != b[i];
    CHECK(different == 1);
}

}  // namespace k8s_sd::test
