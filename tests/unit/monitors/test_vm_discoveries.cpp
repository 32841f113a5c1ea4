#include "k8s_sd/detail/monitors/job_maker.hpp"
#include "k8s_sd/detail/relabel/pattern.hpp"
#include "support/monitors.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

namespace k8s_sd::test {

namespace {

using Catch::Matchers::ContainsSubstring;

/// The entries of a discovery in a VMScrapeConfig.
std::string entries(const MonitorFixture& fixture, const std::string& field, std::string_view key,
                    const std::string& entry) {
    return fixture.key(vm_scrape_config, key, "{'" + field + "': [{" + entry + "}]}");
}

const std::string key_of_token = "{'name': 'creds', 'key': 'token'}";

}  // namespace

TEST_CASE(
    "VMScrapeConfig: the clients of discoveries have the names of VictoriaMetrics' operator") {
    const MonitorFixture fixture = vm_fixture();
    struct Case {
        std::string field;
        std::string own;  ///< required fields
        std::string key;
        std::string generated;
    };
    const Case kinds[] = {
        {"httpSDConfigs", "'url': 'http://u'", "http_sd_configs", ",'url':'http://u'"},
        {"kubernetesSDConfigs", "'role': 'pod'", "kubernetes_sd_configs", ""},
        {"consulSDConfigs", "'server': 'c'", "consul_sd_configs", ",'server':'c'"},
        {"nomadSDConfigs", "'server': 'n'", "nomad_sd_configs", ",'server':'n'"},
        {"hetznerSDConfigs", "'port': 1", "hetzner_sd_configs", ",'port':1"}};
    for (const Case& kind : kinds) {
        CAPTURE(kind.field);
        const bool of_kubernetes = kind.field == "kubernetesSDConfigs";
        const auto expect = [&](const std::string& client, const std::string& generated) {
            const std::string begin = of_kubernetes ? "[{'role':'pod'," : "[{";
            CHECK(entries(fixture, kind.field, kind.key, kind.own + ", " + client) ==
                  begin + generated + kind.generated + "}]");
        };
        expect("'oauth2': {'client_id': {'secret': {'name': 'creds', 'key': 'id'}},"
               " 'client_secret': {'name': 'creds', 'key': 'cs'}, 'token_url': 'http://t'}",
               "'oauth2':{'client_id':'i','client_secret':'c','token_url':'http://t'}");
        expect("'basicAuth': {'username': {'name': 'creds', 'key': 'user'}, 'password_file':"
               " '/p'}, 'authorization': {'type': 'X'}",
               "'basic_auth':{'username':'u','password_file':'/p'}");
        expect("'basicAuth': {'username': {'name': 'creds', 'key': 'user'}}",
               "'basic_auth':{'username':'u'}");
        expect("'authorization': {'credentialsFile': '/c'}",
               "'authorization':{'credentials_file':'/c','type':'Bearer'}");
        expect("'tlsConfig': {'caFile': '/ca', 'certFile': '/cert', 'keyFile': '/key'}",
               "'tls_config':{'ca_file':'/ca','cert_file':'/cert','key_file':'/key'}");
        expect("'proxyURL': 'http://p', 'proxy_client_config': {'bearer_token': " + key_of_token +
                   "}, 'followRedirects': false",
               "'proxy_url':'http://p','proxy_bearer_token':'t','follow_redirects':false");
        CHECK_THAT(fixture.reason(vm_scrape_config,
                                  "{'" + kind.field + "': [{" + kind.own +
                                      ", 'proxy_client_config': {'bearer_token': {'name': 'x',"
                                      " 'key': 'y'}}}]}"),
                   ContainsSubstring("the Secret ns/x does not exist"));
    }
}

TEST_CASE("VMScrapeConfig: an owner that denies files denies those of discoveries") {
    const MonitorFixture fixture = vm_fixture("{'arbitraryFSAccessThroughSMs': {'deny': true}}");
    CHECK(fixture.reason(vm_scrape_config, "{'httpSDConfigs': [{'url': 'http://u', 'tlsConfig':"
                                           " {'caFile': '/ca'}}]}") ==
          "httpSDConfigs[0].tlsConfig.caFile: the owner denies access to files "
          "(arbitraryFSAccessThroughSMs)");
}

TEST_CASE("VMScrapeConfig: metadata is attached where the role has it") {
    const MonitorFixture fixture = vm_fixture();
    const auto attached = [&](const std::string& role, const std::string& attach) {
        return entries(fixture, "kubernetesSDConfigs", "kubernetes_sd_configs",
                       "'role': '" + role + "', 'attach_metadata': {" + attach + "}");
    };
    CHECK(attached("pod", "'node': true, 'namespace': true") ==
          "[{'role':'pod','attach_metadata':{'node':true,'namespace':true}}]");
    CHECK(attached("service", "'node': true, 'namespace': true") ==
          "[{'role':'service','attach_metadata':{'namespace':true}}]");
    CHECK(attached("node", "'node': true, 'namespace': true") == "[{'role':'node'}]");
    CHECK(attached("pod", "'node': false") == "[{'role':'pod'}]");
}

TEST_CASE("VMScrapeConfig: selectors of other roles are left to vmagent, which ignores them") {
    const MonitorFixture fixture = vm_fixture();
    const std::string entry =
        "'role': 'pod', 'selectors': [{'role': 'node', 'label': 'a=b'}], 'namespaces':"
        " {'ownNamespace': true}";
    CHECK(entries(fixture, "kubernetesSDConfigs", "kubernetes_sd_configs", entry) ==
          "[{'role':'pod','namespaces':{'names':[],'own_namespace':true},"
          "'selectors':[{'role':'node','label':'a=b'}]}]");
    const MonitorFixture prometheus;
    CHECK(prometheus.reason(scrape_config, "{'kubernetesSDConfigs': [{" + entry + "}]}") ==
          "kubernetesSDConfigs[0].selectors[0].role: role pod takes no selector of that role");
    const MonitorSourceConfig config;
    detail::JobMaker maker(config);
    maker.set_owner(fixture.owner);
    const detail::Generation made =
        fixture.made(vm_scrape_config, "{'kubernetesSDConfigs': [{" + entry + "}]}");
    detail::PatternBudget patterns{RelabelLimits()};
    CHECK_NOTHROW(maker.make("VMScrapeConfig ns/m", made.jobs.at(0), {}, patterns));
}

TEST_CASE("VMScrapeConfig: discoveries that k8s_sd hands to the host") {
    const MonitorFixture fixture = vm_fixture();
    CHECK(entries(fixture, "yandexCloudSDConfigs", "yandexcloud_sd_configs",
                  "'service': 'compute', 'yandexPassportOAuthToken': " + key_of_token +
                      ", 'apiEndpoint': 'http://a', 'folderIDs': ['f'], 'tlsConfig': {'caFile':"
                      " '/ca'}") ==
          "[{'tls_config':{'ca_file':'/ca'},'api_endpoint':'http://a','folder_ids':['f'],"
          "'service':'compute','yandex_passport_oauth_token':'t'}]");
    CHECK(entries(fixture, "consulAgentSDConfigs", "consulagent_sd_configs",
                  "'server': 'c', 'scheme': 'HTTPS', 'tokenRef': " + key_of_token) ==
          "[{'scheme':'https','server':'c','token':'t'}]");
    CHECK(entries(fixture, "marathonSDConfigs", "marathon_sd_configs", "'servers': ['m']") ==
          "[{'servers':['m']}]");
    CHECK(entries(fixture, "ovhcloudSDConfigs", "ovhcloud_sd_configs",
                  "'service': 'DedicatedServer'") == "[{'service':'dedicated_server'}]");
    CHECK(entries(fixture, "openstackSDConfigs", "openstack_sd_configs",
                  "'role': 'Instance', 'region': 'R'") == "[{'region':'R','role':'instance'}]");
    CHECK(entries(fixture, "digitalOceanSDConfigs", "digitalocean_sd_configs", "'port': 1") ==
          "[{'port':1}]");
}

TEST_CASE("ScrapeConfig, VMScrapeConfig: an unknown service discovery refuses the object") {
    const MonitorFixture prometheus;
    const MonitorFixture vm = vm_fixture();
    const std::string spec = "{'staticConfigs': [{'targets': ['a']}], 'newSDConfigs': [{}]}";
    const std::string reason =
        "newSDConfigs: is an unknown service discovery, whose targets would be missing";
    CHECK(prometheus.reason(scrape_config, spec) == reason);
    CHECK(vm.reason(vm_scrape_config, spec) == reason);
}

TEST_CASE("ScrapeConfig, VMScrapeConfig: a field with an underscore refuses the object") {
    const std::string spec = "{'ec2SDConfigs': [{'region': 'r', 'access_key': 'k'}]}";
    const std::string reason =
        "ec2SDConfigs[0].access_key: is an unknown field of a service discovery, whose targets "
        "could be others";
    CHECK(MonitorFixture().reason(scrape_config, spec) == reason);
    CHECK(vm_fixture().reason(vm_scrape_config, spec) == reason);
    const std::string of_client =
        "{'ec2SDConfigs': [{'region': 'r', 'proxyURL': 'http://p', 'proxy_client_config': {}}]}";
    CHECK(vm_fixture().reason(vm_scrape_config, of_client) == "");
}

}  // namespace k8s_sd::test
