#include "support/monitors.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace k8s_sd::test {

namespace {

std::string owner_reason(const std::string& spec, const std::string& kind = "Prometheus") {
    const MonitorFixture fixture;
    boost::json::object object{{"kind", kind}, {"metadata", {{"namespace", "mon"}}}};
    object["spec"] = json_of(spec);
    const detail::OwnerReading reading =
        detail::read_owner(object, "", fixture.options, fixture.values);
    CHECK(reading.owner.has_value() != reading.refusal.has_value());
    return reading.refusal ? reading.refusal->reason : "";
}

std::string global_of(const std::string& spec) {
    MonitorFixture fixture;
    fixture.set_owner(spec);
    return text_of(detail::global_section(fixture.owner, fixture.options));
}

}  // namespace

TEST_CASE("read_owner: faults refuse the owner") {
    CHECK(owner_reason("{}") == "");
    CHECK(owner_reason("{'version': 'x'}") == "spec.version: is no version");
    CHECK(owner_reason("{'version': '4.0.0'}") ==
          "spec.version: is neither version 2 nor 3 of Prometheus");
    CHECK(owner_reason("{'scrapeTimeout': '31s'}") ==
          "scrapeTimeout: the timeout 31s is above the interval 30s");
    CHECK(owner_reason("{'scrapeInterval': '1 m', 'scrapeTimeout': '31s'}") ==
          "scrapeTimeout: the interval '1 m' is no duration");
    CHECK(owner_reason("{'serviceMonitorNamespaceSelector': {'matchLabels': {'a b': 'c'}}}") ==
          "spec.serviceMonitorNamespaceSelector.matchLabels.a b: 'a b' is no valid label key");
    CHECK(owner_reason("{'scrapeClasses': [{'name': 'a', 'default': true},"
                       " {'name': 'b', 'default': true}]}") ==
          "scrapeClasses: several classes are the default");
    CHECK(owner_reason("{'scrapeClasses': [{'name': 'a', 'relabelings': [{'regex': '('}]}]}")
              .starts_with("scrapeClasses.a.relabelings[0]: invalid regex: "));
    CHECK(owner_reason("{'scrapeClasses': [{'name': 'a', 'tlsConfig': {'ca': {'secret': "
                       "{'name': 'tls', 'key': 'ca'}}}}]}") ==
          "scrapeClasses.a.tlsConfig.ca: the Secret mon/tls does not exist");
    // Its Secret is looked up later, beside each object.
    CHECK(owner_reason("{'scrapeClasses': [{'name': 'a', 'authorization': {'credentials': "
                       "{'name': 'nope', 'key': 'x'}}}]}") == "");
    CHECK(owner_reason("{'scrapeClasses': [{'name': 'a', 'authorization': {'type': ' BASIC'}}]}") !=
          "");
    CHECK(owner_reason("{'shards': 'two'}") == "spec.shards: must be a number of 32 bits");
    CHECK(owner_reason("{'scrapeClasses': {}}") == "spec.scrapeClasses: must be a list");
    CHECK(owner_reason("[]") == "spec: must be an object");
}

TEST_CASE("read_owner: an agent on each node is in DaemonSet mode") {
    MonitorFixture fixture;
    fixture.set_owner("{'mode': 'DaemonSet'}");
    CHECK_FALSE(fixture.owner.daemon_set);
    fixture.set_owner("{'mode': 'DaemonSet'}", "PrometheusAgent");
    CHECK(fixture.owner.daemon_set);
    CHECK(fixture.owner.is_agent);
}

TEST_CASE("global_section: intervals, labels and limits") {
    CHECK(global_of("{}") == "{'scrape_interval':'30s','external_labels':{'prometheus':'mon/main',"
                             "'prometheus_replica':'$(POD_NAME)'}}");
    // A reserved label wins.
    CHECK(global_of("{'externalLabels': {'prometheus': 'x', 'a': 'b'},"
                    " 'replicaExternalLabelName': ''}") ==
          "{'scrape_interval':'30s','external_labels':{'a':'b','prometheus':'mon/main'}}");
    const std::string labels =
        "{'scrape_interval':'30s','external_labels':{'prometheus':'mon/main',"
        "'prometheus_replica':'$(POD_NAME)'}";
    CHECK(global_of("{'sampleLimit': 5, 'enforcedSampleLimit': 3, 'enforcedTargetLimit': 4,"
                    " 'labelLimit': 6, 'keepDroppedTargets': 0, 'bodySizeLimit': '1MB'}") ==
          labels + ",'sample_limit':3,'target_limit':4,'label_limit':6,'body_size_limit':'1MB'}");
    // Before 2.45 `global` has no limits.
    CHECK(global_of("{'version': '2.44.0', 'sampleLimit': 5, 'bodySizeLimit': '1MB'}") ==
          labels + "}");
    CHECK(global_of("{'version': '2.48.0', 'scrapeProtocols': ['PrometheusProto']}") ==
          labels + "}");
    CHECK(global_of("{'nameValidationScheme': 'UTF8', 'nameEscapingScheme': 'AllowUTF8'}") ==
          labels + ",'metric_name_validation_scheme':'utf8',"
                   "'metric_name_escaping_scheme':'allow-utf-8'}");
}

TEST_CASE("generate_additional: raw jobs get the rules of shards") {
    MonitorFixture fixture;
    fixture.set_owner("{'shards': 2, 'additionalScrapeConfigs': {'name': 'x', 'key': 'jobs'}}");
    const auto made = [&](const std::string& yaml) {
        fixture.values.secrets["mon/x/jobs"] = yaml;
        return detail::generate_additional(fixture.owner, fixture.options, fixture.values);
    };
    detail::Generation generation = made("- job_name: a\n- job_name: b\n  relabel_configs:\n"
                                         "  - {action: hashmod, modulus: 3}\n");
    REQUIRE(generation.jobs.size() == 2);
    CHECK(generation.jobs[0].origin == "a");
    CHECK(generation.jobs[0].config.keys.at("relabel_configs").as_array().size() == 3);
    CHECK(generation.jobs[1].config.keys.at("relabel_configs").as_array().size() == 1);
    generation = made("- {job_name: a, sample_limit: 1_000, label_limit: 0x10,\n"
                      "   static_configs: [{targets: [x], labels: {v: 1.25}}]}\n");
    REQUIRE(generation.jobs.size() == 1);
    CHECK(generation.jobs[0].config.keys.at("sample_limit") == 1000);
    CHECK(generation.jobs[0].config.keys.at("label_limit") == 16);
    CHECK(made("").jobs.empty());
    CHECK_FALSE(made("").refusal);
    CHECK(made("a: b").refusal);
    CHECK(made("- a").refusal);
    CHECK(made("- [").refusal);
    fixture.values.secrets.clear();
    CHECK(detail::generate_additional(fixture.owner, fixture.options, fixture.values)
              .refusal.value()
              .reason == "additionalScrapeConfigs: the Secret mon/x does not exist");
    fixture.owner.additional_optional = true;
    CHECK_FALSE(
        detail::generate_additional(fixture.owner, fixture.options, fixture.values).refusal);
}

TEST_CASE("VMAgent: the jobs of inlineScrapeConfig come after those of additionalScrapeConfigs") {
    MonitorFixture fixture;
    fixture.values.secrets["mon/x/y"] = "- job_name: a\n";
    const auto made = [&](const std::string& spec) {
        fixture.set_owner(spec, "VMAgent");
        return detail::generate_additional(fixture.owner, fixture.options, fixture.values);
    };
    const std::string own = "'inlineScrapeConfig': '- {job_name: b, scrape_interval: 7s}'";
    detail::Generation generation =
        made("{'additionalScrapeConfigs': {'name': 'x', 'key': 'y'}, " + own + "}");
    REQUIRE(generation.jobs.size() == 2);
    CHECK(generation.jobs[0].origin == "a");
    CHECK(generation.jobs[1].origin == "b");
    CHECK(generation.jobs[1].config.keys.at("scrape_interval") == "7s");
    generation = made("{" + own + "}");
    REQUIRE(generation.jobs.size() == 1);
    CHECK(generation.jobs[0].origin == "b");
    CHECK(made("{'inlineScrapeConfig': 'a: b'}").refusal.value().reason ==
          "inlineScrapeConfig: is no list");
    CHECK(made("{'inlineScrapeConfig': ''}").jobs.empty());
    // The operator reads the Secret in any case.
    CHECK(made("{'additionalScrapeConfigs': {'name': 'z', 'key': 'y', 'optional': true}}")
              .refusal.value()
              .reason == "additionalScrapeConfigs: the Secret mon/z does not exist");
}

}  // namespace k8s_sd::test
