#include "support/certificates.hpp"
#include "support/monitors.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace k8s_sd::test {

namespace {

constexpr const char* basic = "'basicAuth': {'username': {'name': 'creds', 'key': 'user'},"
                              " 'password': {'name': 'creds', 'key': 'pw'}}";
constexpr const char* bearer =
    "'authorization': {'credentials': {'name': 'creds', 'key': 'token'}}";
constexpr const char* oauth2 =
    "'oauth2': {'clientId': {'configMap': {'name': 'cm', 'key': 'id'}},"
    " 'clientSecret': {'name': 'creds', 'key': 'cs'}, 'tokenUrl': 'https://idp/t'}";

/// The reason of the refusal of a ServiceMonitor with that endpoint.
std::string endpoint_fault(const MonitorFixture& fixture, const std::string& endpoint) {
    return fixture.reason(service_monitor, "{'selector': {}, 'endpoints': [{" + endpoint + "}]}");
}
std::string endpoint_key(const MonitorFixture& fixture, std::string_view key,
                         const std::string& endpoint) {
    return fixture.key(service_monitor, key, "{'selector': {}, 'endpoints': [{" + endpoint + "}]}");
}

}  // namespace

TEST_CASE("Secrets of monitors: values are inserted as they are") {
    const MonitorFixture fixture;
    CHECK(endpoint_key(fixture, "basic_auth", basic) == "{'username':'u','password':' p\\n'}");
    CHECK(endpoint_key(fixture, "authorization", bearer) == "{'type':'Bearer','credentials':'t'}");
    CHECK(endpoint_key(fixture, "oauth2", oauth2) ==
          "{'client_id':'ci','client_secret':'c','token_url':'https://idp/t'}");
    CHECK(endpoint_key(fixture, "bearer_token",
                       "'bearerTokenSecret': {'name': 'creds', 'key': 'token'}") == "'t'");
    CHECK(endpoint_key(fixture, "bearer_token", "'bearerTokenSecret': {'key': 'x'}") == "none");
    CHECK(endpoint_key(fixture, "proxy_connect_header",
                       "'proxyUrl': 'http://p', 'proxyConnectHeader': {'B': [{'name': 'creds',"
                       " 'key': 'pw'}], 'A': []}") == "{'A':[],'B':[' p\\n']}");
}

TEST_CASE("Secrets of monitors: every request is reported, found or not") {
    const MonitorFixture fixture;
    const auto made = fixture.made(
        service_monitor, "{'selector': {}, 'endpoints': [{'basicAuth': {'username': {'name': "
                         "'creds', 'key': 'user'}, 'password': {'name': 'gone', 'key': 'pw'}}}]}");
    REQUIRE(made.refusal);
    CHECK(made.jobs.empty());
    CHECK(made.refusal->reason ==
          "endpoints[0].basicAuth.password: the Secret ns/gone does not exist");
    CHECK(made.refusal->remedy != "");
    using Reference = MonitorReference;
    CHECK(made.references == std::set<Reference>{{Reference::Kind::secret, "ns", "creds", "user"},
                                                 {Reference::Kind::secret, "ns", "gone", "pw"}});
}

TEST_CASE("Secrets of monitors: `optional` has no effect") {
    const MonitorFixture fixture;
    CHECK(endpoint_fault(fixture, "'basicAuth': {'username': {'name': 'creds', 'key': 'nokey',"
                                  " 'optional': true}}") ==
          "endpoints[0].basicAuth.username: the Secret ns/creds has no key 'nokey'");
}

TEST_CASE("Endpoints: two ways to authenticate are refused") {
    const MonitorFixture fixture;
    const auto fault = [&](const std::string& endpoint) {
        return endpoint_fault(fixture, endpoint);
    };
    const std::string comma = ", ";
    CHECK(fault(basic + comma + bearer) == "endpoints[0]: has authorization and basicAuth");
    CHECK(fault(basic + comma + oauth2) == "endpoints[0]: has basicAuth and oauth2");
    CHECK(fault(basic + comma + "'bearerTokenSecret': {'name': 'creds', 'key': 'token'}") != "");
    CHECK(fault("'authorization': {}") == "endpoints[0].authorization: has no credentials");
    CHECK(fault("'authorization': {'type': 'X'}") != "");
    CHECK(fault("'authorization': {'type': ' Basic', 'credentials': {'name': 'creds',"
                " 'key': 'token'}}") == "endpoints[0].authorization.type: must not be Basic");
    // A ScrapeConfig may have both; its authorization may be empty.
    CHECK(fixture.reason(scrape_config, "{" + (basic + comma) + bearer + "}") == "");
    CHECK(fixture.key(scrape_config, "authorization", "{'authorization': {}}") == "none");
    CHECK(fixture.key(scrape_config, "authorization", "{'authorization': {'type': ' X '}}") ==
          "{'type':'X'}");
}

TEST_CASE("Endpoints: faults of OAuth 2 and of proxies") {
    const MonitorFixture fixture;
    const auto fault = [&](const std::string& endpoint) {
        return endpoint_fault(fixture, endpoint);
    };
    CHECK(fault("'oauth2': {}") == "endpoints[0].oauth2.tokenUrl: is missing");
    CHECK(fault("'oauth2': {'tokenUrl': 't', 'clientId': {}}") ==
          "endpoints[0].oauth2.clientId: is missing");
    CHECK(fault("'oauth2': {'tokenUrl': 't', 'clientId': {'secret': {}, 'configMap': {}}}") ==
          "endpoints[0].oauth2.clientId: names both a Secret and a ConfigMap");
    CHECK(fault("'proxyFromEnvironment': true, 'proxyUrl': 'http://p'") != "");
    CHECK(fault("'proxyFromEnvironment': true, 'noProxy': 'x'") != "");
    CHECK(fault("'proxyFromEnvironment': false, 'proxyUrl': 'http://p', 'noProxy': 'x'") == "");
    CHECK(fault("'noProxy': 'x'") == "endpoints[0]: noProxy is set without proxyUrl");
    CHECK(fault("'proxyConnectHeader': {'A': []}") ==
          "endpoints[0]: proxyConnectHeader is set without a proxy");
    CHECK(fault("'proxyUrl': 'http://user:secret@[bad'") ==
          "endpoints[0].proxyUrl: is no valid URL");
}

TEST_CASE("Endpoints: the owner may deny files") {
    MonitorFixture fixture;
    const std::string file = "'tlsConfig': {'certFile': '/c', 'keyFile': '/k'}";
    CHECK(endpoint_fault(fixture, file) == "");
    CHECK(endpoint_key(fixture, "bearer_token_file", "'bearerTokenFile': '/t'") == "'/t'");
    fixture.owner.deny_file_access = true;
    CHECK(endpoint_fault(fixture, file) ==
          "endpoints[0].tlsConfig.certFile: the owner denies access to files "
          "(arbitraryFSAccessThroughSMs)");
    CHECK(endpoint_fault(fixture, "'bearerTokenFile': '/t'") != "");
}

TEST_CASE("TLS settings: contradictions") {
    const MonitorFixture fixture;
    const auto fault = [&](const std::string& tls) {
        return endpoint_fault(fixture, "'tlsConfig': {" + tls + "}");
    };
    CHECK(fault("'caFile': '/c', 'ca': {'secret': {'name': 'tls', 'key': 'ca'}}") ==
          "endpoints[0].tlsConfig: has both ca and caFile");
    CHECK(fault("'ca': {'secret': {}, 'configMap': {}}") ==
          "endpoints[0].tlsConfig.ca: names both a Secret and a ConfigMap");
    CHECK(fault("'certFile': '/c'") ==
          "endpoints[0].tlsConfig: has a client certificate without a key");
    CHECK(fault("'keyFile': '/c'") ==
          "endpoints[0].tlsConfig: has a client key without a certificate");
    CHECK(fault("'minVersion': 'TLS13', 'maxVersion': 'TLS12'") ==
          "endpoints[0].tlsConfig: maxVersion is below minVersion");
    CHECK(fault("'ca': {'configMap': {'name': 'nope', 'key': 'ca'}}") ==
          "endpoints[0].tlsConfig.ca: the ConfigMap ns/nope does not exist");
}

TEST_CASE("TLS settings: material must be a certificate and its key") {
    MonitorFixture fixture;
    fixture.values.secrets["ns/tls/crt"] = "-----BEGIN NOTHING-----\n";
    fixture.values.secrets["ns/tls/key"] = "x";
    CHECK(
        endpoint_fault(fixture, "'tlsConfig': {'ca': {'secret': {'name': 'tls', 'key': 'crt'}}}") ==
        "endpoints[0].tlsConfig.ca: is no certificate in PEM");
    CHECK(endpoint_fault(fixture, "'tlsConfig': {'cert': {'secret': {'name': 'tls', 'key': 'crt'}},"
                                  " 'keySecret': {'name': 'tls', 'key': 'key'}}") ==
          "endpoints[0].tlsConfig: cert and keySecret are no certificate in PEM and its key");
}

TEST_CASE("TLS settings: a certificate and its key, as text or as mounted files") {
    MonitorFixture fixture;
    const CertificateAuthority authority;
    const Identity client = authority.server({"client"});
    const Identity other = authority.server({"other"});
    fixture.values.secrets["ns/tls/crt"] = client.certificate;
    fixture.values.secrets["ns/tls/key"] = client.key;
    fixture.values.secrets["ns/tls/other"] = other.key;
    fixture.values.config_maps["ns/cm/ca"] = authority.certificate();
    const std::string tls =
        "'tlsConfig': {'ca': {'configMap': {'name': 'cm', 'key': 'ca'}}, 'serverName': 's',"
        " 'cert': {'secret': {'name': 'tls', 'key': 'crt'}},"
        " 'keySecret': {'name': 'tls', 'key': 'key'}}";
    const auto made =
        fixture.job(service_monitor, "{'selector': {}, 'endpoints': [{" + tls + "}]}");
    const boost::json::object& section = made.at("tls_config").as_object();
    CHECK(section.at("ca").as_string() == authority.certificate());
    CHECK(section.at("cert").as_string() == client.certificate);
    CHECK(section.at("key").as_string() == client.key);
    CHECK(endpoint_fault(fixture, "'tlsConfig': {'cert': {'secret': {'name': 'tls', 'key': 'crt'}},"
                                  " 'keySecret': {'name': 'tls', 'key': 'other'}}") ==
          "endpoints[0].tlsConfig: cert and keySecret are no certificate in PEM and its key");
    fixture.options.inline_tls = false;
    CHECK(endpoint_key(fixture, "tls_config", tls) ==
          "{'ca_file':'/etc/prometheus/certs/1_ns_cm_ca',"
          "'cert_file':'/etc/prometheus/certs/0_ns_tls_crt',"
          "'key_file':'/etc/prometheus/certs/0_ns_tls_key','server_name':'s'}");
}

TEST_CASE("Scrape classes: TLS material as text may be in the namespace of the owner") {
    MonitorFixture fixture;
    const CertificateAuthority authority;
    fixture.values.secrets["mon/tls/ca"] = authority.certificate();
    fixture.set_owner("{'scrapeClasses': [{'name': 'c', 'default': true, 'tlsConfig': {'ca': "
                      "{'secret': {'name': 'tls', 'key': 'ca'}}}}]}");
    const auto made = fixture.job(service_monitor, "{'selector': {}, 'endpoints': [{}]}");
    CHECK(made.at("tls_config").as_object().at("ca").as_string() == authority.certificate());
    fixture.options.inline_tls = false;
    CHECK(endpoint_key(fixture, "tls_config", "") ==
          "{'ca_file':'/etc/prometheus/certs/0_ns_tls_ca'}");
}

TEST_CASE("TLS settings: only endpoints of ServiceMonitors and classes name files") {
    MonitorFixture fixture;
    CHECK(fixture.key(pod_monitor, "tls_config",
                      "{'podMetricsEndpoints': [{'tlsConfig': {'caFile': '/etc/x',"
                      " 'serverName': 's'}}]}") == "{'server_name':'s'}");
    fixture.owner.deny_file_access = true;
    const std::string client = oauth2;
    CHECK(endpoint_key(fixture, "oauth2",
                       client.substr(0, client.size() - 1) +
                           ", 'tlsConfig': {'caFile': '/etc/x', 'serverName': 's'}}") ==
          "{'client_id':'ci','client_secret':'c','token_url':'https://idp/t',"
          "'tls_config':{'server_name':'s'}}");
}

TEST_CASE("TLS settings: an empty one is absent except in a ServiceMonitor") {
    MonitorFixture fixture;
    CHECK(endpoint_key(fixture, "tls_config", "'tlsConfig': {}") == "{}");
    CHECK(fixture.key(scrape_config, "tls_config", "{'tlsConfig': {}}") == "none");
    fixture.set_owner("{'scrapeClasses': [{'name': 'c', 'default': true, 'tlsConfig': "
                      "{'caFile': '/ca', 'insecureSkipVerify': true}}]}");
    CHECK(endpoint_key(fixture, "tls_config", "'tlsConfig': {}") == "{'ca_file':'/ca'}");
    CHECK(endpoint_key(fixture, "tls_config", "") ==
          "{'insecure_skip_verify':true,'ca_file':'/ca'}");
    CHECK(fixture.key(scrape_config, "tls_config", "{'tlsConfig': {}}") ==
          "{'insecure_skip_verify':true,'ca_file':'/ca'}");
}

TEST_CASE("Scrape classes: authorization of the class") {
    MonitorFixture fixture;
    fixture.set_owner(
        "{'scrapeClasses': [{'name': 'c', 'default': true, 'authorization': {'type': 'T',"
        " 'credentials': {'name': 'creds', 'key': 'token'}}},"
        " {'name': 'f', 'authorization': {'credentialsFile': '/f'}}]}");
    CHECK(endpoint_key(fixture, "authorization", "") == "{'type':'T','credentials':'t'}");
    CHECK(fixture.key(scrape_config, "authorization", "{'authorization': {'type': 'Own'}}") ==
          "{'type':'Own','credentials':'t'}");
    CHECK(fixture.key(scrape_config, "authorization", "{'scrapeClass': 'f'}") ==
          "{'type':'Bearer','credentials_file':'/f'}");
    // Another valid object must reference the Secret.
    const auto made = fixture.made(service_monitor, "{'selector': {}, 'endpoints': [{}]}");
    CHECK(made.references.empty());
    CHECK(made.class_references.size() == 1);
    fixture.values.loaded = false;
    CHECK(endpoint_key(fixture, "authorization", "") == "{'type':'T'}");
}

}  // namespace k8s_sd::test
