#include "k8s_sd/monitors/monitor_access.hpp"
#include "support/monitor_cluster.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

using Jobs = std::vector<std::string>;

/// A cluster with the resources of VictoriaMetrics' operator, and a VMAgent that selects all.
struct VMMonitors : Monitors {
    VMMonitors() : Monitors(false) {
        sim::add_vm_monitors(server);
        config.owner = MonitorOwnerObject{"monitoring", "agent", MonitorOwnerKind::vm_agent};
        apply("VMAgent", "monitoring", "agent", R"({"selectAllByDefault": true})");
    }
    void service_scrape(std::string_view name, const std::string& endpoint) {
        apply("VMServiceScrape", "a", name, R"({"selector": {}, "endpoints": [)" + endpoint + "]}");
    }
};

}  // namespace

TEST_CASE("MonitorSource: a VMAgent selects VictoriaMetrics' kinds, in its order and dialect") {
    VMMonitors monitors;
    monitors.apply("VMScrapeConfig", "a", "static", R"({"staticConfigs": [{"targets": ["h:1"]}]})");
    monitors.apply("VMStaticScrape", "a", "hosts",
                   R"({"targetEndpoints": [{"targets": ["h:2"]}]})");
    monitors.apply("VMNodeScrape", "a", "nodes", R"({"port": "9100"})");
    monitors.apply("VMProbe", "a", "probe", R"({"vmProberSpec": {"url": "prober:9115"},
        "targets": {"static": {"targets": ["a.example"]}}})");
    monitors.apply("VMPodScrape", "a", "pods", R"({"podMetricsEndpoints": [{"port": "http"}]})");
    monitors.service_scrape("web", R"({"port": "http"})");
    monitors.start();
    CHECK(monitors.names() == Jobs{"serviceScrape/a/web/0", "podScrape/a/pods/0", "probe/a/probe",
                                   "nodeScrape/a/nodes", "staticScrape/a/hosts/0",
                                   "scrapeConfig/a/static"});
    for (const std::string& request : monitors.take_requests()) {
        CHECK_THAT(request, !ContainsSubstring("monitoring.coreos.com"));
    }
    const MonitorJobPtr web = monitors.job("serviceScrape/a/web/0");
    REQUIRE(web);
    CHECK(web->object == "VMServiceScrape a/web");
    CHECK(web->job->scrape.dialect == LabelDialect::victoriametrics);
    REQUIRE(web->job->discovery.configs.size() == 1);
    CHECK(web->job->discovery.configs[0].dialect == LabelDialect::victoriametrics);
    CHECK(web->job->discovery.configs[0].namespaces == Jobs{"a"});
    const MonitorStatus status = monitors.source->status();
    CHECK(status.of_vm);
    for (const MonitorKind kind : kinds_of(status)) {
        CAPTURE(to_string(kind));
        CHECK(monitors.kind(status, kind).accepted == 1);
    }
    CHECK_THAT(to_prometheus_text(status),
               ContainsSubstring("k8s_sd_monitors{kind=\"VMPodScrape\",state=\"accepted\"} 1\n"));
}

TEST_CASE("MonitorSource: VictoriaMetrics' kinds change, wait for Secrets and go") {
    VMMonitors monitors;
    monitors.service_scrape("web", R"({"port": "http"})");
    monitors.service_scrape(
        "login", R"({"port": "http", "bearerTokenSecret": {"name": "login", "key": "token"}})");
    monitors.start();
    CHECK(monitors.take() == Jobs{"full +serviceScrape/a/web/0"});
    CHECK_THAT(monitors.why(MonitorKind::vm_service_scrape, "a", "login"),
               StartsWith("refused") && ContainsSubstring("login"));
    monitors.server.apply(sim::secret("a", "login").data("token", "t"));
    monitors.settle();
    CHECK(monitors.take() == Jobs{"+serviceScrape/a/login/0"});
    CHECK(monitors.job("serviceScrape/a/login/0")->job->client->auth.bearer_token == "t");
    monitors.service_scrape("web", R"({"port": "metrics"})");
    monitors.settle();
    CHECK(monitors.take() == Jobs{"+serviceScrape/a/web/0"});

    INFO("objects on their way out have no jobs");
    boost::json::object ending = sim::monitor("VMServiceScrape", "a", "web",
                                              R"({"selector": {}, "endpoints": [{"port": "x"}]})");
    ending["metadata"].as_object()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
    monitors.server.apply(ending);
    monitors.settle();
    CHECK(monitors.take() == Jobs{"-serviceScrape/a/web/0"});
    monitors.server.remove("vmservicescrapes", "a", "login");
    monitors.settle();
    CHECK(monitors.take() == Jobs{"-serviceScrape/a/login/0"});
}

TEST_CASE("MonitorSource: the selectors of a VMAgent decide, and say why not") {
    VMMonitors monitors;
    monitors.apply("VMAgent", "monitoring", "agent",
                   R"({"serviceScrapeSelector": {"matchLabels": {"team": "red"}}})");
    monitors.service_scrape("web", R"({"port": "http"})");
    monitors.apply("VMServiceScrape", "monitoring", "web",
                   R"({"selector": {}, "endpoints": [{"port": "http"}]})");
    monitors.start();
    CHECK(monitors.names().empty());
    CHECK_THAT(monitors.why(MonitorKind::vm_service_scrape, "monitoring", "web"),
               ContainsSubstring("serviceScrapeSelector"));
    // Without a namespace selector only the owner's namespace is watched.
    CHECK(monitors.why(MonitorKind::vm_service_scrape, "a", "web") == "none");
    monitors.apply("VMServiceScrape", "monitoring", "web",
                   R"({"selector": {}, "endpoints": [{"port": "http"}]})", {{"team", "red"}});
    monitors.settle();
    CHECK(monitors.names() == Jobs{"serviceScrape/monitoring/web/0"});
}

TEST_CASE("MonitorSource: one source follows owners of both operators, one after the other") {
    VMMonitors monitors;
    sim::add_monitors(monitors.server);
    monitors.service_scrape("web", R"({"port": "http"})");
    monitors.service_monitor("a", "web", "http");
    monitors.start();
    CHECK(monitors.names() == Jobs{"serviceScrape/a/web/0"});
    monitors.source->set_owner(owner_of_all());
    monitors.settle();
    CHECK(monitors.names() == Jobs{"serviceMonitor/a/web/0"});
    CHECK(monitors.job("serviceMonitor/a/web/0")->job->scrape.dialect == LabelDialect::prometheus);
    CHECK_FALSE(monitors.source->status().of_vm);
}

TEST_CASE("required_access: the rights for VictoriaMetrics' kinds") {
    MonitorSourceConfig config;
    config.owner = MonitorOwnerObject{"monitoring", "agent", MonitorOwnerKind::vm_agent};
    const std::string manifest = rbac_manifest(required_access(config));
    for (const char* part : {"operator.victoriametrics.com", "vmagents", "vmservicescrapes",
                             "vmscrapeconfigs", "secrets", "namespaces"}) {
        CHECK_THAT(manifest, ContainsSubstring(part));
    }
    CHECK_THAT(manifest, !ContainsSubstring("monitoring.coreos.com"));
    CHECK_THAT(rbac_manifest(monitor_access(LabelDialect::victoriametrics)),
               ContainsSubstring("vmnodescrapes") && !ContainsSubstring("podmonitors"));
    CHECK(supports_monitors(LabelDialect::victoriametrics, config.owner));
    CHECK_FALSE(supports_monitors(LabelDialect::prometheus, config.owner));
    CHECK(supports_monitors(LabelDialect::prometheus, MonitorOwner()));
    CHECK_FALSE(supports_monitors(LabelDialect::prometheus,
                                  parse_monitor_owner("{kind: VMSingle, spec: {}}")));
}
