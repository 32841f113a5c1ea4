#include "k8s_sd/api/secret.hpp"
#include "k8s_sd/monitors/monitor_configuration.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "property/for_each_seed.hpp"
#include "support/monitor_cluster.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/object.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace monitor_sources_tests {

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// Random changes of a cluster with monitors, their owner, Secrets and namespaces. Each expression
/// draws at most once: compilers order the operands differently, and each seed has one history.
struct RandomMonitors : Monitors {
    explicit RandomMonitors(std::uint64_t seed) : random(seed) {
        config.owner = MonitorOwnerObject{"a", "main"};
        for (int i = 0; i < 12; ++i) change();
        set_owner();
    }

    std::size_t pick(std::size_t count) {
        return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
    }
    bool chance(unsigned percent) { return pick(100) < percent; }
    template <std::size_t n>
    std::string one_of(const std::array<const char*, n>& texts) {
        return texts[pick(n)];
    }
    std::string ns() { return one_of<3>({"a", "b", "c"}); }
    std::string name() { return one_of<4>({"m", "n", "o", "p"}); }

    /// Authentication with one of a few Secrets, or none; sometimes at fault.
    std::string client() {
        const std::string secret = one_of<4>({"s", "t", "u", "v"});
        const std::string key_name = one_of<3>({"k", "k", "l"});
        const std::string key = R"({"name": ")" + secret + R"(", "key": ")" + key_name + R"("})";
        switch (pick(5)) {
            case 0: return R"(, "authorization": {"credentials": )" + key + "}";
            case 1:
                return R"(, "basicAuth": {"username": )" + key +
                       R"(, "password": {"name": "u", "key": "k"}})";
            case 2:
                return R"(, "interval": "10s", "scrapeTimeout": ")" + one_of<2>({"5s", "20s"}) +
                       "\"";
            case 3: return R"(, "scrapeClass": ")" + one_of<2>({"tls", "none"}) + "\"";
            default: return "";
        }
    }
    std::string selector() {
        return one_of<3>({"{}", R"({"matchLabels": {"app": "x"}})",
                          R"({"matchExpressions": [{"key": "app", "operator": "Bad"}]})"});
    }
    std::string endpoint() {
        std::string of_endpoint = client();
        if (of_endpoint.find("scrapeClass") != of_endpoint.npos) of_endpoint.clear();
        const std::string port = one_of<3>({"web", "metrics", "x"});
        return R"({"port": ")" + port + "\"" + of_endpoint + "}";
    }
    std::string endpoints() {
        std::string text = "[" + endpoint();
        if (chance(40)) text += "," + endpoint();
        return text + "]";
    }
    std::string spec_with(const char* endpoints_key) {
        const std::string selected = selector();
        const std::string list = endpoints();
        return R"({"selector": )" + selected + ", \"" + endpoints_key + "\": " + list + "}";
    }
    std::string spec_of(MonitorKind kind) {
        switch (kind) {
            case MonitorKind::service_monitor: return spec_with("endpoints");
            case MonitorKind::pod_monitor: return spec_with("podMetricsEndpoints");
            case MonitorKind::probe:
                return R"({"prober": {"url": "p:1", "path": "/probe"}, "targets": )" +
                       one_of<3>({R"({"staticConfig": {"static": ["t"]}})",
                                  R"({"ingress": {"selector": {}}})", "{}"}) +
                       "}";
            default: {
                const std::string port = one_of<2>({"1", "2"});
                const std::string job = chance(30) ? R"(, "jobName": "j")" : "";
                return R"({"staticConfigs": [{"targets": ["h:)" + port + R"("]}])" + job + "}";
            }
        }
    }

    void set_owner() {
        const std::string all = R"("podMonitorSelector": {}, "probeSelector": {},
            "probeNamespaceSelector": {}, "scrapeConfigSelector": {},
            "scrapeConfigNamespaceSelector": {}, "podMonitorNamespaceSelector": {})";
        const std::array<const char*, 4> services{
            R"("serviceMonitorSelector": {}, "serviceMonitorNamespaceSelector": {})",
            R"("serviceMonitorSelector": {"matchLabels": {"team": "red"}},
               "serviceMonitorNamespaceSelector": {})",
            R"("serviceMonitorSelector": {},
               "serviceMonitorNamespaceSelector": {"matchLabels": {"env": "prod"}})",
            R"("serviceMonitorSelector": {}, "scrapeInterval": "1m")"};
        const std::string service = one_of(services);
        const std::string others = chance(80) ? "," + all : "";
        apply("Prometheus", "a", "main", "{" + service + others + "}");
    }

    void change() {
        constexpr std::array<const char*, 4> plurals{"servicemonitors", "podmonitors", "probes",
                                                     "scrapeconfigs"};
        const std::size_t what = pick(100);
        const std::string in = ns();
        const std::string named = name();
        const std::string secret_name = one_of<4>({"s", "t", "u", "v"});
        if (what < 55) {
            const MonitorKind kind = monitor_kinds[pick(4)];
            boost::json::object labels;
            if (chance(60)) labels["team"] = one_of<2>({"red", "blue"});
            apply(to_string(kind), in, named, spec_of(kind), labels);
        } else if (what < 65) {
            server.remove(plurals[pick(4)], in, named);
        } else if (what < 80) {
            auto secret = sim::secret(in, secret_name);
            const std::string key = one_of<3>({"k", "k", "l"});
            secret.data(key, one_of<3>({"x", "y", " z "}));
            server.apply(secret);
        } else if (what < 88) {
            server.remove("secrets", in, secret_name);
        } else if (what < 96) {
            auto changed = sim::namespace_(in);
            if (chance(50)) changed.label("env", "prod");
            server.apply(changed);
        } else {
            set_owner();
        }
    }

    /// "name: job" of each job, and the state of each monitor.
    static std::map<std::string, std::string> states(const MonitorSource& source) {
        std::map<std::string, std::string> states;
        for (const MonitorObjectStatus& object : source.objects()) {
            states[std::string(to_string(object.kind)) + " " + object.object_namespace + "/" +
                   object.name] = std::string(to_string(object.state)) + " " + object.why.reason;
        }
        return states;
    }

    /// The configuration of the whole cluster, made at once and read as a file.
    std::vector<ScrapeJob> jobs_of_file() {
        MonitorInputs inputs;
        inputs.owner = *server.get("prometheuses", "a", "main");
        inputs.owner_namespace = "a";
        for (const char* plural : {"servicemonitors", "podmonitors", "probes", "scrapeconfigs"}) {
            for (auto& object : server.list(plural)) inputs.objects.emplace_back(std::move(object));
        }
        for (const char* each : {"a", "b", "c"}) inputs.namespaces[each];
        for (const auto& object : server.list("namespaces")) {
            const auto& metadata = object.at("metadata").as_object();
            auto& labels = inputs.namespaces[std::string(metadata.at("name").as_string())];
            if (const auto* given = metadata.if_contains("labels")) {
                for (const auto& [key, value] : given->as_object()) {
                    labels.emplace(std::string(key), std::string(value.as_string()));
                }
            }
        }
        inputs.values = values;
        inputs.quota = config.limits.quota;
        const MonitorConfiguration made = make_monitor_configuration(inputs);
        REQUIRE_FALSE(made.refusal);
        ScrapeConfigFile file = parse_scrape_configs(to_yaml(made.config));
        CHECK(file.failures.empty());
        for (ScrapeJob& job : file.jobs) {
            for (DiscoveryConfig& discovery : job.discovery.configs) {
                discovery.api_server = config.api_server;
            }
        }
        return file.jobs;
    }

    /// Reads the Secrets of the server.
    void read_values() {
        values.clear();
        Watcher<api::Secret> watcher(context.get_executor(), watcher_config());
        watcher.async_next([this](error_code, const ObjectDiff<api::Secret>& diff) {
            for (const auto& secret : diff.added) {
                for (const auto& [key, value] : secret->data) {
                    values[{MonitorReference::Kind::secret,
                            std::string(secret->metadata.namespace_),
                            std::string(secret->metadata.name), std::string(key)}] = value;
                }
            }
        });
        settle();
    }
    WatcherConfig watcher_config() {
        WatcherConfig watched;
        watched.api_server = api_server();
        return watched;
    }

    std::mt19937 random;
    std::map<MonitorReference, std::string> values;
};

bool equal(const std::vector<MonitorJobPtr>& a, const std::vector<MonitorJobPtr>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return *x->job == *y->job; });
}

}  // namespace

TEST_CASE("MonitorSource: any history of changes ends as a fresh start, and as a file read") {
    for_each_seed("MONITORS", 40, [&](std::uint64_t seed) {
        RandomMonitors monitors(seed);
        const bool is_limited = seed % 3 == 0;
        if (is_limited) monitors.config.limits.references = 3;
        if (seed % 3 == 1) monitors.config.limits.quota.jobs = 5;
        monitors.start();
        std::map<std::string, MonitorJobPtr> delivered;  // the state of the host
        bool is_first = true;
        monitors.source.emplace(monitors.context.get_executor(), monitors.config,
                                [&](const MonitorDiff& diff) {
                                    CHECK(diff.full == std::exchange(is_first, false));
                                    for (const auto& job : diff.updated)
                                        delivered[job->origin] = job;
                                    for (const auto& name : diff.removed) {
                                        CHECK(delivered.erase(name) == 1);
                                    }
                                });
        monitors.source->async_run(boost::asio::detached);
        monitors.settle();
        for (int i = 0; i < 60; ++i) {
            monitors.change();
            if (monitors.chance(60)) monitors.settle();
        }
        monitors.settle();
        MonitorSource fresh(monitors.context.get_executor(), monitors.config,
                            [](const MonitorDiff&) {});
        fresh.async_run(boost::asio::detached);
        monitors.settle();
        REQUIRE(fresh.status().synced);
        const std::vector<MonitorJobPtr> jobs = monitors.source->jobs();
        CHECK(RandomMonitors::states(*monitors.source) == RandomMonitors::states(fresh));
        CHECK(equal(jobs, fresh.jobs()));
        CHECK(delivered.size() == jobs.size());
        for (const MonitorJobPtr& job : jobs) {
            REQUIRE(delivered.contains(job->origin));
            CHECK(*delivered[job->origin]->job == *job->job);
        }
        if (is_limited) {
            CHECK(monitors.source->status().references <= 3);
            return;
        }
        monitors.read_values();
        const std::vector<ScrapeJob> file = monitors.jobs_of_file();
        REQUIRE(file.size() == jobs.size());
        for (std::size_t i = 0; i < file.size(); ++i) {
            CAPTURE(file[i].scrape.job_name, jobs[i]->origin);
            CHECK(file[i].scrape == jobs[i]->job->scrape);
            CHECK(file[i].discovery == jobs[i]->job->discovery);
            CHECK(file[i].client == jobs[i]->job->client);
            CHECK(file[i].settings == jobs[i]->job->settings);
        }
    });
}

}  // namespace monitor_sources_tests
