#include "support/monitors.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <initializer_list>
#include <string>

namespace k8s_sd::test {

namespace {

using Catch::Matchers::ContainsSubstring;

/// Jobs of a VMStaticScrape with one endpoint.
struct VMEndpoint {
    MonitorFixture fixture;

    /// \param scrape_class  the members of the default class; empty: none
    explicit VMEndpoint(const std::string& scrape_class = "", const std::string& owner = "") {
        std::string spec = "{";
        if (!scrape_class.empty()) {
            spec += "'scrapeClasses': [{'name': 'c', 'default': true, " + scrape_class + "}]";
        }
        if (!owner.empty()) spec += (spec.size() > 1 ? ", " : "") + owner;
        fixture.set_owner(spec + "}", "VMAgent");
    }
    static std::string spec(const std::string& endpoint) {
        return "{'targetEndpoints': [{" + endpoint + "}]}";
    }
    std::string key(std::string_view name, const std::string& endpoint) const {
        return fixture.key(vm_static, name, spec(endpoint));
    }
    std::string reason(const std::string& endpoint) const {
        return fixture.reason(vm_static, spec(endpoint));
    }
};

const std::string of_user = "{'name': 'creds', 'key': 'user'}";
const std::string of_password = "{'name': 'creds', 'key': 'pw'}";
const std::string of_token = "{'name': 'creds', 'key': 'token'}";

}  // namespace

TEST_CASE("VictoriaMetrics: white space at the end of Secrets and ConfigMaps is cut off") {
    VMEndpoint vm;
    vm.fixture.values.secrets["ns/creds/token"] = " t \t\r\n\u00a0\u2003\u3000";
    vm.fixture.values.config_maps["ns/cm/id"] = "id\n";
    CHECK(vm.key("bearer_token", "'bearerTokenSecret': " + of_token) == "' t'");
    CHECK(vm.key("oauth2", "'oauth2': {'token_url': 'http://t', 'client_id': {'configMap': {'name':"
                           " 'cm', 'key': 'id'}}}") == "{'client_id':'id','token_url':'http://t'}");
    vm.fixture.values.secrets["ns/creds/token"] = "t\xff";
    CHECK(vm.key("bearer_token", "'bearerTokenSecret': " + of_token) == "'t\xff'");

    const MonitorFixture prometheus;
    CHECK(prometheus.key(service_monitor, "basic_auth",
                         "{'selector': {}, 'endpoints': [{'basicAuth': {'username': " + of_user +
                             ", 'password': " + of_password + "}}]}") ==
          "{'username':'u','password':' p\\n'}");
}

TEST_CASE("VictoriaMetrics: a scrape class fills in what is empty") {
    const VMEndpoint vm("'basicAuth': {'username': " + of_user +
                        ", 'password_file': '/p'}, 'tlsConfig': {'caFile': '/ca', 'certFile': "
                        "'/cert', 'keyFile': '/key', 'serverName': 's'}, 'bearerTokenFile': '/t',"
                        " 'authorization': {'credentialsFile': '/c'}");
    const std::string tls =
        "{'server_name':'s','ca_file':'/ca','cert_file':'/cert','key_file':'/key'}";
    for (const char* const own :
         {"'tlsConfig': {}", "'tlsConfig': {'ca': {}, 'cert': {}}",
          "'tlsConfig': {'ca': {'secret': null}, 'cert': {}, 'keySecret': null, 'caFile': '',"
          " 'serverName': ''}",
          "'tlsConfig': null"}) {
        CAPTURE(own);
        CHECK(vm.key("tls_config", own) == tls);
    }
    for (const char* const own :
         {"'basicAuth': {}", "'basicAuth': {'username': {'key': ''}, 'password': {'key': ''}}",
          "'basicAuth': {'username': {'name': '', 'key': 'x'}, 'password': null,"
          " 'password_file': ''}"}) {
        CAPTURE(own);
        CHECK(vm.key("basic_auth", own) == "{'username':'u','password_file':'/p'}");
    }
    CHECK(vm.key("bearer_token_file", "'bearerTokenFile': ''") == "'/t'");
    CHECK(vm.key("authorization", "'authorization': {'type': 'X'}") ==
          "{'credentials_file':'/c','type':'X'}");
    CHECK(vm.key("basic_auth", "'basicAuth': {'password': " + of_password + "}") ==
          "{'username':'u','password':' p'}");
    CHECK(vm.key("tls_config", "'tlsConfig': {'caFile': '/own', 'ca': {}}") ==
          "{'server_name':'s','ca_file':'/own','cert_file':'/cert','key_file':'/key'}");
}

TEST_CASE(
    "VictoriaMetrics: a scrape class completes the TLS settings of OAuth 2.0 field by field") {
    const VMEndpoint vm("'oauth2': {'client_id': {'secret': {'name': 'creds', 'key': 'id'}},"
                        " 'client_secret_file': '/cs', 'scopes': ['of class'], 'token_url':"
                        " 'http://t', 'tls_config': {'caFile': '/ca', 'serverName': 's'}}");
    CHECK(vm.key("oauth2", "'oauth2': {'client_id': {}, 'scopes': [], 'token_url': '',"
                           " 'tls_config': {'ca': {}, 'serverName': 'own'}}") ==
          "{'client_id':'i','client_secret_file':'/cs','scopes':['of class'],"
          "'token_url':'http://t','tls_config':{'server_name':'own','ca_file':'/ca'}}");
    CHECK(vm.key("oauth2", "") ==
          "{'client_id':'i','client_secret_file':'/cs','scopes':['of class'],"
          "'token_url':'http://t','tls_config':{'server_name':'s','ca_file':'/ca'}}");
}

TEST_CASE("VictoriaMetrics: files of OAuth 2.0 are generated, a Secret has precedence") {
    const VMEndpoint vm;
    CHECK(vm.key("oauth2", "'oauth2': {'token_url': 'http://t', 'client_secret': {'name': 'creds',"
                           " 'key': 'cs'}, 'client_secret_file': '/cs', 'tls_config': {'caFile':"
                           " '/ca', 'certFile': '/cert', 'keyFile': '/key'}}") ==
          "{'client_secret':'c','token_url':'http://t',"
          "'tls_config':{'ca_file':'/ca','cert_file':'/cert','key_file':'/key'}}");
    CHECK(vm.key("authorization", "'authorization': {'credentialsFile': '/c', 'credentials': " +
                                      of_token + "}") == "{'credentials':'t','type':'Bearer'}");
}

TEST_CASE("VictoriaMetrics: an authorization without credentials is left out") {
    const VMEndpoint vm;
    const std::string both =
        "'authorization': {'type': 'Bearer'}, 'basicAuth': {'username': " + of_user + "}";
    CHECK(vm.key("authorization", both) == "none");
    CHECK(vm.key("basic_auth", both) == "{'username':'u'}");
    CHECK(vm.reason("'authorization': {'type': 'basic', 'credentials': " + of_token + "}") ==
          "targetEndpoints[0].authorization.type: must not be Basic");
}

TEST_CASE("VictoriaMetrics: an owner that denies files may name them in its scrape classes") {
    VMEndpoint vm("'basicAuth': {'username': " + of_user + ", 'password_file': '/p'}",
                  "'arbitraryFSAccessThroughSMs': {'deny': true}");
    CHECK(vm.key("basic_auth", "") == "{'username':'u','password_file':'/p'}");
    for (const char* const own :
         {"'basicAuth': {'password_file': '/own'}", "'bearerTokenFile': '/own'",
          "'tlsConfig': {'caFile': '/own'}", "'authorization': {'credentialsFile': '/own'}",
          "'oauth2': {'token_url': 'http://t', 'client_secret_file': '/own'}",
          "'oauth2': {'token_url': 'http://t', 'tls_config': {'caFile': '/own'}}",
          "'vm_scrape_params': {'proxy_client_config': {'tls_config': {'caFile': '/own'}}}"}) {
        CAPTURE(own);
        CHECK_THAT(vm.reason(own), ContainsSubstring("the owner denies access to files"));
    }
}

TEST_CASE("VictoriaMetrics: the client of a proxy has its Secrets and files") {
    const VMEndpoint vm;
    const auto with = [](const std::string& client) {
        return "'proxyURL': 'http://p', 'vm_scrape_params': {'proxy_client_config': {" + client +
               "}}";
    };
    CHECK(vm.key("proxy_tls_config", with("'tls_config': {'caFile': '/ca'}")) ==
          "{'ca_file':'/ca'}");
    const std::string tokens = with("'bearer_token_file': '/t', 'bearer_token': " + of_token);
    CHECK(vm.key("proxy_bearer_token", tokens) == "'t'");
    CHECK(vm.key("proxy_bearer_token_file", tokens) == "none");
    CHECK(vm.key("proxy_bearer_token_file", with("'bearer_token_file': '/t'")) == "'/t'");
    const std::string absent = "{'name': 'absent', 'key': 'k'}";
    for (const std::string& client :
         {"'bearer_token': " + absent, "'basic_auth': {'username': " + absent + "}",
          "'tls_config': {'ca': {'secret': " + absent + "}}"}) {
        CAPTURE(client);
        CHECK_THAT(vm.reason(with(client)),
                   ContainsSubstring("the Secret ns/absent does not exist"));
    }
}

TEST_CASE("VictoriaMetrics: the credentials of another API server") {
    const auto entry = [](const std::string& server) {
        const VMEndpoint vm("", "'apiServerConfig': {'host': 'https://api', " + server + "}");
        return vm.fixture.key(vm_service, "kubernetes_sd_configs",
                              "{'selector': {}, 'endpoints': [{}]}");
    };
    const std::string begin =
        "[{'role':'endpoints','namespaces':{'names':['ns']},'api_server':'https://api'";
    CHECK(entry("'basicAuth': {'username': " + of_user + ", 'password_file': '/p'}") ==
          begin + ",'basic_auth':{'username':'u','password_file':'/p'}}]");
    CHECK(entry("'bearerToken': 't', 'bearerTokenFile': '/t'") ==
          begin + ",'bearer_token_file':'/t'}]");
    CHECK(entry("'bearerToken': 't'") == begin + ",'bearer_token':'t'}]");
    CHECK(entry("'authorization': {'type': 'X'}, 'tlsConfig': {'ca': {}, 'caFile': '/ca'}") ==
          begin + ",'tls_config':{'ca_file':'/ca'}}]");
    const VMEndpoint denied("", "'arbitraryFSAccessThroughSMs': {'deny': true}, 'apiServerConfig':"
                                " {'host': 'https://api', 'bearerTokenFile': '/t'}");
    CHECK(denied.fixture.reason(vm_service, "{'selector': {}, 'endpoints': [{}]}") == "");
}

}  // namespace k8s_sd::test
