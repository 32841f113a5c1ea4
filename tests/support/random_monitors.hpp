#pragma once

#include "k8s_sd/api/secret.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/monitors/monitor_configuration.hpp"
#include "k8s_sd/monitors/monitor_source.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "k8s_sd/scrape/target_filter.hpp"
#include "k8s_sd/scrape/target_pool.hpp"
#include "support/monitor_cluster.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/object.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::test {

/// Random changes of a cluster with monitors, their owner, Secrets and namespaces. Each expression
/// draws at most once: compilers order the operands differently, and each seed has one history.
struct RandomMonitors : Monitors {
    explicit RandomMonitors(std::uint64_t seed, std::string suffix = "")
        : random(seed), name_suffix(std::move(suffix)) {
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
    std::string name() { return one_of<4>({"m", "n", "o", "p"}) + name_suffix; }

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
        apply("Prometheus", "a", "main", "{" + service + others + more_of_owner + "}");
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

    /// The configuration of the whole cluster, made at once.
    boost::json::object printed() {
        read_values();
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
        MonitorConfiguration made = make_monitor_configuration(inputs);
        REQUIRE_FALSE(made.refusal);
        return std::move(made.config);
    }
    /// The text of a configuration for the only shard, as a reloader makes it.
    std::string for_shard(std::string text) const {
        constexpr std::string_view shard = "$(SHARD)";
        for (std::size_t at = text.find(shard); config.shard && at != text.npos;) {
            text.replace(at, shard.size(), std::to_string(*config.shard));
            at = text.find(shard, at);
        }
        return text;
    }
    /// The printed configuration, read as a file.
    std::vector<ScrapeJob> jobs_of_file() {
        ScrapeConfigFile file = parse_scrape_configs(for_shard(to_yaml(printed())));
        CHECK(file.failures.empty());
        for (ScrapeJob& job : file.jobs) {
            job.discovery.configs.edit_each(
                [&](DiscoveryConfig& discovery) { discovery.api_server = config.api_server; });
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
    std::string name_suffix;  ///< of monitors
    std::map<MonitorReference, std::string> values;
    std::string more_of_owner;  ///< fields
};

/// The same with pods and Services, which monitors select by their labels and ports.
struct RandomTargets : RandomMonitors {
    /// \param of_owner  more fields of the owner
    explicit RandomTargets(std::uint64_t seed, std::string suffix = "",
                           const std::string& of_owner = "")
        : RandomMonitors(seed, std::move(suffix)) {
        config.shard = 0;
        more_of_owner = R"(, "serviceDiscoveryRole": "EndpointSlice")" + of_owner;
        set_owner();
        for (int i = 0; i < 20; ++i) change_target();
    }

    std::string port() { return one_of<4>({"web", "metrics", "x", "other"}); }
    void change_target() {
        const std::size_t what = pick(100);
        const std::string in = ns();
        const std::string number = std::to_string(pick(4));
        const std::string app = one_of<2>({"x", "y"});
        const std::string port_name = port();
        if (what < 45) {
            auto pod = sim::pod(in, "pod-" + number);
            pod.ip("10.0." + std::to_string(in[0]) + "." + number).label("app", app);
            pod.container("c", "image").port(port_name, 80);
            if (chance(20)) pod.phase("Failed");
            server.apply(pod);
        } else if (what < 70) {
            auto slice = sim::endpoint_slice(in, "slice-" + number, "service-" + number);
            slice.port(port_name, 80);
            for (std::size_t i = pick(3); i > 0; --i) {
                slice.endpoint("10.0." + std::to_string(in[0]) + "." + std::to_string(i));
                slice.pod("pod-" + std::to_string(i));
            }
            server.apply(slice);
        } else if (what < 90) {
            server.apply(sim::service(in, "service-" + number).label("app", app));
        } else if (what < 95) {
            server.remove("pods", in, "pod-" + number);
        } else {
            server.remove("services", in, "service-" + number);
        }
    }
};

/// A host with a pool for each job.
class ScrapeHost {
 public:
    ScrapeHost(boost::asio::io_context& context, bool is_filtered)
        : is_filtered_(is_filtered),
          manager_(context.get_executor(), [this](const JobDiff& diff) { take(diff); }) {
        manager_.async_run(boost::asio::detached);
    }
    ScrapeHost(const ScrapeHost&) = delete;
    ScrapeHost& operator=(const ScrapeHost&) = delete;

    void change(const std::vector<ScrapeJob>& changed, const std::vector<std::string>& removed) {
        std::vector<Job> jobs;
        for (const ScrapeJob& job : changed) {
            jobs.push_back(is_filtered_ ? filtered_discovery(job) : job.discovery);
        }
        CHECK(manager_.change_jobs(jobs, removed).empty());
        for (const std::string& name : removed) present_.erase(name);
        for (const ScrapeJob& job : changed) {
            const std::string& name = job.scrape.job_name;
            present_.insert(name);
            auto& pool = pools_[name];
            if (!pool) pool = std::make_unique<TargetPool>(job.scrape, handler_);
            pool->reload(job.scrape, {}, manager_.providers(name));
        }
    }

    /// Those of each job with their labels, and the number of the dropped ones.
    std::map<std::string, std::multiset<std::string>> targets() const {
        std::map<std::string, std::multiset<std::string>> all;
        for (const std::string& name : present_) {
            const TargetPool& pool = *pools_.at(name);
            auto& lines = all[name];
            lines.insert(std::to_string(pool.dropped_count()) + " dropped");
            for (const ScrapeTargetPtr& target : pool.active()) {
                std::string line = target->url();
                for (const auto& [label, value] : target->public_labels()) {
                    line += " " + label + "=" + value;
                }
                lines.insert(line);
            }
        }
        return all;
    }

 private:
    struct Handler final : TargetHandler {
        void stop(TargetId, const ScrapeTargetPtr&, StopReason) noexcept override {}
        void keep(TargetId, const ScrapeTargetPtr&) noexcept override {}
        void start(TargetId, const ScrapeTargetPtr&) noexcept override {}
    };

    void take(const JobDiff& diff) {
        const auto pool = pools_.find(diff.job);
        if (pool == pools_.end()) return;
        pool->second->apply(diff);
        if (diff.last && !present_.contains(diff.job)) pools_.erase(pool);
    }

    const bool is_filtered_;
    Handler handler_;
    std::map<std::string, std::unique_ptr<TargetPool>, std::less<>> pools_;
    std::set<std::string> present_;
    DiscoveryManager manager_;
};

/// Pools for the jobs of the monitors, which follow all changes.
class FollowedMonitors {
 public:
    explicit FollowedMonitors(RandomTargets& monitors) : host_(monitors.context, true) {
        monitors.source.emplace(monitors.context.get_executor(), monitors.config,
                                [this](const MonitorDiff& diff) {
                                    std::vector<ScrapeJob> changed;
                                    for (const auto& job : diff.updated) {
                                        changed.push_back(*job->job);
                                    }
                                    host_.change(changed, diff.removed);
                                });
        monitors.source->async_run(boost::asio::detached);
        for (int i = 0; i < 60; ++i) {
            if (monitors.chance(40)) {
                monitors.change();
            } else {
                monitors.change_target();
            }
            if (monitors.chance(50)) monitors.settle();
        }
        monitors.settle();
    }

    FollowedMonitors(const FollowedMonitors&) = delete;
    FollowedMonitors& operator=(const FollowedMonitors&) = delete;

    auto targets() const { return host_.targets(); }

 private:
    ScrapeHost host_;
};

}  // namespace k8s_sd::test
