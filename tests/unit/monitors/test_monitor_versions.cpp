#include "support/monitors.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <string>
#include <string_view>

namespace monitor_versions_tests {

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

/// A key, and the first version of Prometheus that has it.
struct Since {
    std::uint64_t major, minor;
    MonitorKind kind;
    const char* field;  ///< of the endpoint, or of the spec
    const char* key;
};

/// A ServiceMonitor or PodMonitor with the field in its endpoint; other kinds have no endpoints.
std::string spec_with(MonitorKind kind, const std::string& field) {
    if (kind == service_monitor) return "{'selector': {}, 'endpoints': [{" + field + "}]}";
    return "{'selector': {}, 'podMetricsEndpoints': [{" + field + "}]}";
}
std::string spec_beside(MonitorKind kind, const std::string& field) {
    if (kind == scrape_config) return "{" + field + "}";
    return "{" + field + ", " + spec_with(kind, "").substr(1);
}

/// The key of the only job in the last version without it, and in the first one with it.
void check(const Since& row, const std::string& spec) {
    CAPTURE(row.key, row.major, row.minor, spec);
    MonitorFixture fixture;
    fixture.owner.version = {row.major, row.minor, 0};
    CHECK(fixture.key(row.kind, row.key, spec) != "none");
    const bool is_first_of_major = row.minor == 0;
    fixture.owner.version = {row.major - is_first_of_major, is_first_of_major ? 55 : row.minor - 1,
                             0};
    CHECK(fixture.key(row.kind, row.key, spec) == "none");
    fixture.options.without_version_check = true;
    CHECK(fixture.key(row.kind, row.key, spec) != "none");
}

}  // namespace

TEST_CASE("Monitors: each key of an endpoint is generated from its version on") {
    const std::string credentials = "{'name': 'creds', 'key': 'token'}";
    const std::string authorization = "'authorization': {'credentials': " + credentials + "}";
    const std::string oauth2 = "'oauth2': {'clientId': {'secret': {'name': 'creds', 'key': 'id'}},"
                               " 'clientSecret': " +
                               credentials + ", 'tokenUrl': 'https://idp'}";
    const std::string header =
        "'proxyUrl': 'http://p', 'proxyConnectHeader': {'A': [" + credentials + "]}";
    for (const Since& row : {
             Since{2, 9, service_monitor, "'honorTimestamps': true", "honor_timestamps"},
             Since{2, 26, service_monitor, "'followRedirects': false", "follow_redirects"},
             Since{2, 26, pod_monitor, authorization.c_str(), "authorization"},
             Since{2, 27, service_monitor, oauth2.c_str(), "oauth2"},
             Since{2, 35, pod_monitor, "'enableHttp2': false", "enable_http2"},
             Since{2, 43, service_monitor, "'proxyUrl': 'http://p', 'noProxy': 'x'", "no_proxy"},
             Since{2, 43, service_monitor, "'proxyFromEnvironment': true",
                   "proxy_from_environment"},
             Since{2, 43, service_monitor, header.c_str(), "proxy_connect_header"},
             Since{2, 48, service_monitor, "'trackTimestampsStaleness': true",
                   "track_timestamps_staleness"},
         }) {
        check(row, spec_with(row.kind, row.field));
    }
}

TEST_CASE("Monitors: each key of a spec is generated from its version on") {
    for (const Since& row : {
             Since{2, 21, service_monitor, "'targetLimit': 1", "target_limit"},
             Since{2, 27, service_monitor, "'labelLimit': 1", "label_limit"},
             Since{2, 27, pod_monitor, "'labelNameLengthLimit': 1", "label_name_length_limit"},
             Since{2, 27, pod_monitor, "'labelValueLengthLimit': 1", "label_value_length_limit"},
             Since{2, 28, service_monitor, "'bodySizeLimit': '1KB'", "body_size_limit"},
             Since{2, 45, service_monitor, "'nativeHistogramBucketLimit': 1",
                   "native_histogram_bucket_limit"},
             Since{2, 45, service_monitor, "'scrapeClassicHistograms': true",
                   "scrape_classic_histograms"},
             Since{2, 47, pod_monitor, "'keepDroppedTargets': 1", "keep_dropped_targets"},
             Since{2, 49, service_monitor, "'scrapeProtocols': ['PrometheusProto']",
                   "scrape_protocols"},
             Since{2, 49, scrape_config, "'enableCompression': false", "enable_compression"},
             Since{2, 50, service_monitor, "'nativeHistogramMinBucketFactor': '1.1'",
                   "native_histogram_min_bucket_factor"},
             Since{3, 0, service_monitor, "'convertClassicHistogramsToNHCB': true",
                   "convert_classic_histograms_to_nhcb"},
             Since{3, 0, service_monitor, "'fallbackScrapeProtocol': 'PrometheusProto'",
                   "fallback_scrape_protocol"},
             Since{3, 0, scrape_config, "'nameValidationScheme': 'Legacy'",
                   "metric_name_validation_scheme"},
             Since{3, 4, scrape_config, "'nameEscapingScheme': 'Dots'",
                   "metric_name_escaping_scheme"},
             Since{3, 8, service_monitor, "'scrapeNativeHistograms': true",
                   "scrape_native_histograms"},
         }) {
        check(row, spec_beside(row.kind, row.field));
    }
}

TEST_CASE("Monitors: nodes are attached, and versions of TLS named, from their version on") {
    MonitorFixture fixture;
    const auto text = [&](std::uint64_t minor, MonitorKind kind, std::string_view key,
                          const std::string& spec) {
        fixture.owner.version = {2, minor, 0};
        return fixture.key(kind, key, spec);
    };
    const std::string attach = "'attachMetadata': {'node': true}";
    const auto attaches = [&](std::uint64_t minor, MonitorKind kind) {
        return text(minor, kind, "kubernetes_sd_configs", spec_beside(kind, attach))
                   .find("'attach_metadata':{'node':true}") != std::string::npos;
    };
    CHECK_FALSE(attaches(36, service_monitor));
    CHECK(attaches(37, service_monitor));
    CHECK_FALSE(attaches(34, pod_monitor));
    CHECK(attaches(35, pod_monitor));
    const std::string tls =
        spec_with(service_monitor, "'tlsConfig': {'minVersion': 'TLS12', 'maxVersion': 'TLS13'}");
    CHECK(text(34, service_monitor, "tls_config", tls) == "{}");
    CHECK(text(35, service_monitor, "tls_config", tls) == "{'min_version':'TLS12'}");
    CHECK(text(41, service_monitor, "tls_config", tls) ==
          "{'min_version':'TLS12','max_version':'TLS13'}");
}

TEST_CASE("Monitors: all fields of OAuth 2, and those of later versions") {
    MonitorFixture fixture;
    const std::string spec = spec_with(
        service_monitor,
        "'oauth2': {'clientId': {'secret': {'name': 'creds', 'key': 'id'}}, 'clientSecret': "
        "{'name': 'creds', 'key': 'cs'}, 'tokenUrl': 'https://idp', 'scopes': ['b', 'a'],"
        " 'endpointParams': {'z': '1', 'y': '2'}, 'proxyUrl': 'http://p', 'noProxy': 'x',"
        " 'tlsConfig': {'serverName': 's'}}");
    const std::string common = "{'client_id':'i','client_secret':'c','token_url':'https://idp',"
                               "'scopes':['b','a'],'endpoint_params':{'y':'2','z':'1'}";
    CHECK(fixture.key(service_monitor, "oauth2", spec) ==
          common + ",'proxy_url':'http://p','no_proxy':'x','tls_config':{'server_name':'s'}}");
    fixture.owner.version = {2, 42, 0};
    CHECK(fixture.key(service_monitor, "oauth2", spec) == common + "}");
}

TEST_CASE("Monitors: zones of an owner are in a label of its choice") {
    MonitorFixture fixture;
    fixture.options.topology_sharding = true;
    const auto labels = [&](const std::string& topology) {
        fixture.set_owner("{'shards': 2, 'shardingStrategy': {'mode': 'Topology', 'topology': "
                          "{'values': ['a', 'b']" +
                          topology + "}}}");
        return text_of(
            detail::global_section(fixture.owner, fixture.options).at("external_labels"));
    };
    const std::string others = "{'prometheus':'mon/main','prometheus_replica':'$(POD_NAME)'";
    CHECK(labels("") == others + ",'zone':'$(TOPOLOGY_ZONE)'}");
    CHECK(labels(", 'externalLabelName': 'region'") == others + ",'region':'$(TOPOLOGY_ZONE)'}");
    // Kubernetes labels pods with their zone: nodes are not attached for it.
    const std::string spec = spec_with(service_monitor, "'port': 'web'");
    const auto attaches = [&] {
        return fixture.key(service_monitor, "kubernetes_sd_configs", spec)
                   .find("attach_metadata") != std::string::npos;
    };
    const auto reads = [&](const char* label) {
        return fixture.key(service_monitor, "relabel_configs", spec).find(label) !=
               std::string::npos;
    };
    CHECK(attaches());
    CHECK(reads("__meta_kubernetes_node_labelpresent_topology_kubernetes_io_zone"));
    fixture.options.pod_topology_labels = true;
    CHECK_FALSE(attaches());
    CHECK(reads("__meta_kubernetes_pod_labelpresent_topology_kubernetes_io_zone"));
}

}  // namespace monitor_versions_tests
