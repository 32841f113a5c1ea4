#include "k8s_sd/monitors/monitor_configuration.hpp"
#include "support/monitors.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace k8s_sd::test {

TEST_CASE("VMAgent: selection with and without selectAllByDefault") {
    const auto selects = [](const std::string& spec, std::string_view ns) {
        const MonitorFixture fixture = vm_fixture(spec);
        return detail::selection(fixture.owner, vm_service, ns, {}, {}) ==
               detail::Unselected::selected;
    };
    CHECK_FALSE(selects("{}", "mon"));
    CHECK(selects("{'selectAllByDefault': true}", "other"));
    CHECK(selects("{'serviceScrapeSelector': {}}", "mon"));
    CHECK_FALSE(selects("{'serviceScrapeSelector': {}}", "other"));
    CHECK(selects("{'serviceScrapeNamespaceSelector': {}}", "other"));
    CHECK_FALSE(selects("{'selectAllByDefault': true, 'daemonSetMode': true}", "mon"));
}

TEST_CASE("VMServiceScrape: an owner that denies files denies those of the proxy, too") {
    MonitorFixture fixture = vm_fixture();
    const auto fault = [&](const std::string& client) {
        return fixture.reason(vm_service, "{'selector': {}, 'endpoints': [{'proxyURL': 'http://p', "
                                          "'vm_scrape_params': {'proxy_client_config': {" +
                                              client + "}}}]}");
    };
    for (const char* const client :
         {"'bearer_token_file': '/t'", "'basic_auth': {'password_file': '/t'}"}) {
        CAPTURE(client);
        fixture.owner.deny_file_access = false;
        CHECK(fault(client).empty());
        fixture.owner.deny_file_access = true;
        CHECK(fault(client).find("arbitraryFSAccessThroughSMs") != std::string::npos);
    }
}

TEST_CASE("VMServiceScrape: a whole job") {
    const MonitorFixture fixture = vm_fixture(
        "{'enforcedNamespaceLabel': 'n', 'serviceScrapeRelabelTemplate': [{'target_label': 't',"
        " 'replacement': 'x'}], 'minScrapeInterval': '20s'}");
    const auto job = fixture.job(
        vm_service,
        "{'selector': {'matchLabels': {'app': 'a'}}, 'sampleLimit': 7, 'endpoints': [{'port':"
        " 'web', 'interval': '5s', 'path': '/m', 'scheme': 'HTTPS', 'params': {'b': ['1']},"
        " 'attach_metadata': {'node': true, 'namespace': false}, 'relabelConfigs': [{'if':"
        " ['up'], 'action': 'Keep', 'regex': ['x', 'y']}],"
        " 'metricRelabelConfigs': [{'targetLabel': 'n'}],"
        " 'vm_scrape_params': {'stream_parse': true, 'headers': ['A: b']}}]}");
    CHECK(text_of(job) ==
          "{'job_name':'serviceScrape/ns/m/0','kubernetes_sd_configs':[{'role':'endpoints',"
          "'attach_metadata':{'node':true},'namespaces':{'names':['ns']}}],'honor_labels':false,"
          "'scrape_interval':'20s','metrics_path':'/m','params':{'b':['1']},'scheme':'https',"
          "'sample_limit':7,'relabel_configs':["
          "{'action':'keep','source_labels':['__meta_kubernetes_service_label_app'],'regex':'a'},"
          "{'action':'keep','source_labels':['__meta_kubernetes_endpoint_port_name'],"
          "'regex':'web'},"
          "{'source_labels':['__meta_kubernetes_endpoint_address_target_kind',"
          "'__meta_kubernetes_endpoint_address_target_name'],'separator':';','regex':'Node;(.*)',"
          "'target_label':'node','replacement':'${1}'},"
          "{'source_labels':['__meta_kubernetes_endpoint_address_target_kind',"
          "'__meta_kubernetes_endpoint_address_target_name'],'separator':';','regex':'Pod;(.*)',"
          "'target_label':'pod','replacement':'${1}'},"
          "{'source_labels':['__meta_kubernetes_pod_name'],'target_label':'pod'},"
          "{'source_labels':['__meta_kubernetes_pod_container_name'],'target_label':'container'},"
          "{'source_labels':['__meta_kubernetes_namespace'],'target_label':'namespace'},"
          "{'source_labels':['__meta_kubernetes_service_name'],'target_label':'service'},"
          "{'source_labels':['__meta_kubernetes_service_name'],'target_label':'job',"
          "'replacement':'${1}'},"
          "{'target_label':'endpoint','replacement':'web'},"
          "{'regex':['x','y'],'action':'Keep','if':'up'},"
          "{'target_label':'t','replacement':'x'},"
          "{'target_label':'n','replacement':'ns'}],"
          "'stream_parse':true,'headers':['A: b']}");
}

TEST_CASE("VMServiceScrape: the role service has no pods") {
    const MonitorFixture fixture = vm_fixture();
    CHECK(fixture.key(vm_service, "relabel_configs",
                      "{'discoveryRole': 'service', 'endpoints': [{'targetPort': 1}]}") ==
          "[{'source_labels':['__meta_kubernetes_namespace'],'target_label':'namespace'},"
          "{'source_labels':['__meta_kubernetes_service_name'],'target_label':'service'},"
          "{'source_labels':['__meta_kubernetes_service_name'],'target_label':'job',"
          "'replacement':'${1}'}]");
}

TEST_CASE("VictoriaMetrics: the API server selects with enableKubernetesAPISelectors") {
    const MonitorFixture fixture = vm_fixture("{'enableKubernetesAPISelectors': true}");
    CHECK(fixture.key(vm_service, "kubernetes_sd_configs",
                      "{'selector': {'matchLabels': {'a': 'b'}}, 'endpoints': [{}]}") ==
          "[{'role':'endpoints','namespaces':{'names':['ns']},'selectors':["
          "{'role':'endpoints','label':'a=b'},{'role':'pod','label':'a=b'},"
          "{'role':'service','label':'a=b'}]}]");
    const MonitorFixture on_node = vm_fixture("{'daemonSetMode': true}");
    CHECK(on_node.key(vm_pod, "kubernetes_sd_configs",
                      "{'selector': {'matchLabels': {'a': 'b'}}, 'podMetricsEndpoints': [{}]}") ==
          "[{'role':'pod','namespaces':{'names':['ns']},'selectors':["
          "{'role':'pod','field':'spec.nodeName=%{KUBE_NODE_NAME}'}]}]");
}

TEST_CASE("VMNodeScrape, VMStaticScrape, VMScrapeConfig: their jobs") {
    const MonitorFixture fixture = vm_fixture("{'scrapeTimeout': '9s'}");
    CHECK(text_of(fixture.job(vm_node, "{'selector': {'matchLabels': {'os': 'linux'}},"
                                       " 'port': '9100', 'targetLabels': ['a/b']}")) ==
          "{'job_name':'nodeScrape/ns/m','kubernetes_sd_configs':[{'role':'node'}],"
          "'honor_labels':false,'relabel_configs':["
          "{'action':'keep','source_labels':['__meta_kubernetes_node_label_os'],'regex':'linux'},"
          "{'source_labels':['__meta_kubernetes_node_name'],'target_label':'node'},"
          "{'source_labels':['__meta_kubernetes_node_label_a_b'],'regex':'(.+)',"
          "'target_label':'a_b','replacement':'${1}'},"
          "{'target_label':'job','replacement':'ns/m'},"
          "{'source_labels':['__address__'],'regex':'^(.*):(.*)','target_label':'__address__',"
          "'replacement':'${1}:9100'}]}");
    CHECK(text_of(fixture.job(vm_static, "{'jobName': 'j', 'targetEndpoints': [{'targets':"
                                         " ['a:1'], 'labels': {'l': 'v'}}]}")) ==
          "{'job_name':'staticScrape/ns/m/0','static_configs':[{'targets':['a:1'],"
          "'labels':{'l':'v'}}],'honor_labels':false,'scrape_timeout':'9s','relabel_configs':["
          "{'target_label':'job','replacement':'j'}]}");
    CHECK(text_of(fixture.job(vm_scrape_config, "{'staticConfigs': [{'targets': ['a']}]}")) ==
          "{'job_name':'scrapeConfig/ns/m','honor_labels':false,'static_configs':["
          "{'targets':['a'],'labels':{}}]}");
}

TEST_CASE("VMProbe: static targets and ingresses") {
    const MonitorFixture fixture = vm_fixture();
    const auto job = fixture.job(
        vm_probe, "{'vmProberSpec': {'url': 'p:1'}, 'module': 'm', 'jobName': 'j', 'targets':"
                  " {'staticConfig': {'targets': ['a']}}}");
    CHECK(text_of(job) ==
          "{'job_name':'probe/ns/m','honor_labels':false,'metrics_path':'/probe',"
          "'params':{'module':['m']},'static_configs':[{'targets':['a']}],'relabel_configs':["
          "{'source_labels':['__address__'],'target_label':'__param_target'},"
          "{'target_label':'job','replacement':'j'},"
          "{'source_labels':['__param_target'],'target_label':'instance'},"
          "{'target_label':'__address__','replacement':'p:1'}]}");
    CHECK(fixture.key(vm_probe, "kubernetes_sd_configs",
                      "{'vmProberSpec': {'url': 'p'}, 'targets': {'ingress': {}, 'kubernetes':"
                      " [{'role': 'node'}]}}") ==
          "[{'role':'ingress','namespaces':{'names':['ns']}},{'role':'node'}]");
    CHECK(fixture.reason(vm_probe, "{'vmProberSpec': {'url': 'p'}}") ==
          "targets: has neither static nor kubernetes");
    CHECK(fixture.reason(vm_probe, "{'targets': {'ingress': {}}}") ==
          "vmProberSpec.url: is missing");
}

TEST_CASE("VMProbe: pods, with path and scheme of their annotations") {
    const MonitorFixture fixture = vm_fixture();
    CHECK(fixture.key(vm_probe, "relabel_configs",
                      "{'vmProberSpec': {'url': 'p:1'}, 'targets': {'kubernetes': [{'role': 'pod',"
                      " 'selector': {'matchLabels': {'a': 'b'}}}]}}") ==
          "[{'action':'keep','source_labels':['__meta_kubernetes_pod_label_a'],'regex':'b'},"
          "{'target_label':'__meta_kubernetes_pod_path','replacement':'/'},"
          "{'source_labels':['__meta_kubernetes_pod_annotation_operator_victoriametrics_com_probe_"
          "path'],'regex':'(.+)','target_label':'__meta_kubernetes_pod_path',"
          "'replacement':'${1}'},"
          "{'target_label':'__meta_kubernetes_pod_scheme','replacement':'http'},"
          "{'source_labels':['__meta_kubernetes_pod_annotation_operator_victoriametrics_com_probe_"
          "scheme'],'regex':'(.+)','target_label':'__meta_kubernetes_pod_scheme',"
          "'replacement':'${1}'},"
          "{'action':'replace','source_labels':['__address__'],'separator':';','regex':'(.*)',"
          "'target_label':'__tmp_pod_address','replacement':'$1'},"
          "{'action':'replace','source_labels':['__meta_kubernetes_pod_scheme','__address__',"
          "'__meta_kubernetes_pod_path'],'separator':';','regex':'(.+);(.+);(.+)',"
          "'target_label':'__param_target','replacement':'${1}://${2}${3}'},"
          "{'source_labels':['__meta_kubernetes_namespace'],'target_label':'namespace'},"
          "{'source_labels':['__meta_kubernetes_pod_name'],'target_label':'pod'},"
          "{'source_labels':['__param_target'],'target_label':'instance'},"
          "{'target_label':'__address__','replacement':'p:1'}]");
}

TEST_CASE("VMPodScrape: the rules of an endpoint, in their order") {
    const MonitorFixture fixture = vm_fixture();
    const std::string spec =
        "{'selector': {'matchLabels': {'app': 'a'}}, 'podTargetLabels': ['x.y'],"
        " 'jobLabel': 'j', 'podMetricsEndpoints': [{'port': 'web'";
    const std::string rules =
        "{'action':'keep','source_labels':['__meta_kubernetes_pod_label_app'],'regex':'a'},"
        "{'action':'keep','source_labels':['__meta_kubernetes_pod_container_port_name'],"
        "'regex':'web'},"
        "{'source_labels':['__meta_kubernetes_namespace'],'target_label':'namespace'},"
        "{'source_labels':['__meta_kubernetes_pod_container_name'],'target_label':'container'},"
        "{'source_labels':['__meta_kubernetes_pod_name'],'target_label':'pod'},"
        "{'source_labels':['__meta_kubernetes_pod_label_x_y'],'regex':'(.+)',"
        "'target_label':'x_y','replacement':'${1}'},"
        "{'target_label':'job','replacement':'ns/m'},"
        "{'source_labels':['__meta_kubernetes_pod_label_j'],'regex':'(.+)',"
        "'target_label':'job','replacement':'${1}'},"
        "{'target_label':'endpoint','replacement':'web'}]";
    CHECK(fixture.key(vm_pod, "relabel_configs", spec + "}]}") ==
          "[{'action':'drop','source_labels':['__meta_kubernetes_pod_phase'],"
          "'regex':'(Failed|Succeeded)'}," +
              rules);
    CHECK(fixture.key(vm_pod, "relabel_configs", spec + ", 'filterRunning': false}]}") ==
          "[" + rules);
}

TEST_CASE("VictoriaMetrics: credentials of the object and of its scrape class") {
    const MonitorFixture fixture = vm_fixture(
        "{'scrapeClasses': [{'name': 'c', 'default': true, 'basicAuth': {'username': {'name':"
        " 'creds', 'key': 'user'}, 'password_file': '/p'}, 'relabelConfigs': [{'targetLabel':"
        " 'of_class'}]}]}");
    CHECK(fixture.key(vm_static, "basic_auth", "{'targetEndpoints': [{}]}") ==
          "{'username':'u','password_file':'/p'}");
    CHECK(fixture.key(vm_static, "basic_auth",
                      "{'targetEndpoints': [{'basicAuth': {'password': {'name': 'creds',"
                      " 'key': 'pw'}}}]}") == "{'username':'u','password':' p'}");
    CHECK(fixture.key(vm_static, "relabel_configs",
                      "{'targetEndpoints': [{'relabelConfigs': [{'targetLabel': 'own'}]}]}") ==
          "[{'target_label':'of_class'},{'target_label':'own'}]");
    CHECK(
        fixture.reason(vm_static,
                       "{'targetEndpoints': [{'bearerTokenSecret': {'name': 'x', 'key': 'y'}}]}") ==
        "targetEndpoints[0].bearerTokenSecret: the Secret ns/x does not exist");
}

TEST_CASE("VMAgent: a whole configuration, in its order of kinds") {
    const auto object = [](const char* kind, const std::string& spec) {
        boost::json::object result{{"kind", kind},
                                   {"metadata", {{"namespace", "ns"}, {"name", "m"}}}};
        result["spec"] = json_of(spec);
        return boost::json::value(result);
    };
    MonitorInputs inputs;
    inputs.owner = json_of("{'kind': 'VMAgent', 'metadata': {'namespace': 'mon', 'name': 'a'},"
                           " 'spec': {'selectAllByDefault': true, 'sampleLimit': 3,"
                           " 'globalScrapeRelabelConfigs': [{'targetLabel': 'g'}]}}");
    inputs.namespaces["ns"];
    inputs.objects = {object("VMScrapeConfig", "{}"), object("VMNodeScrape", "{}"),
                      object("VMServiceScrape", "{'endpoints': [{}]}"),
                      object("ServiceMonitor", "{'endpoints': [{}]}")};
    boost::json::value ending = object("VMStaticScrape", "{'targetEndpoints': [{}]}");
    ending.as_object()["metadata"].as_object()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
    inputs.objects.push_back(ending);
    const MonitorConfiguration made = make_monitor_configuration(inputs);
    std::string names;
    for (const auto& job : made.config.at("scrape_configs").as_array()) {
        names += std::string(job.as_object().at("job_name").as_string()) + " ";
    }
    CHECK(names == "serviceScrape/ns/m/0 nodeScrape/ns/m scrapeConfig/ns/m ");
    CHECK(text_of(made.config.at("global")) ==
          "{'scrape_interval':'30s','external_labels':{'prometheus':'mon/a'},'sample_limit':3,"
          "'relabel_configs':[{'target_label':'g'}]}");
}

}  // namespace k8s_sd::test
