#include "support/monitors.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::test {

namespace {

namespace json = boost::json;

/// A spec of each kind that uses most fields.
const std::string& rich_spec(MonitorKind kind) {
    static const std::string client =
        "'basicAuth': {'username': {'name': 'creds', 'key': 'user'},"
        " 'password': {'name': 'creds', 'key': 'pw'}}, 'tlsConfig': {'insecureSkipVerify': true,"
        " 'serverName': 's', 'minVersion': 'TLS12'}, 'proxyUrl': 'http://p',"
        " 'proxyConnectHeader': {'A': [{'name': 'creds', 'key': 'pw'}]},"
        " 'honorLabels': true, 'honorTimestamps': false,"
        " 'interval': '30s', 'scrapeTimeout': '10s', 'scheme': 'HTTPS',"
        " 'relabelings': [{'sourceLabels': ['a'], 'regex': 'x(.*)', 'targetLabel': 't',"
        " 'modulus': 0, 'replacement': '$1', 'action': 'replace', 'separator': ';'}],"
        " 'metricRelabelings': [{'action': 'labeldrop', 'regex': 'x'}]";
    static const std::string common =
        "'selector': {'matchLabels': {'a': 'b'}, 'matchExpressions': [{'key': 'c', 'operator':"
        " 'In', 'values': ['d']}]}, 'namespaceSelector': {'matchNames': ['x']},"
        " 'attachMetadata': {'node': true}, 'sampleLimit': 5, 'bodySizeLimit': '1MB',"
        " 'scrapeProtocols': ['PrometheusProto'], 'nativeHistogramMinBucketFactor': '1.2',"
        " 'jobLabel': 'j', 'targetLabels': ['l'], 'podTargetLabels': ['p'], 'scrapeClass': 'c', ";
    static const std::vector<std::string> specs{
        "{" + common + "'endpoints': [{'port': 'web', 'params': {'a': ['b']}, " + client +
            "}, {'targetPort': 8080}]}",
        "{" + common + "'podMetricsEndpoints': [{'portNumber': 1, " + client + "}]}",
        "{" + client +
            ", 'prober': {'url': 'p:1', 'path': '/x'}, 'module': 'm', 'params': [{'name': 'a', "
            "'values': ['b']}], 'targets':"
            " {'staticConfig': {'static': ['a'], 'labels': {'b': 'c'}}, 'ingress': {'selector':"
            " {'matchLabels': {'a': 'b'}}, 'relabelingConfigs': [{'targetLabel': 't'}]}}}",
        "{" + client +
            ", 'staticConfigs': [{'targets': ['a'], 'labels': {'b': 'c'}}],"
            " 'httpSDConfigs': [{'url': 'http://x'}], 'fileSDConfigs': [{'files': ['f']}],"
            " 'kubernetesSDConfigs': [{'role': 'Pod', 'namespaces': {'names': ['n']},"
            " 'selectors': [{'role': 'Pod', 'label': 'a=b', 'field': 'x=y'}],"
            " 'attachMetadata': {'node': true}}], 'consulSDConfigs': [{'server': 's',"
            " 'nodeMeta': {'a': 'b'}, 'tags': ['t']}], 'dnsSDConfigs': [{'names': ['n'],"
            " 'type': 'A', 'port': 1}], 'ec2SDConfigs': [{'region': 'r', 'accessKey':"
            " {'name': 'creds', 'key': 'user'}}]}"};
    return specs[static_cast<std::size_t>(kind)];
}

const std::string rich_owner =
    "{'serviceMonitorSelector': {'matchLabels': {'a': 'b'}}, 'podMonitorNamespaceSelector': {},"
    " 'version': '3.5.0', 'scrapeInterval': '30s', 'scrapeTimeout': '10s', 'shards': 2,"
    " 'scrapeClasses': [{'name': 'c', 'default': true, 'relabelings': [{'targetLabel': 't'}],"
    " 'tlsConfig': {'caFile': '/c'}, 'authorization': {'type': 'X', 'credentialsFile': '/f'},"
    " 'attachMetadata': {'node': true}}], 'enforcedSampleLimit': 5, 'enforcedBodySizeLimit': '1MB',"
    " 'enforcedNamespaceLabel': 'n', 'excludedFromEnforcement': [{'namespace': 'x', 'resource':"
    " 'probes'}], 'externalLabels': {'a': 'b'}, 'podTargetLabels': ['p'], 'scrapeProtocols':"
    " ['PrometheusProto'], 'apiserverConfig': {'host': 'https://k', 'basicAuth': {'username':"
    " {'name': 'creds', 'key': 'user'}}}, 'additionalScrapeConfigs': {'name': 'x', 'key': 'y'},"
    " 'shardingStrategy': {'mode': 'Topology', 'topology': {'values': ['a']}}}";

json::value deep_list() {
    json::value value = 1;
    for (int i = 0; i < 200; ++i) value = json::array{std::move(value)};
    return value;
}

json::value odd_value(std::mt19937& random) {
    switch (random() % 14) {
        case 0: return nullptr;
        case 1: return true;
        case 2: return -1;
        case 3: return 18446744073709551615U;
        case 4: return 1e300;
        case 5: return "";
        case 6: return json::string(std::string_view("a\0b\n\x1b[31m", 9));
        case 7: return json::string(100'000, '(');
        case 8: return "\xff\xfe";
        case 9: return json::array{};
        case 10: return json::array{nullptr, 1, "x", json::object{}};
        case 11: return deep_list();
        case 12: return json::object{{"", ""}, {"key", 1}, {"name", json::array{}}};
        default: return json::object{};
    }
}

/// Replaces a random value inside.
void spoil(json::value& value, std::mt19937& random) {
    if (json::object* object = value.if_object(); object && !object->empty() && random() % 6 != 0) {
        auto at = object->begin() + static_cast<std::ptrdiff_t>(random() % object->size());
        return spoil(at->value(), random);
    }
    if (json::array* list = value.if_array(); list && !list->empty() && random() % 6 != 0) {
        return spoil((*list)[random() % list->size()], random);
    }
    value = odd_value(random);
}

bool is_one_line(const std::string& text) {
    return text.size() < 2'000 && std::none_of(text.begin(), text.end(), [](char c) {
               return static_cast<unsigned char>(c) < 0x20;
           });
}

}  // namespace

TEST_CASE("Hostile monitors: any value anywhere makes jobs or a refusal in one line") {
    MonitorFixture fixture;
    fixture.set_owner(rich_owner);
    std::mt19937 random(32);  // NOLINT: the same sequence each time
    for (const MonitorKind kind : monitor_kinds) {
        REQUIRE(fixture.reason(kind, rich_spec(kind)) == "");
        const json::value sound = json_of(rich_spec(kind));
        for (int i = 0; i < 1'500; ++i) {
            json::value object =
                json::object{{"metadata", {{"namespace", "ns"}, {"name", "m"}}}, {"spec", sound}};
            spoil(object, random);
            if (i % 3 == 0) spoil(object, random);
            const detail::Generation made =
                detail::generate(fixture.owner, kind, object, fixture.options, fixture.values);
            if (!made.refusal) continue;
            CHECK(made.jobs.empty());
            CHECK(is_one_line(made.refusal->reason));
            CHECK(is_one_line(made.refusal->remedy));
        }
    }
}

TEST_CASE("Hostile owners: any value anywhere makes an owner or a refusal in one line") {
    MonitorFixture fixture;
    fixture.options.topology_sharding = true;
    std::mt19937 random(33);  // NOLINT: the same sequence each time
    const json::value sound = json_of(rich_owner);
    for (int i = 0; i < 2'000; ++i) {
        json::value object = json::object{{"kind", "Prometheus"}, {"spec", sound}};
        spoil(object, random);
        const detail::OwnerReading reading =
            detail::read_owner(object, "mon", fixture.options, fixture.values);
        if (reading.refusal) {
            CHECK(is_one_line(reading.refusal->reason));
            continue;
        }
        REQUIRE(reading.owner);
        detail::global_section(*reading.owner, fixture.options);
        json::object monitor{{"metadata", {{"namespace", "ns"}, {"name", "m"}}}};
        monitor["spec"] = json_of(rich_spec(service_monitor));
        detail::generate(*reading.owner, service_monitor, monitor, fixture.options, fixture.values);
    }
}

TEST_CASE("Hostile monitors: any value anywhere in objects of VictoriaMetrics") {
    const std::string endpoint =
        "{'port': 'web', 'basicAuth': {'username': {'name': 'creds', 'key': 'user'}}, 'oauth2':"
        " {'token_url': 't', 'client_id': {'secret': {'name': 'creds', 'key': 'id'}}},"
        " 'relabelConfigs': [{'if': ['x'], 'regex': ['a', 'b'], 'labels': {'a': 'b'}}],"
        " 'vm_scrape_params': {'headers': ['a'], 'proxy_client_config': {'bearer_token_file':"
        " '/f'}}, 'params': {'a': ['b']}, 'interval': '5s', 'targets': ['a']}";
    const std::string spec =
        "{'selector': {'matchLabels': {'a': 'b'}}, 'endpoints': [" + endpoint +
        "], 'podMetricsEndpoints': [" + endpoint + "], 'targetEndpoints': [" + endpoint +
        "], 'vmProberSpec': {'url': 'p'}, 'targets': {'static': {'targets': ['a'], 'labels':"
        " {'a': 'b'}}, 'kubernetes': [{'role': 'pod', 'selector': {'matchLabels': {'a': 'b'}}}]},"
        " 'staticConfigs': [{'targets': ['a']}], 'port': '1', 'targetLabels': ['a']}";
    MonitorFixture fixture;
    fixture.set_owner("{'scrapeClasses': [{'name': 'c', 'default': true, 'basicAuth': {},"
                      " 'oauth2': {'scopes': ['a']}, 'relabelConfigs': [{}]}],"
                      " 'minScrapeInterval': '10s', 'enforcedNamespaceLabel': 'n'}",
                      "VMAgent");
    std::mt19937 random(34);  // NOLINT: the same sequence each time
    const json::value sound = json_of(spec);
    for (const MonitorKind kind : vm_monitor_kinds) {
        for (int i = 0; i < 800; ++i) {
            json::value object =
                json::object{{"metadata", {{"namespace", "ns"}, {"name", "m"}}}, {"spec", sound}};
            spoil(object, random);
            const detail::Generation made =
                detail::generate(fixture.owner, kind, object, fixture.options, fixture.values);
            if (!made.refusal) continue;
            CHECK(made.jobs.empty());
            CHECK(is_one_line(made.refusal->reason));
        }
    }
}

TEST_CASE("Hostile monitors: a small object cannot make very large jobs") {
    const MonitorFixture fixture;
    json::array endpoints;
    json::array labels;
    for (int i = 0; i < 2'000; ++i) {
        endpoints.push_back(json::object{});
        labels.push_back(json::string("l" + std::to_string(i)));
    }
    json::object object{{"metadata", {{"namespace", "ns"}, {"name", "m"}}}};
    object["spec"] = json::object{{"endpoints", endpoints}, {"podTargetLabels", labels}};
    const auto made =
        detail::generate(fixture.owner, service_monitor, object, fixture.options, fixture.values);
    REQUIRE(made.refusal);
    CHECK(made.refusal->reason.ends_with("the jobs of this object are larger than 64 MiB"));
    CHECK(made.jobs.empty());
}

TEST_CASE("Hostile monitors: the regular expressions of an object are bounded together") {
    const MonitorFixture fixture;
    json::array rules;
    for (int i = 0; i < 200; ++i) {
        rules.push_back(json::object{{"targetLabel", "t"},
                                     {"regex", "(a" + std::to_string(i) + "|b.c){200}x{500}"}});
    }
    const auto reason_for = [&](json::array endpoints) {
        json::object object{{"metadata", {{"namespace", "ns"}, {"name", "m"}}}};
        object["spec"] = json::object{{"endpoints", std::move(endpoints)}};
        const auto made = detail::generate(fixture.owner, service_monitor, object, fixture.options,
                                           fixture.values);
        return made.refusal ? made.refusal->reason : "";
    };
    const json::object endpoint{{"relabelings", rules}};
    CHECK(reason_for({endpoint}) == "");
    CHECK(reason_for({endpoint, endpoint}) == "");
    json::array all;
    for (int i = 0; i < 40; ++i) {
        json::array others;
        for (const json::value& rule : rules) {
            json::object other = rule.as_object();
            other["regex"] = std::string(other["regex"].as_string()) + std::to_string(i);
            others.push_back(std::move(other));
        }
        all.push_back(json::object{{"relabelings", std::move(others)}});
    }
    CHECK(reason_for(all).find("the regular expressions of this object are too large") !=
          std::string::npos);
}

TEST_CASE("Hostile monitors: a large value cannot be copied very often") {
    MonitorFixture fixture;
    fixture.values.secrets["ns/creds/pw"] = std::string(std::size_t{1} << 20, 'x');
    std::string headers = "{'name': 'creds', 'key': 'pw'}";
    for (int i = 0; i < 7; ++i) headers += ", " + headers;
    CHECK(fixture.reason(scrape_config, "{'proxyUrl': 'http://p', 'proxyConnectHeader': {'A': [" +
                                            headers + "]}}") ==
          "the Secrets and ConfigMaps in the jobs of this object are larger than 32 MiB");
}

TEST_CASE("Hostile monitors: a thousand Secrets are requested once each") {
    const MonitorFixture fixture;
    json::array endpoints;
    for (int i = 0; i < 1'000; ++i) {
        endpoints.push_back(json_of("{'bearerTokenSecret': {'name': 's" + std::to_string(i % 500) +
                                    "', 'key': 'k'}}"));
    }
    json::object object{{"metadata", {{"namespace", "ns"}, {"name", "m"}}}};
    object["spec"] = json::object{{"endpoints", endpoints}};
    const auto made =
        detail::generate(fixture.owner, service_monitor, object, fixture.options, fixture.values);
    REQUIRE(made.refusal);
    CHECK(made.references.size() == 500);
}

}  // namespace k8s_sd::test
