#include "support/monitor_cluster.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

using Lines = std::vector<std::string>;

constexpr const char* selects_all = R"({
    "serviceMonitorSelector": {}, "serviceMonitorNamespaceSelector": {}})";

bool has_line(const Lines& lines, std::string_view part) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return line.find(part) != line.npos; });
}

}  // namespace

TEST_CASE("MonitorSource: the first diff has the jobs of all kinds, in the order of the operator") {
    Monitors monitors;
    monitors.apply("ScrapeConfig", "a", "static", R"({"staticConfigs": [{"targets": ["h:1"]}]})");
    monitors.apply("Probe", "a", "probe", R"({"prober": {"url": "prober:9115", "path": "/probe"},
        "targets": {"staticConfig": {"static": ["a.example"]}}})");
    monitors.apply("PodMonitor", "a", "pods",
                   R"({"selector": {}, "podMetricsEndpoints": [{"port": "http"}]})");
    monitors.service_monitor("b", "web", "http");
    monitors.service_monitor("a", "web", "http");
    monitors.start();
    CHECK(monitors.names() == Lines{"serviceMonitor/a/web/0", "serviceMonitor/b/web/0",
                                    "podMonitor/a/pods/0", "probe/a/probe",
                                    "scrapeConfig/a/static"});
    const Lines diffs = monitors.take();
    REQUIRE(diffs.size() == 1);
    CHECK_THAT(diffs[0], StartsWith("full"));
    CHECK(monitors.source->status().synced);
    const MonitorJobPtr web = monitors.job("serviceMonitor/a/web/0");
    REQUIRE(web);
    CHECK(web->object == "ServiceMonitor a/web");
    CHECK(web->job->scrape.job_name == "serviceMonitor/a/web/0");
    CHECK(web->job->discovery.name == "serviceMonitor/a/web/0");
    REQUIRE(web->job->discovery.configs.size() == 1);
    CHECK(web->job->discovery.configs[0].namespaces == Lines{"a"});
    CHECK(web->job->discovery.configs[0].api_server.url == monitors.server.url());
    CHECK(web->job->scrape.scrape_interval == 30s);
}

TEST_CASE("MonitorSource: without monitors the first diff is empty") {
    Monitors monitors;
    monitors.start();
    CHECK(monitors.take() == Lines{"full"});
}

TEST_CASE("MonitorSource: a changed monitor changes its jobs only, an equal one none") {
    Monitors monitors;
    monitors.service_monitor("a", "web", "http");
    monitors.service_monitor("a", "db", "http");
    monitors.start();
    monitors.take();
    const MonitorJobPtr db = monitors.job("serviceMonitor/a/db/0");
    const auto generations = monitors.source->status().generations;
    monitors.service_monitor("a", "web", "metrics");
    monitors.settle();
    CHECK(monitors.take() == Lines{"+serviceMonitor/a/web/0"});
    CHECK(monitors.source->status().generations == generations + 1);
    CHECK(monitors.job("serviceMonitor/a/db/0") == db);

    const MonitorJobPtr web = monitors.job("serviceMonitor/a/web/0");
    monitors.service_monitor("a", "web", "metrics", {{"other", "label"}});
    monitors.settle();
    CHECK(monitors.take().empty());
    CHECK(monitors.job("serviceMonitor/a/web/0") == web);

    monitors.server.remove("servicemonitors", "a", "web");
    monitors.settle();
    CHECK(monitors.take() == Lines{"-serviceMonitor/a/web/0"});
    CHECK(monitors.why("a", "web") == "none");
}

TEST_CASE("MonitorSource: one change costs its own jobs and the same handlers, of few or many") {
    const auto handlers_of_change = [](std::size_t count) {
        Monitors monitors;
        for (std::size_t i = 0; i < count; ++i) {
            monitors.service_monitor("a", "m" + std::to_string(i), "http");
        }
        monitors.start();
        monitors.take();
        const std::vector<MonitorJobPtr> before = monitors.source->jobs();
        const auto generations = monitors.source->status().generations;
        REQUIRE(before.size() == count);

        monitors.service_monitor("a", "m1", "metrics");
        const std::size_t handlers = monitors.settle();  // without any time
        CHECK(monitors.take() == Lines{"+serviceMonitor/a/m1/0"});
        CHECK(monitors.source->status().generations == generations + 1);
        const std::vector<MonitorJobPtr> after = monitors.source->jobs();
        REQUIRE(after.size() == count);
        std::size_t replaced = 0;
        for (std::size_t i = 0; i < count; ++i) replaced += after[i] != before[i];
        CHECK(replaced == 1);
        return handlers;
    };
    CHECK(handlers_of_change(1'000) == handlers_of_change(3));
}

TEST_CASE("MonitorSource: sources of one context share the watches of monitors") {
    Monitors monitors;
    monitors.service_monitor("a", "web", "http");
    monitors.start();
    monitors.take_requests();
    {
        MonitorSource other(monitors.context.get_executor(), monitors.config,
                            [](const MonitorDiff&) {});
        other.async_run(boost::asio::detached);
        monitors.settle();
        CHECK(other.jobs().size() == 1);
        for (const std::string& request : monitors.take_requests()) {
            CHECK_THAT(request, !ContainsSubstring("servicemonitors"));
        }
    }
    monitors.settle();
}

TEST_CASE("MonitorSource: labels of objects and of namespaces decide, and say why not") {
    Monitors monitors;
    MonitorOwner owner = owner_of_all();
    owner.selections[0].objects = LabelSelector::parse("team=red");
    owner.selections[0].namespaces = LabelSelector::parse("env=prod");
    owner.selections[1].objects.reset();
    owner.selections[2].namespaces.reset();
    monitors.config.owner = owner;
    const boost::json::object red{{"team", "red"}};
    monitors.server.apply(sim::namespace_("prod").label("env", "prod"));
    monitors.server.apply(sim::namespace_("test"));
    monitors.service_monitor("prod", "red", "http", red);
    monitors.service_monitor("prod", "blue", "http");
    monitors.service_monitor("test", "red", "http", red);
    monitors.start();
    CHECK(monitors.names() == Lines{"serviceMonitor/prod/red/0"});
    CHECK_THAT(monitors.why("prod", "blue"), ContainsSubstring("serviceMonitorSelector"));
    CHECK_THAT(monitors.why("test", "red"), ContainsSubstring("serviceMonitorNamespaceSelector"));
    CHECK(monitors.why("prod", "red") == "accepted: ");
    const MonitorStatus status = monitors.source->status();
    CHECK(monitors.kind(status, MonitorKind::service_monitor).accepted == 1);
    CHECK(monitors.kind(status, MonitorKind::service_monitor).unselected == 2);
    CHECK(monitors.kind(status, MonitorKind::pod_monitor).watch == MonitorWatchState::off);
    for (const std::string& request : monitors.take_requests()) {
        CHECK_THAT(request, !ContainsSubstring("/podmonitors"));
        if (request.find("/probes") != request.npos) {
            CHECK_THAT(request, ContainsSubstring("/namespaces/monitoring/probes"));
        }
    }

    monitors.take();
    monitors.server.apply(sim::namespace_("test").label("env", "prod"));
    monitors.settle();
    CHECK(monitors.take() == Lines{"+serviceMonitor/test/red/0"});
    monitors.server.apply(sim::namespace_("prod").label("env", "test"));
    monitors.settle();
    CHECK(monitors.take() == Lines{"-serviceMonitor/prod/red/0"});
    monitors.service_monitor("test", "red", "http");
    monitors.settle();
    CHECK(monitors.take() == Lines{"-serviceMonitor/test/red/0"});
}

TEST_CASE("MonitorSource: without a selector for labels, namespaces are not watched") {
    Monitors monitors;
    monitors.start();
    for (const std::string& request : monitors.take_requests()) {
        CHECK_THAT(request, !ContainsSubstring("/api/v1/namespaces"));
    }
}

TEST_CASE("MonitorSource: only permitted namespaces are watched or used") {
    Monitors monitors;
    monitors.service_monitor("a", "web", "http");
    monitors.service_monitor("b", "web", "http");
    SECTION("allowed ones") {
        monitors.config.allow_namespaces = {"a"};
        monitors.start();
        CHECK(monitors.names() == Lines{"serviceMonitor/a/web/0"});
        CHECK(monitors.why("b", "web") == "none");
    }
    SECTION("denied ones") {
        monitors.config.deny_namespaces = {"a"};
        monitors.start();
        CHECK(monitors.names() == Lines{"serviceMonitor/b/web/0"});
        CHECK_THAT(monitors.why("a", "web"), ContainsSubstring("does not permit"));
    }
    SECTION("not both") {
        monitors.config.allow_namespaces = {"a"};
        monitors.config.deny_namespaces = {"b"};
        CHECK_THROWS_AS(monitors.start(), ConfigError);
    }
}

TEST_CASE("MonitorSource: a Secret that comes late completes the job, one that goes refuses it") {
    Monitors monitors;
    monitors.with_secret("a", "web", "login");
    monitors.service_monitor("a", "db", "http");
    monitors.start();
    CHECK(monitors.take() == Lines{"full +serviceMonitor/a/db/0"});
    CHECK_THAT(monitors.why("a", "web"), StartsWith("refused") && ContainsSubstring("login"));
    monitors.server.apply(sim::secret("a", "login").data("token", " tok3n "));
    monitors.settle();
    CHECK(monitors.take() == Lines{"+serviceMonitor/a/web/0"});
    const MonitorJobPtr web = monitors.job("serviceMonitor/a/web/0");
    REQUIRE(web);
    CHECK(web->job->client->auth.bearer_token == " tok3n ");

    SECTION("a changed value changes the job") {
        monitors.server.apply(sim::secret("a", "login").data("token", "new"));
        monitors.settle();
        CHECK(monitors.take() == Lines{"+serviceMonitor/a/web/0"});
        CHECK(monitors.job("serviceMonitor/a/web/0")->job->client->auth.bearer_token == "new");
    }
    SECTION("another key changes nothing") {
        monitors.server.apply(
            sim::secret("a", "login").data("token", " tok3n ").data("other", "x"));
        monitors.settle();
        CHECK(monitors.take().empty());
    }
    SECTION("without the key the monitor is refused") {
        monitors.server.apply(sim::secret("a", "login").data("other", "x"));
        monitors.settle();
        CHECK(monitors.take() == Lines{"-serviceMonitor/a/web/0"});
    }
    SECTION("without the Secret, too") {
        monitors.server.remove("secrets", "a", "login");
        monitors.settle();
        CHECK(monitors.take() == Lines{"-serviceMonitor/a/web/0"});
        CHECK_THAT(monitors.why("a", "web"), StartsWith("refused"));
    }
    SECTION("the Secret is not watched any more without its monitor") {
        CHECK(monitors.source->status().references == 1);
        monitors.server.remove("servicemonitors", "a", "web");
        monitors.settle();
        CHECK(monitors.source->status().references == 0);
    }
    for (const std::string& line : monitors.take_log()) {
        CHECK_THAT(line, !ContainsSubstring("tok3n"));
    }
    for (const MonitorObjectStatus& object : monitors.source->objects()) {
        CHECK_THAT(object.why.reason + object.why.remedy, !ContainsSubstring("tok3n"));
    }
}

TEST_CASE("MonitorSource: a Secret that cannot be read refuses its monitor, with the remedy") {
    Monitors monitors;
    monitors.server.apply(sim::secret("a", "login").data("token", "t"));
    monitors.server.deny("secrets");
    monitors.with_secret("a", "web", "login");
    monitors.service_monitor("a", "db", "http");
    monitors.start();
    CHECK(monitors.take() == Lines{"full +serviceMonitor/a/db/0"});
    const auto web = monitors.source->object(MonitorKind::service_monitor, "a", "web");
    REQUIRE(web);
    CHECK(web->state == MonitorState::refused);
    CHECK_THAT(web->why.reason, ContainsSubstring("Secret a/login cannot be read"));
    CHECK_THAT(web->why.remedy, ContainsSubstring("permission"));
    monitors.server.allow("secrets");
    monitors.advance(5min);
    CHECK(monitors.names() == Lines{"serviceMonitor/a/db/0", "serviceMonitor/a/web/0"});
}

TEST_CASE("MonitorSource: a monitor keeps its jobs while it waits for another Secret") {
    Monitors monitors;
    monitors.server.apply(sim::secret("a", "login").data("token", "t"));
    monitors.with_secret("a", "web", "login");
    monitors.start();
    monitors.take();
    // The server does not answer for the new Secret.
    monitors.server.set_intercept([](const sim::Request& request) -> std::optional<sim::Response> {
        const auto selector = request.query.find("fieldSelector");
        if (selector == request.query.end() || selector->second != "metadata.name=slow") return {};
        sim::Response response;
        response.status = 503;
        return response;
    });
    monitors.server.apply(sim::secret("a", "slow").data("token", "s"));
    monitors.with_secret("a", "web", "slow");
    monitors.settle();
    CHECK(monitors.take().empty());
    CHECK_THAT(monitors.why("a", "web"), StartsWith("waiting"));
    CHECK(monitors.names() == Lines{"serviceMonitor/a/web/0"});
    monitors.server.set_intercept({});
    monitors.advance(9s);
    CHECK(monitors.take() == Lines{"+serviceMonitor/a/web/0"});
    CHECK(monitors.why("a", "web") == "accepted: ");
}

TEST_CASE("MonitorSource: without the resources there are no jobs, until they come") {
    Monitors monitors(false);
    monitors.start();
    CHECK(monitors.take() == Lines{"full"});
    const MonitorStatus status = monitors.source->status();
    for (const MonitorKind each : kinds_of(status)) {
        const MonitorKindStatus& kind = monitors.kind(status, each);
        CHECK(kind.watch == MonitorWatchState::absent);
        CHECK_THAT(kind.message, ContainsSubstring("CustomResourceDefinition"));
    }
    monitors.take_requests();
    monitors.advance(10min);
    // Each kind is searched for at most twice a minute or so.
    CHECK(monitors.take_requests().size() < 4 * 2 * 20 + 50);
    sim::add_monitors(monitors.server);
    monitors.service_monitor("a", "web", "http");
    monitors.advance(3min);
    CHECK(monitors.names() == Lines{"serviceMonitor/a/web/0"});
    CHECK(monitors.take() == Lines{"+serviceMonitor/a/web/0"});
}

TEST_CASE("MonitorSource: ScrapeConfigs stay when their version moves") {
    Monitors monitors;
    monitors.apply("ScrapeConfig", "a", "static", R"({"staticConfigs": [{"targets": ["h:1"]}]})");
    monitors.start();
    CHECK(monitors.take() == Lines{"full +scrapeConfig/a/static"});
    const MonitorJobPtr before = monitors.job("scrapeConfig/a/static");
    monitors.server.set_served("scrapeconfigs", {"v1beta1"});
    monitors.advance(5min);
    CHECK(monitors.take().empty());
    CHECK(monitors.job("scrapeConfig/a/static") == before);
    monitors.server.remove("scrapeconfigs", "a", "static");
    monitors.advance(1min);
    CHECK(monitors.take() == Lines{"-scrapeConfig/a/static"});
}

TEST_CASE("MonitorSource: a kind that may not be listed holds up the first diff for a while only") {
    Monitors monitors;
    monitors.server.deny("probes");
    monitors.service_monitor("a", "web", "http");
    monitors.start();
    CHECK(monitors.take().empty());
    CHECK(monitors.source->jobs().empty());
    monitors.advance(15s);
    CHECK(monitors.take() == Lines{"full +serviceMonitor/a/web/0"});
    const MonitorStatus status = monitors.source->status();
    CHECK(monitors.kind(status, MonitorKind::probe).watch == MonitorWatchState::failing);
    CHECK_THAT(monitors.kind(status, MonitorKind::probe).message, ContainsSubstring("probes"));
}

TEST_CASE("MonitorSource: the owner's object is followed") {
    Monitors monitors;
    monitors.config.owner = MonitorOwnerObject{"monitoring", "main"};
    monitors.service_monitor("a", "web", "http");
    SECTION("it is there") {
        monitors.apply("Prometheus", "monitoring", "main", selects_all);
        monitors.start();
        CHECK(monitors.take() == Lines{"full +serviceMonitor/a/web/0"});
        CHECK(monitors.source->status().has_owner);

        INFO("a change that makes equal jobs");
        monitors.apply("Prometheus", "monitoring", "main", R"({
            "serviceMonitorSelector": {}, "serviceMonitorNamespaceSelector": {}, "replicas": 2})");
        monitors.settle();
        CHECK(monitors.take().empty());

        INFO("a change of all jobs");
        monitors.apply("Prometheus", "monitoring", "main", R"({"scrapeInterval": "10s",
            "serviceMonitorSelector": {}, "serviceMonitorNamespaceSelector": {}})");
        monitors.settle();
        CHECK(monitors.take() == Lines{"+serviceMonitor/a/web/0"});
        CHECK(monitors.job("serviceMonitor/a/web/0")->job->scrape.scrape_interval == 10s);

        INFO("an invalid version changes nothing");
        monitors.apply("Prometheus", "monitoring", "main", R"({"scrapeInterval": "10s",
            "serviceMonitorSelector": {}, "serviceMonitorNamespaceSelector": {},
            "scrapeClasses": [{"name": "a", "default": true}, {"name": "b", "default": true}]})");
        monitors.settle();
        CHECK(monitors.take().empty());
        CHECK_FALSE(monitors.source->status().owner.reason.empty());
        CHECK(has_line(monitors.take_log(), "the owner is refused"));

        INFO("another selection");
        monitors.apply("Prometheus", "monitoring", "main", R"({"podMonitorSelector": {}})");
        monitors.settle();
        CHECK(monitors.take() == Lines{"-serviceMonitor/a/web/0"});
        CHECK(monitors.source->status().owner.reason.empty());

        INFO("it is deleted");
        monitors.apply("Prometheus", "monitoring", "main", selects_all);
        monitors.settle();
        CHECK(monitors.take() == Lines{"+serviceMonitor/a/web/0"});
        monitors.server.remove("prometheuses", "monitoring", "main");
        monitors.settle();
        CHECK(monitors.take() == Lines{"-serviceMonitor/a/web/0"});
        CHECK_FALSE(monitors.source->status().has_owner);
    }
    SECTION("it comes later") {
        monitors.start();
        CHECK(monitors.take() == Lines{"full"});
        monitors.apply("Prometheus", "monitoring", "main", selects_all);
        monitors.settle();
        CHECK(monitors.take() == Lines{"+serviceMonitor/a/web/0"});
    }
    SECTION("an invalid one delivers nothing") {
        monitors.apply("Prometheus", "monitoring", "main", R"({"version": "v1.8.0",
            "serviceMonitorSelector": {}, "serviceMonitorNamespaceSelector": {}})");
        monitors.start();
        monitors.advance(1min);
        CHECK(monitors.take().empty());
        CHECK_FALSE(monitors.source->status().synced);
    }
}

TEST_CASE("MonitorSource: the owner can be replaced, and be a document") {
    Monitors monitors;
    monitors.service_monitor("monitoring", "web", "http");
    monitors.service_monitor("a", "web", "http");
    monitors.start();
    monitors.take();
    monitors.source->set_owner(parse_monitor_owner(R"(
kind: Prometheus
metadata: {name: main, namespace: monitoring}
spec:
  serviceMonitorSelector: {}
)"));
    monitors.settle();
    CHECK(monitors.take() == Lines{"-serviceMonitor/a/web/0"});
    sim::add_vm_monitors(monitors.server);
    monitors.apply("VMPodScrape", "a", "pods", R"({"podMetricsEndpoints": [{"port": "http"}]})");
    monitors.source->set_owner(
        parse_monitor_owner("{kind: VMAgent, spec: {selectAllByDefault: true}}"));
    monitors.advance(1min);
    CHECK(monitors.names() == Lines{"podScrape/a/pods/0"});
    CHECK(kinds_of(monitors.source->status()).size() == vm_monitor_kinds.size());
    CHECK(monitors.why("monitoring", "web") == "none");
    CHECK_THROWS_AS(parse_monitor_owner("- a"), ConfigError);
    CHECK_THROWS_AS(parse_monitor_owner("a: [", "f.yaml"), ConfigError);
}

TEST_CASE("MonitorSource: jobs of additionalScrapeConfigs follow the Secret of the owner") {
    Monitors monitors;
    monitors.service_monitor("a", "web", "http");
    monitors.config.owner = parse_monitor_owner(R"(
kind: Prometheus
metadata: {name: main, namespace: monitoring}
spec:
  serviceMonitorSelector: {}
  serviceMonitorNamespaceSelector: {}
  additionalScrapeConfigs: {name: more, key: jobs.yaml}
)");
    monitors.server.apply(sim::secret("monitoring", "more").data("jobs.yaml", R"(
- job_name: extra
  static_configs: [{targets: ["x:1"]}]
)"));
    monitors.start();
    CHECK(monitors.names() == Lines{"serviceMonitor/a/web/0", "extra"});
    monitors.take();
    monitors.server.apply(sim::secret("monitoring", "more").data("jobs.yaml", "[]"));
    monitors.settle();
    CHECK(monitors.take() == Lines{"-extra"});
    monitors.server.apply(sim::secret("monitoring", "more").data("jobs.yaml", R"(
- {job_name: extra, static_configs: [{targets: ["x:1"]}]}
- {job_name: serviceMonitor/a/web/0, static_configs: [{targets: ["x:1"]}]}
)"));
    monitors.settle();
    CHECK(monitors.take().empty());
    CHECK_THAT(monitors.source->status().additional.reason,
               ContainsSubstring("serviceMonitor/a/web/0"));
}

TEST_CASE("MonitorSource: a refused monitor is logged once, and counted") {
    Monitors monitors;
    monitors.apply("ServiceMonitor", "a", "web",
                   R"({"selector": {}, "endpoints": [{"port": "http", "interval": "1x"}]})");
    monitors.start();
    CHECK(monitors.take() == Lines{"full"});
    const Lines log = monitors.take_log();
    CHECK(has_line(log, "ServiceMonitor a/web is refused: "));
    CHECK(log.size() == 1);
    monitors.service_monitor("a", "other", "http");
    monitors.settle();
    CHECK(monitors.take_log().empty());
    const std::string metrics = to_prometheus_text(monitors.source->status());
    CHECK_THAT(metrics,
               ContainsSubstring("k8s_sd_monitors{kind=\"ServiceMonitor\",state=\"refused\"} 1\n"));
    CHECK_THAT(metrics, ContainsSubstring("k8s_sd_monitor_jobs 1\n"));
}

TEST_CASE("MonitorSource: files are refused on request") {
    Monitors monitors;
    monitors.config.deny_file_access = true;
    monitors.apply("ServiceMonitor", "a", "web", R"({"selector": {}, "endpoints": [
        {"port": "http", "tlsConfig": {"caFile": "/etc/passwd"}}]})");
    monitors.start();
    CHECK(monitors.take() == Lines{"full"});
    CHECK_THAT(monitors.why("a", "web"), StartsWith("refused"));
}

TEST_CASE("MonitorSource: cancelled, it reports nothing more and releases its watches") {
    Monitors monitors;
    monitors.service_monitor("a", "web", "http");
    monitors.start();
    monitors.take();
    monitors.source->cancel();
    monitors.service_monitor("a", "web", "metrics");
    monitors.advance(1min);
    CHECK(monitors.take().empty());
    CHECK(monitors.server.open_watches() == 0);
    error_code ec;
    monitors.source->async_run([&](error_code e) { ec = e; });
    monitors.settle();
    CHECK(ec == boost::asio::error::operation_aborted);
}

TEST_CASE("MonitorSource: it may be destroyed in its callback") {
    Monitors monitors;
    monitors.service_monitor("a", "web", "http");
    int calls = 0;
    monitors.source.emplace(monitors.context.get_executor(), monitors.config,
                            [&](const MonitorDiff&) {
                                ++calls;
                                monitors.source.reset();
                            });
    monitors.source->async_run(boost::asio::detached);
    monitors.settle();
    CHECK(calls == 1);
}

TEST_CASE("required_access: the rights of a MonitorSource") {
    MonitorSourceConfig config;
    config.owner = MonitorOwnerObject{"monitoring", "main"};
    config.allow_namespaces = {"a"};
    const std::string manifest = rbac_manifest(required_access(config));
    for (const char* part : {"prometheuses", "servicemonitors", "scrapeconfigs", "secrets",
                             "configmaps", "namespaces"}) {
        CHECK_THAT(manifest, ContainsSubstring(part));
    }
    const std::vector<AccessRule> rules = required_access(config);
    for (const Kind kind : {Kind::secret, Kind::configmap}) {
        for (const char* ns : {"a", "monitoring"}) {
            CHECK(std::count(rules.begin(), rules.end(), access_to(kind, ns)) == 1);
        }
    }
    MonitorOwner owner;
    owner.owner_namespace = "monitoring";
    owner.selections[0].objects.emplace();
    config.owner = owner;
    const std::string small = rbac_manifest(required_access(config));
    CHECK_THAT(small, !ContainsSubstring("podmonitors"));
    CHECK_THAT(small, !ContainsSubstring("ClusterRole"));
}
