#include "support/monitors.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

namespace k8s_sd::test {

namespace {

using Kind = MonitorKind;

/// A short text for each rule: "action(sources; regex) -> target = replacement".
std::vector<std::string> rules_of(const boost::json::object& job) {
    std::vector<std::string> result;
    for (const boost::json::value& rule : job.at("relabel_configs").as_array()) {
        const auto field = [&](const char* key) -> std::string {
            const boost::json::value* value = rule.as_object().if_contains(key);
            return value == nullptr ? "" : std::string(value->as_string());
        };
        std::string sources;
        if (const auto* list = rule.as_object().if_contains("source_labels")) {
            for (const auto& source : list->as_array()) {
                if (!sources.empty()) sources += ",";
                sources += source.as_string();
            }
        }
        result.push_back(field("action") + "(" + sources + ";" + field("regex") + ")->" +
                         field("target_label") + "=" + field("replacement"));
    }
    return result;
}

/// Without the first rule and the three of the shards.
std::vector<std::string> own_rules(const boost::json::object& job) {
    std::vector<std::string> rules = rules_of(job);
    CHECK(rules.front() == "(job;)->__tmp_prometheus_job_name=");
    rules.erase(rules.begin());
    rules.resize(rules.size() - 3);
    return rules;
}

const std::string sm_port = "{'selector': {}, 'endpoints': [{'port': 'web'}]}";

}  // namespace

TEST_CASE("ServiceMonitor: the rules of an endpoint, in their order") {
    MonitorFixture fixture;
    fixture.owner.pod_target_labels = {"own/er"};
    fixture.owner.enforced_namespace_label = "ns-key";
    CHECK(own_rules(fixture.job(
              service_monitor,
              "{'selector': {'matchLabels': {'app': 'a'}}, 'jobLabel': 'j.l',"
              " 'targetLabels': ['t/l'], 'podTargetLabels': ['p'],"
              " 'endpoints': [{'port': 'web', 'relabelings': [{'targetLabel': 'x'}]}]}")) ==
          std::vector<std::string>{
              "keep(__meta_kubernetes_service_label_app,__meta_kubernetes_service_labelpresent_app;"
              "(a);true)->=",
              "keep(__meta_kubernetes_endpoint_port_name;web)->=",
              "(__meta_kubernetes_endpoint_address_target_kind,"
              "__meta_kubernetes_endpoint_address_target_name;Node;(.*))->node=${1}",
              "(__meta_kubernetes_endpoint_address_target_kind,"
              "__meta_kubernetes_endpoint_address_target_name;Pod;(.*))->pod=${1}",
              "(__meta_kubernetes_namespace;)->namespace=",
              "(__meta_kubernetes_service_name;)->service=",
              "(__meta_kubernetes_pod_name;)->pod=",
              "(__meta_kubernetes_pod_container_name;)->container=",
              "drop(__meta_kubernetes_pod_phase;(Failed|Succeeded))->=",
              "(__meta_kubernetes_service_label_t_l;(.+))->t_l=${1}",
              "(__meta_kubernetes_pod_label_p;(.+))->p=${1}",
              "(__meta_kubernetes_pod_label_own_er;(.+))->own_er=${1}",
              "(__meta_kubernetes_service_name;)->job=${1}",
              "(__meta_kubernetes_service_label_j_l;(.+))->job=${1}",
              "(;)->endpoint=web",
              "(;)->x=",
              "(;)->ns-key=ns",
          });
}

TEST_CASE("ServiceMonitor: one job for each endpoint, with its number") {
    const MonitorFixture fixture;
    const auto made = fixture.made(service_monitor,
                                   "{'selector': {}, 'endpoints': [{'port': 'a'}, {'port': 'b'}]}");
    REQUIRE(made.jobs.size() == 2);
    CHECK(made.jobs[0].origin == "serviceMonitor/ns/m/0");
    CHECK(made.jobs[1].config.keys.at("job_name").as_string() == "serviceMonitor/ns/m/1");
    CHECK(fixture.made(service_monitor, "{'selector': {}, 'endpoints': []}").jobs.empty());
    CHECK(fixture.reason(service_monitor, "{}") == "");
}

TEST_CASE("ServiceMonitor: the rule of the port") {
    MonitorFixture fixture;
    const auto port_rule = [&](const std::string& endpoint) -> std::string {
        const auto rules = own_rules(
            fixture.job(service_monitor, "{'selector': {}, 'endpoints': [" + endpoint + "]}"));
        return rules.front().starts_with("keep") ? rules.front() : "none";
    };
    CHECK(port_rule("{}") == "none");
    CHECK(port_rule("{'targetPort': 'web'}") ==
          "keep(__meta_kubernetes_pod_container_port_name;web)->=");
    CHECK(port_rule("{'targetPort': 8080}") ==
          "keep(__meta_kubernetes_pod_container_port_number;8080)->=");
    CHECK(port_rule("{'targetPort': 0}") == "none");
    CHECK(port_rule("{'targetPort': ''}") == "none");
    CHECK(port_rule("{'port': 'a|b', 'targetPort': 1}") ==
          "keep(__meta_kubernetes_endpoint_port_name;a|b)->=");
    fixture.owner.endpoint_slice_role = true;
    CHECK(port_rule("{'port': 'web'}") == "keep(__meta_kubernetes_endpointslice_port_name;web)->=");
}

TEST_CASE("ServiceMonitor: the role of the discovery") {
    MonitorFixture fixture;
    const auto role = [&](const std::string& of_object) {
        const auto job =
            fixture.job(service_monitor, "{" + of_object + "'selector': {}, 'endpoints': [{}]}");
        const auto& section = job.at("kubernetes_sd_configs").as_array().front().as_object();
        return std::string(section.at("role").as_string());
    };
    CHECK(role("") == "endpoints");
    CHECK(role("'serviceDiscoveryRole': 'EndpointSlice', ") == "endpointslice");
    fixture.owner.endpoint_slice_role = true;
    CHECK(role("") == "endpointslice");
    CHECK(role("'serviceDiscoveryRole': 'Endpoints', ") == "endpoints");
    fixture.options.endpoint_slices = false;
    CHECK(role("") == "endpoints");
    fixture.options.endpoint_slices = true;
    fixture.owner.version = {2, 20, 0};
    CHECK(role("") == "endpoints");
}

TEST_CASE("ServiceMonitor: namespaces, attached nodes and selectors of the discovery") {
    MonitorFixture fixture;
    const auto discovery = [&](const std::string& more) {
        return fixture.key(service_monitor, "kubernetes_sd_configs",
                           "{" + more + "'endpoints': [{'port': 'web'}]}");
    };
    CHECK(discovery("") == "[{'role':'endpoints','namespaces':{'names':['ns']}}]");
    CHECK(discovery("'namespaceSelector': {'any': true, 'matchNames': ['a']}, ") ==
          "[{'role':'endpoints'}]");
    CHECK(discovery("'namespaceSelector': {'matchNames': ['a', 'b']}, ") ==
          "[{'role':'endpoints','namespaces':{'names':['a','b']}}]");
    CHECK(discovery("'attachMetadata': {}, ") ==
          "[{'role':'endpoints','namespaces':{'names':['ns']},'attach_metadata':{'node':false}}]");
    CHECK(discovery("'selectorMechanism': 'RoleSelector', 'selector': {'matchExpressions': "
                    "[{'key': 'group', 'operator': 'In', 'values': ['group1']}]}, ") ==
          "[{'role':'endpoints','namespaces':{'names':['ns']},'selectors':["
          "{'role':'endpoints','label':'group in (group1)'},"
          "{'role':'service','label':'group in (group1)'}]}]");
    fixture.owner.ignore_namespace_selectors = true;
    CHECK(discovery("'namespaceSelector': {'any': true}, ") ==
          "[{'role':'endpoints','namespaces':{'names':['ns']}}]");
    fixture.owner.version = {2, 16, 0};
    CHECK(fixture.reason(service_monitor, "{'selectorMechanism': 'RoleSelector'}") ==
          "selectorMechanism: RoleSelector needs Prometheus 2.17");
}

TEST_CASE("Monitors: limits of the object and the owner") {
    MonitorFixture fixture;
    const auto limit = [&](const std::string& own) {
        return fixture.key(service_monitor, "sample_limit",
                           "{" + own + "'selector': {}, 'endpoints': [{}]}");
    };
    CHECK(limit("") == "none");
    CHECK(limit("'sampleLimit': 0, ") == "0");
    fixture.owner.enforced.sample = 0;
    CHECK(limit("'sampleLimit': 7, ") == "7");
    fixture.owner.enforced.sample = 5;
    CHECK(limit("") == "none");
    CHECK(limit("'sampleLimit': 0, ") == "none");
    CHECK(limit("'sampleLimit': 4, ") == "4");
    CHECK(limit("'sampleLimit': 6, ") == "5");
    fixture.owner.version = {2, 44, 0};
    CHECK(limit("") == "5");
}

TEST_CASE("Monitors: the smaller body size wins, as it is written") {
    MonitorFixture fixture;
    const auto limit = [&](const std::string& own) {
        return fixture.key(pod_monitor, "body_size_limit",
                           "{" + own + "'selector': {}, 'podMetricsEndpoints': [{}]}");
    };
    CHECK(limit("") == "none");
    CHECK(limit("'bodySizeLimit': '1KiB', ") == "'1KiB'");
    fixture.owner.enforced.body_size = "1KB";
    CHECK(limit("") == "'1KB'");
    CHECK(limit("'bodySizeLimit': '1KiB', ") == "'1KiB'");
    CHECK(limit("'bodySizeLimit': '1025B', ") == "'1KB'");
    CHECK(limit("'bodySizeLimit': '0', ") == "'0'");
    fixture.owner.version = {2, 27, 0};
    CHECK(limit("") == "none");
}

TEST_CASE("Monitors: honor_labels and honor_timestamps") {
    MonitorFixture fixture;
    const auto key = [&](Kind kind, const char* name, const std::string& own) {
        const char* const list =
            kind == service_monitor ? "'endpoints': [{" : "'podMetricsEndpoints': [{";
        const std::string spec =
            kind == scrape_config ? "{" + own + "}" : "{" + (list + own) + "}]}";
        return fixture.key(kind, name, spec);
    };
    CHECK(key(service_monitor, "honor_labels", "") == "false");
    CHECK(key(pod_monitor, "honor_labels", "'honorLabels': true") == "true");
    CHECK(key(scrape_config, "honor_labels", "") == "none");
    CHECK(key(scrape_config, "honor_timestamps", "'honorTimestamps': true") == "true");
    CHECK(key(service_monitor, "honor_timestamps", "") == "none");
    fixture.owner.override_honor_labels = true;
    fixture.owner.override_honor_timestamps = true;
    CHECK(key(service_monitor, "honor_labels", "'honorLabels': true") == "false");
    CHECK(key(service_monitor, "honor_timestamps", "") == "false");
    CHECK(key(scrape_config, "honor_timestamps", "") == "none");
    CHECK(key(scrape_config, "honor_timestamps", "'honorTimestamps': true") == "false");
}

TEST_CASE("Monitors: keys of later versions of Prometheus") {
    MonitorFixture fixture;
    const std::string spec =
        "{'selector': {}, 'scrapeNativeHistograms': true, 'nativeHistogramBucketLimit': 5,"
        " 'nativeHistogramMinBucketFactor': '1.5', 'scrapeClassicHistograms': true,"
        " 'convertClassicHistogramsToNHCB': true, 'fallbackScrapeProtocol': 'PrometheusText0.0.4',"
        " 'scrapeProtocols': ['PrometheusText1.0.0', 'PrometheusProto'],"
        " 'endpoints': [{'trackTimestampsStaleness': true, 'scheme': 'HTTPS'}]}";
    const auto key = [&](const char* name) { return fixture.key(service_monitor, name, spec); };
    CHECK(key("scrape_native_histograms") == "true");
    CHECK(key("always_scrape_classic_histograms") == "true");
    CHECK(key("convert_classic_histograms_to_nhcb") == "true");
    CHECK(key("native_histogram_bucket_limit") == "5");
    CHECK(key("native_histogram_min_bucket_factor") == "1.5E0");
    CHECK(key("fallback_scrape_protocol") == "'PrometheusText0.0.4'");
    CHECK(key("scrape_protocols") == "['PrometheusText1.0.0','PrometheusProto']");
    CHECK(key("track_timestamps_staleness") == "true");
    CHECK(key("scheme") == "'https'");
    fixture.owner.version = {2, 49, 0};
    CHECK(key("scrape_native_histograms") == "none");
    CHECK(key("always_scrape_classic_histograms") == "none");
    CHECK(key("scrape_classic_histograms") == "true");
    CHECK(key("native_histogram_min_bucket_factor") == "none");
    CHECK(key("fallback_scrape_protocol") == "none");
    CHECK(key("scrape_protocols") == "['PrometheusProto']");
    fixture.options.without_version_check = true;
    CHECK(key("scrape_native_histograms") == "true");
}

TEST_CASE("Monitors: a timeout above the interval is refused") {
    MonitorFixture fixture;
    const auto reason = [&](const std::string& endpoint) {
        return fixture.reason(service_monitor, "{'selector': {}, 'endpoints': [" + endpoint + "]}");
    };
    CHECK(reason("{'interval': '10s', 'scrapeTimeout': '10s'}") == "");
    CHECK(reason("{'interval': '10s', 'scrapeTimeout': '11s'}") ==
          "endpoints[0].scrapeTimeout: the timeout 11s is above the interval 10s");
    CHECK(reason("{'scrapeTimeout': '31s'}") ==
          "endpoints[0].scrapeTimeout: the timeout 31s is above the interval 30s");
    CHECK(reason("{'interval': '1m1h', 'scrapeTimeout': '1s'}") ==
          "endpoints[0].scrapeTimeout: the interval '1m1h' is no duration");
    CHECK(reason("{'scrapeTimeout': '1.5s'}") ==
          "endpoints[0].scrapeTimeout: the timeout '1.5s' is no duration");
    // As in the operator, an interval alone is left to Prometheus.
    CHECK(reason("{'interval': 'abc'}") == "");
}

TEST_CASE("PodMonitor: ports and job") {
    MonitorFixture fixture;
    const auto rules = [&](const std::string& endpoint) {
        return own_rules(fixture.job(pod_monitor, "{'selector': {}, 'podMetricsEndpoints': [" +
                                                      endpoint + "]}"));
    };
    CHECK(rules("{'portNumber': 1024, 'targetPort': 10240}") ==
          std::vector<std::string>{
              "drop(__meta_kubernetes_pod_phase;(Failed|Succeeded))->=",
              "keep(__meta_kubernetes_pod_container_port_number;1024)->=",
              "(__meta_kubernetes_namespace;)->namespace=",
              "(__meta_kubernetes_pod_container_name;)->container=",
              "(__meta_kubernetes_pod_name;)->pod=",
              "(;)->job=ns/m",
              "(;)->endpoint=10240",
          });
    CHECK(rules("{'portNumber': 1024, 'filterRunning': false}").back() == "(;)->job=ns/m");
    CHECK(rules("{'port': 'web', 'portNumber': 1}").back() == "(;)->endpoint=web");
    fixture.set_owner("{'mode': 'DaemonSet'}", "PrometheusAgent");
    const auto job = fixture.job(pod_monitor, "{'selectorMechanism': 'RoleSelector', 'selector': "
                                              "{'matchLabels': {'a': 'b'}},"
                                              " 'podMetricsEndpoints': [{}]}");
    CHECK(text_of(job.at("kubernetes_sd_configs")) ==
          "[{'role':'pod','namespaces':{'names':['ns']},'selectors':["
          "{'role':'pod','field':'spec.nodeName=$(NODE_NAME)'},{'role':'pod','label':'a=b'}]}]");
    CHECK(rules_of(job).back() == "(;)->job=ns/m");
}

TEST_CASE("Probe: static targets win over ingresses") {
    MonitorFixture fixture;
    const std::string spec =
        "{'prober': {'url': 'p:1'}, 'module': 'm', 'params': [{'name': 'module', 'values': ['x']},"
        " {'name': 'a', 'values': ['1']}], 'jobName': 'j', 'targets': {'staticConfig': "
        "{'static': ['t'], 'labels': {'l': 'v'}}, 'ingress': {}}}";
    const auto job = fixture.job(probe, spec);
    CHECK(job.at("job_name").as_string() == "probe/ns/m");
    CHECK(text_of(job.at("metrics_path")) == "''");
    CHECK(text_of(job.at("params")) == "{'module':['m'],'a':['1']}");
    CHECK(text_of(job.at("static_configs")) ==
          "[{'targets':['t'],'labels':{'l':'v','namespace':'ns'}}]");
    CHECK(own_rules(job) ==
          std::vector<std::string>{"(;)->job=j", "(__address__;)->__param_target=",
                                   "(__param_target;)->instance=", "(;)->__address__=p:1"});
    CHECK(rules_of(job)[5].starts_with("replace(__param_target,__tmp_hash;"));
}

TEST_CASE("Probe: ingresses") {
    MonitorFixture fixture;
    const auto job = fixture.job(
        probe, "{'prober': {'url': 'p'}, 'targets': {'ingress': {'selector': {'matchLabels': "
               "{'prometheus.io/probe': 'true'}}, 'namespaceSelector': {'any': true}}}}");
    CHECK(text_of(job.at("kubernetes_sd_configs")) == "[{'role':'ingress'}]");
    CHECK(own_rules(job) ==
          std::vector<std::string>{
              "keep(__meta_kubernetes_ingress_label_prometheus_io_probe,"
              "__meta_kubernetes_ingress_labelpresent_prometheus_io_probe;(true);true)->=",
              "replace(__meta_kubernetes_ingress_scheme,__address__,"
              "__meta_kubernetes_ingress_path;(.+);(.+);(.+))->__param_target=${1}://${2}${3}",
              "(__meta_kubernetes_namespace;)->namespace=",
              "(__meta_kubernetes_ingress_name;)->ingress=",
              "replace(__address__;(.*))->__tmp_ingress_address=$1",
              "(__param_target;)->instance=", "(;)->__address__=p"});
}

TEST_CASE("Probe: faults") {
    MonitorFixture fixture;
    const auto reason = [&](const std::string& more, const std::string& prober = "{'url': 'p'}") {
        return fixture.reason(probe, "{'prober': " + prober + ", " + more + "}");
    };
    const std::string targets = "'targets': {'staticConfig': {'static': ['a']}}";
    CHECK(reason(targets) == "");
    CHECK(reason("'targets': {}") == "targets: has neither staticConfig nor ingress");
    CHECK(reason(targets, "{'url': 'http://p/x'}") ==
          "prober.url: is neither a host nor host:port");
    CHECK(reason(targets, "{'url': 'p', 'noProxy': 'x'}") ==
          "prober: noProxy is set without proxyUrl");
    CHECK(reason("'targets': {'staticConfig': {'labels': {'': 'x'}}}") ==
          "targets.staticConfig.labels: '' is no valid label name");
    CHECK(reason(targets + ", 'bearerTokenSecret': {'key': ''}") ==
          "bearerTokenSecret: the name of the Secret is missing");
    CHECK(reason(targets + ", 'scrapeClass': 'zz'") ==
          "scrapeClass: the owner has no scrape class 'zz'");
}

TEST_CASE("ScrapeConfig: rules of shards only with several shards and without own ones") {
    MonitorFixture fixture;
    CHECK(rules_of(fixture.job(scrape_config, "{'jobName': 'j'}")) ==
          std::vector<std::string>{"(job;)->__tmp_prometheus_job_name=", "replace(;)->job=j"});
    fixture.owner.enforced_namespace_label = "n";
    CHECK(rules_of(fixture.job(scrape_config, "{}")).size() == 1);
    CHECK(fixture.key(scrape_config, "metric_relabel_configs", "{}") ==
          "[{'target_label':'n','replacement':'ns'}]");
    CHECK(rules_of(fixture.job(scrape_config, "{'relabelings': [{'targetLabel': 'x'}]}")).back() ==
          "(;)->n=ns");
    fixture.owner.shards = 2;
    CHECK(rules_of(fixture.job(scrape_config, "{}")).size() == 4);
    fixture.owner.shards = 0;
    CHECK(rules_of(fixture.job(scrape_config, "{}")).size() == 1);
    fixture.owner.shards = 2;
    CHECK(rules_of(fixture.job(scrape_config, "{'relabelings': [{'action': 'HashMod', 'modulus': "
                                              "999, 'targetLabel': 'x'}]}"))
              .size() == 3);
}

TEST_CASE("ScrapeConfig: discoveries") {
    MonitorFixture fixture;
    const auto key = [&](const char* name, const std::string& spec) {
        return fixture.key(scrape_config, name, spec);
    };
    CHECK(key("static_configs", "{'staticConfigs': [{'targets': ['a']}]}") ==
          "[{'targets':['a'],'labels':{}}]");
    CHECK(
        key("file_sd_configs", "{'fileSDConfigs': [{'files': ['/f'], 'refreshInterval': '1m'}]}") ==
        "[{'files':['/f'],'refresh_interval':'1m'}]");
    CHECK(key("http_sd_configs", "{'httpSDConfigs': [{'url': 'http://sd', 'proxyUrl': 'http://p',"
                                 " 'enableHTTP2': false}]}") ==
          "[{'proxy_url':'http://p','enable_http2':false,'url':'http://sd'}]");
    CHECK(key("kubernetes_sd_configs",
              "{'kubernetesSDConfigs': [{'role': 'EndpointSlice', 'namespaces': {},"
              " 'selectors': [{'role': 'Service', 'label': 'a=b'}],"
              " 'attachMetadata': {'node': true}}]}") ==
          "[{'role':'endpointslice','namespaces':{'names':[]},'selectors':[{'role':'service',"
          "'label':'a=b'}],'attach_metadata':{'node':true}}]");
    CHECK(key("kubernetes_sd_configs",
              "{'kubernetesSDConfigs': [{'role': 'Node',"
              " 'attachMetadata': {'node': true}}]}") == "[{'role':'node'}]");
    CHECK(key("dns_sd_configs", "{'dnsSDConfigs': [{'names': ['n'], 'type': 'A', 'port': 9}]}") ==
          "[{'names':['n'],'type':'A','port':9}]");
    CHECK(key("ec2_sd_configs", "{'ec2SDConfigs': [{'region': 'r', 'refreshInterval': '1m',"
                                " 'accessKey': {'name': 'creds', 'key': 'user'}}]}") ==
          "[{'access_key':'u','refresh_interval':'1m','region':'r'}]");
}

TEST_CASE("ScrapeConfig: faults of discoveries") {
    MonitorFixture fixture;
    const auto reason = [&](const std::string& spec) {
        return fixture.reason(scrape_config, spec);
    };
    const auto kubernetes = [&](const std::string& config) {
        return reason("{'kubernetesSDConfigs': [" + config + "]}");
    };
    CHECK(kubernetes("{'role': 'Pod', 'apiServer': 'https://k', 'namespaces': "
                     "{'ownNamespace': true}}") ==
          "kubernetesSDConfigs[0]: has both apiServer and namespaces.ownNamespace");
    CHECK(kubernetes("{'role': 'Pod', 'selectors': [{'role': 'Node', 'label': 'a'}]}") ==
          "kubernetesSDConfigs[0].selectors[0].role: role pod takes no selector of that role");
    CHECK(kubernetes("{'role': 'Endpoints', 'selectors': [{'role': 'EndpointSlice'}]}") != "");
    CHECK(kubernetes("{'role': 'Bogus', 'selectors': [{'role': 'Pod'}]}") ==
          "kubernetesSDConfigs[0].role: is no role");
    // Without selectors the role is left to Prometheus.
    CHECK(kubernetes("{'role': 'Bogus'}") == "");
    CHECK(kubernetes("{'role': 'Pod', 'selectors': [{'role': 'Pod', 'label': 'a in'}]}") != "");
    CHECK(kubernetes("{'role': 'Pod', 'selectors': [{'role': 'Pod', 'field': 'a'}]}") != "");
    CHECK(kubernetes("{'role': 'Pod', 'basicAuth': {'username': {'name': 'zz', 'key': 'a'}}}") ==
          "kubernetesSDConfigs[0].basicAuth.username: the Secret ns/zz does not exist");
    CHECK(reason("{'httpSDConfigs': [{'url': 'http://[x'}]}") ==
          "httpSDConfigs[0].url: is no valid URL");
    CHECK(reason("{'staticConfigs': [{'labels': {'': 'x'}}]}") ==
          "staticConfigs[0].labels: '' is no valid label name");
    CHECK(reason("{'dnsSDConfigs': [{'type': 'A'}]}") ==
          "dnsSDConfigs[0].port: records of type A need a port");
    fixture.owner.version = {2, 39, 0};
    CHECK(reason("{}") == "a ScrapeConfig needs Prometheus 2.40");
    fixture.options.without_version_check = true;
    CHECK(reason("{}") != "");
}

TEST_CASE("Monitors: the enforced namespace label, and objects excluded from it") {
    MonitorFixture fixture;
    fixture.owner.enforced_namespace_label = "n";
    const auto enforced = [&] {
        return fixture.key(service_monitor, "metric_relabel_configs",
                           "{'selector': {}, 'endpoints': [{}]}") != "none";
    };
    CHECK(enforced());
    fixture.owner.excluded_from_enforcement = {
        {.object_namespace = "ns", .resource = "podmonitors"}};
    CHECK(enforced());
    fixture.owner.excluded_from_enforcement = {
        {.object_namespace = "ns", .resource = "servicemonitors", .name = "other"}};
    CHECK(enforced());
    fixture.owner.excluded_from_enforcement = {
        {.object_namespace = "ns", .resource = "servicemonitors"}};
    CHECK_FALSE(enforced());
    fixture.owner.excluded_from_enforcement[0].group = "example.com";
    CHECK(enforced());
}

TEST_CASE("Monitors: rules of shards") {
    MonitorFixture fixture;
    const auto last = [&](std::size_t count) {
        auto rules = rules_of(fixture.job(service_monitor, sm_port));
        rules.erase(rules.begin(), rules.end() - static_cast<std::ptrdiff_t>(count));
        return rules;
    };
    CHECK(last(3) ==
          std::vector<std::string>{"replace(__address__,__tmp_hash;(.+);)->__tmp_hash=$1",
                                   "hashmod(__tmp_hash;)->__tmp_hash=",
                                   "keep(__tmp_hash,__tmp_disable_sharding;$(SHARD);|.+;.+)->="});
    fixture.owner.shards = 3;
    fixture.options.retention_policies = true;
    CHECK(last(5)[0] == "replace(;)->__tmp_current_shard=$(SHARD)");
    CHECK(last(5)[1] == "keep(__tmp_current_shard;0|1|2)->=");
    fixture.options.retention_policies = false;
    fixture.options.topology_sharding = true;
    fixture.owner.shards = 4;
    fixture.owner.topology = {"a", "b"};
    CHECK(last(6)[2] == "keep(__tmp_topology,__tmp_disable_sharding;$(TOPOLOGY_ZONE);|.+;.+)->=");
    CHECK(last(1)[0] == "keep(__tmp_hash,__tmp_disable_sharding;$(INZONE_SHARD);|.+;.+)->=");
    CHECK(fixture.key(service_monitor, "kubernetes_sd_configs", sm_port) ==
          "[{'role':'endpoints','namespaces':{'names':['ns']},'attach_metadata':{'node':true}}]");
}

}  // namespace k8s_sd::test
