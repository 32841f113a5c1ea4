// The cost of a thousand ServiceMonitors over the same endpoints, beside one job that keeps all
// targets, and, without filters, beside jobs whose rules are run for each target. The host has a
// TargetPool for each job; the server is another process. Prometheus, if it is found, discovers the
// same targets with the configuration that the monitors become.

#include "k8s_sd/sim/monitors.hpp"

#include "child.hpp"
#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/monitors/monitor_configuration.hpp"
#include "k8s_sd/monitors/monitor_source.hpp"
#include "k8s_sd/scrape/target_filter.hpp"
#include "k8s_sd/scrape/target_pool.hpp"
#include "k8s_sd/sim/api_server.hpp"
#include "measure.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <malloc.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using namespace k8s_sd;
using Clock = std::chrono::steady_clock;

// --- the cluster ---------------------------------------------------------------------------------

constexpr std::size_t endpoints_of_service = 10;

std::string numbered(const char* prefix, std::size_t i) { return prefix + std::to_string(i); }
std::string address_of(std::size_t pod) {
    return "10." + std::to_string(pod / 62'500) + "." + std::to_string(pod / 250 % 250) + "." +
           std::to_string(pod % 250);
}
std::string pod_name(std::size_t pod) {
    return numbered("app-", pod / endpoints_of_service) + "-6c86ccdb5c-" +
           std::to_string(10'000 + pod);
}

json::object object(const char* kind, const char* version, const std::string& name,
                    json::object labels) {
    for (const char* key : {"team", "tier", "release", "zone", "stage"}) labels[key] = "some-value";
    return {{"kind", kind},
            {"apiVersion", version},
            {"metadata",
             json::object{{"name", name}, {"namespace", "shop"}, {"labels", std::move(labels)}}}};
}
json::object pod(std::size_t i, std::size_t revision) {
    json::object pod = object("Pod", "v1", pod_name(i),
                              {{"app", numbered("app-", i / endpoints_of_service)},
                               {"revision", std::to_string(revision)}});
    pod["spec"] = json::object{
        {"nodeName", numbered("node-", i / 250)},
        {"containers",
         json::array{json::object{
             {"name", "app"},
             {"image", "app:1"},
             {"ports", json::array{json::object{
                           {"name", "web"}, {"containerPort", 8080}, {"protocol", "TCP"}}}}}}}};
    pod["status"] = json::object{{"phase", "Running"}, {"podIP", address_of(i)}};
    return pod;
}
json::object service(std::size_t i) {
    json::object service =
        object("Service", "v1", numbered("app-", i), {{"app", numbered("app-", i)}});
    service["spec"] = json::object{{"type", "ClusterIP"}, {"clusterIP", "10.96.0.1"}};
    return service;
}
json::object slice(std::size_t service) {
    json::array endpoints;
    for (std::size_t i = 0; i < endpoints_of_service; ++i) {
        const std::size_t pod = service * endpoints_of_service + i;
        endpoints.push_back(json::object{
            {"addresses", json::array{address_of(pod)}},
            {"conditions", json::object{{"ready", true}}},
            {"nodeName", numbered("node-", pod / 250)},
            {"targetRef",
             json::object{{"kind", "Pod"}, {"name", pod_name(pod)}, {"namespace", "shop"}}}});
    }
    json::object slice =
        object("EndpointSlice", "discovery.k8s.io/v1", numbered("app-", service) + "-x7k2p",
               {{"app", numbered("app-", service)},
                {"kubernetes.io/service-name", numbered("app-", service)}});
    slice["addressType"] = "IPv4";
    slice["endpoints"] = std::move(endpoints);
    slice["ports"] =
        json::array{json::object{{"name", "web"}, {"port", 8080}, {"protocol", "TCP"}}};
    return slice;
}
json::object monitor(std::size_t i, std::size_t revision) {
    const std::string spec =
        R"({"selector": {"matchLabels": {"app": "app-)" + std::to_string(i) +
        R"("}}, "endpoints": [{"port": "web", "interval": ")" + std::to_string(30 + revision) +
        R"(s", "metricRelabelings": [{"action": "drop", "sourceLabels": ["__name__"],
            "regex": "go_(gc|memstats)_.*"}]}]})";
    return sim::monitor("ServiceMonitor", "shop", numbered("app-", i), spec, {{"team", "shop"}});
}

// --- the server ----------------------------------------------------------------------------------

/// Each byte that it receives changes a pod ('p') or a monitor ('m').
struct SimServer : bench::Child {
    std::string url;
};

class Serving {
 public:
    template <class Report>
    Serving(std::size_t services, int change, const Report& report)
        : services_(services),
          context_(),
          server_(context_.get_executor()),
          change_(context_, change) {
        sim::add_monitors(server_);
        server_.apply(json::object{{"kind", "Namespace"},
                                   {"apiVersion", "v1"},
                                   {"metadata", json::object{{"name", "shop"}}}});
        for (std::size_t i = 0; i < services * endpoints_of_service; ++i) server_.apply(pod(i, 0));
        for (std::size_t i = 0; i < services; ++i) {
            server_.apply(service(i));
            server_.apply(slice(i));
            server_.apply(monitor(i, 0));
        }
        report(server_.listen());
        wait();
        context_.run();
    }

 private:
    void wait() {
        change_.async_read_some(asio::buffer(&byte_, 1), [this](error_code ec, std::size_t) {
            if (ec) std::_Exit(0);  // the program has ended
            ++revision_;
            const std::size_t service = revision_ * 7 % services_;
            if (byte_ == 'p') server_.apply(pod(service * endpoints_of_service, revision_));
            if (byte_ == 'm') server_.apply(monitor(service, revision_));
            wait();
        });
    }

    const std::size_t services_;
    asio::io_context context_;
    sim::ApiServer server_;
    asio::posix::stream_descriptor change_;
    char byte_ = 0;
    std::size_t revision_ = 0;
};

SimServer serve(std::size_t services) {
    unsigned short port = 0;
    const bench::Child child = bench::start_child(port, [&](int change, const auto& report) {
        const Serving serving(services, change, report);
    });
    return {child, "http://127.0.0.1:" + std::to_string(port)};
}

/// The configuration that the monitors become. Nothing is scraped within a day.
std::string prometheus_config(std::size_t monitors, const std::string& url) {
    MonitorInputs inputs;
    const json::object all = {{"matchLabels", json::object()}};
    json::object owner = sim::monitor("Prometheus", "monitoring", "bench", "{}");
    owner["spec"] = json::object{{"serviceMonitorSelector", all},
                                 {"serviceMonitorNamespaceSelector", all},
                                 {"serviceDiscoveryRole", "EndpointSlice"},
                                 {"version", "v3.5.0"},
                                 {"apiserverConfig", json::object{{"host", url}}}};
    inputs.owner = owner;
    inputs.namespaces = {{"shop", {}}, {"monitoring", {}}};
    for (std::size_t i = 0; i < monitors; ++i) inputs.objects.emplace_back(monitor(i, 0));
    MonitorConfiguration made = make_monitor_configuration(inputs);
    made.config["global"].as_object()["scrape_interval"] = "1d";
    for (json::value& job : made.config["scrape_configs"].as_array()) {
        job.as_object()["scrape_interval"] = "1d";
    }
    return json::serialize(made.config);
}

/// The only shard: the rules of the operator have a placeholder for its number.
void replace_shard(std::string& text) {
    constexpr std::string_view placeholder = "$(SHARD)";
    for (std::size_t at = 0; (at = text.find(placeholder, at)) != text.npos;) {
        text.replace(at, placeholder.size(), "0");
    }
}
// --- the host ------------------------------------------------------------------------------------

enum class Way { one_job, filters, rules };

struct Cost {
    double cpu = 0, memory = 0;  ///< seconds, MB
    double allocated = 0;        ///< MB in use on the heap: the same in each run
    double pod_cpu = 0;          ///< seconds for each change
    double monitor_cpu = 0, monitor_wall = 0;
    double active = 0, dropped = 0;
};

/// Counts, as a scraper would scrape.
struct Counter final : TargetHandler {
    void stop(TargetId, const ScrapeTargetPtr&, StopReason) noexcept override { ++calls; }
    void keep(TargetId, const ScrapeTargetPtr&) noexcept override { ++calls; }
    void start(TargetId, const ScrapeTargetPtr&) noexcept override { ++calls; }
    std::size_t calls = 0;
};

double allocated_mb() {
    const auto heap = ::mallinfo2();
    return static_cast<double>(heap.uordblks + heap.hblkhd) / 1e6;
}

class Host {
 public:
    Host(const SimServer& server, Way way)
        : server_(server),
          way_(way),
          manager_(context_.get_executor(), [this](const JobDiff& diff) { on_targets(diff); }) {
        manager_.async_run(asio::detached);
    }
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    /// Returns after the start of all targets.
    void sync(std::size_t services) {
        begin();
        run_until([&] {
            return calls_.calls == services * endpoints_of_service &&
                   synced_ == (way_ == Way::one_job ? 1 : services);
        });
    }

    Cost measure(std::size_t services, std::size_t rounds) {
        const double memory = bench::memory_mb("VmRSS");
        const double allocated = allocated_mb();
        const double begun = bench::cpu_seconds();
        Cost cost;
        sync(services);
        cost.cpu = bench::cpu_seconds() - begun;
        ::malloc_trim(0);
        cost.memory = bench::memory_mb("VmRSS") - memory;
        cost.allocated = allocated_mb() - allocated;
        for (const auto& [name, pool] : pools_) {
            cost.active += static_cast<double>(pool->active_count());
            cost.dropped += static_cast<double>(pool->dropped_count());
        }
        const double before_pods = bench::cpu_seconds();
        for (std::size_t i = 0; i < rounds; ++i) {
            change("p");
            const std::size_t calls = calls_.calls;
            run_until([&] { return calls_.calls > calls; });
            while (context_.poll() != 0) context_.restart();
        }
        cost.pod_cpu = (bench::cpu_seconds() - before_pods) / static_cast<double>(rounds);
        if (way_ == Way::one_job) return cost;
        const double before_monitors = bench::cpu_seconds();
        const auto start = Clock::now();
        for (std::size_t i = 0; i < rounds; ++i) {
            change("m");
            const std::size_t changes = job_changes_;
            run_until([&] { return job_changes_ > changes; });
        }
        const std::chrono::duration<double> wall = Clock::now() - start;
        cost.monitor_cpu = (bench::cpu_seconds() - before_monitors) / static_cast<double>(rounds);
        cost.monitor_wall = wall.count() / static_cast<double>(rounds);
        return cost;
    }

 private:
    void begin() {
        if (way_ != Way::one_job) {
            MonitorSourceConfig config;
            config.api_server.url = server_.url;
            config.owner = owner();
            config.shard = 0;
            source_ =
                std::make_unique<MonitorSource>(context_.get_executor(), config,
                                                [this](const MonitorDiff& diff) { on_jobs(diff); });
            source_->async_run(asio::detached);
            return;
        }
        DiscoveryConfig config;
        config.role = Role::endpointslice;
        config.namespaces = {"shop"};
        config.api_server.url = server_.url;
        pools_["all"] = std::make_unique<TargetPool>(ScrapeConfig{.job_name = "all"}, calls_);
        manager_.apply_config({{.name = "all", .configs = {config}}});
    }
    static MonitorOwner owner() {
        MonitorOwner owner;
        owner.owner_namespace = "monitoring";
        owner.endpoint_slice_role = true;
        for (MonitorSelection& selection : owner.selections) {
            selection.objects.emplace();
            selection.namespaces.emplace();
        }
        return owner;
    }

    void on_jobs(const MonitorDiff& diff) {
        std::vector<Job> jobs;
        jobs.reserve(diff.updated.size());
        for (const MonitorJobPtr& made : diff.updated) {
            if (way_ == Way::filters) {
                jobs.push_back(filtered_discovery(*made->job));
            } else {
                jobs.push_back(made->job->discovery);
            }
        }
        manager_.change_jobs(jobs, diff.removed);
        for (const MonitorJobPtr& made : diff.updated) {
            const auto config = std::make_shared<const ScrapeConfig>(made->job->scrape);
            auto& pool = pools_[made->origin];
            if (pool) {
                pool->reload(config, {}, manager_.providers(made->origin));
            } else {
                pool = std::make_unique<TargetPool>(config, calls_);
            }
        }
        job_changes_ += diff.updated.size();
    }
    void on_targets(const JobDiff& diff) {
        const auto pool = pools_.find(diff.job);
        if (pool == pools_.end()) return;
        if (diff.full) ++synced_;
        pool->second->apply(diff);
    }

    void change(const char* what) const {
        if (::write(server_.input, what, 1) != 1) std::_Exit(1);
    }
    template <class Done>
    void run_until(const Done& done) {
        const auto end = Clock::now() + std::chrono::minutes(2);
        while (!done()) {
            context_.run_one_for(std::chrono::seconds(1));
            context_.restart();
            if (Clock::now() > end) fail();
        }
    }

    [[noreturn]] void fail() {
        std::fprintf(stderr, "no progress: %zu calls, %zu jobs synced, %zu changed\n", calls_.calls,
                     synced_, job_changes_);
        if (source_) {
            std::fprintf(stderr, "%s", to_prometheus_text(source_->status()).c_str());
            for (const auto& object : source_->objects()) {
                if (!object.why.reason.empty())
                    std::fprintf(stderr, "%s\n", object.why.reason.c_str());
            }
        }
        for (const JobStatus& job : manager_.status()) {
            for (const auto& config : job.configs) {
                std::fprintf(stderr, "%s: %s\n", job.name.c_str(), config.status.message.c_str());
            }
        }
        std::_Exit(1);
    }

    const SimServer& server_;
    const Way way_;
    asio::io_context context_;
    Counter calls_;
    std::size_t synced_ = 0, job_changes_ = 0;
    std::map<std::string, std::unique_ptr<TargetPool>> pools_;
    DiscoveryManager manager_;
    std::unique_ptr<MonitorSource> source_;
};

Cost best(const SimServer& server, Way way, std::size_t services, std::size_t rounds) {
    Cost best;
    for (int run = 0; run < 3; ++run) {
        const Cost cost =
            bench::in_process([&] { return Host(server, way).measure(services, rounds); });
        for (const auto part :
             {&Cost::cpu, &Cost::memory, &Cost::allocated, &Cost::pod_cpu, &Cost::monitor_cpu,
              &Cost::monitor_wall, &Cost::active, &Cost::dropped}) {
            if (run == 0 || cost.*part < best.*part) best.*part = cost.*part;
        }
    }
    return best;
}

void print(const char* what, const Cost& cost, const Cost& one) {
    std::printf("%-34s %8.0f %10.0f %8.3f %7.2f %8.1f %7.2f %8.1f %7.2f %9.4f %9.3f %9.3f\n", what,
                cost.active, cost.dropped, cost.cpu, cost.cpu / one.cpu, cost.memory,
                cost.memory / one.memory, cost.allocated, cost.allocated / one.allocated,
                cost.pod_cpu * 1e3, cost.monitor_cpu * 1e3, cost.monitor_wall * 1e3);
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--help") {
        std::puts(
            "usage: bench_monitors [MONITORS=1000] [ROUNDS=200] [RULES=1]\n"
            "       bench_monitors --config [MONITORS=1000]  serves the cluster until the end of\n"
            "                                                the input, prints a configuration\n"
            "       bench_monitors --sync URL one|monitors [MONITORS=1000]  only syncs with such\n"
            "                                                a server: for callgrind");
        return 0;
    }
    if (argc > 3 && std::string_view(argv[1]) == "--sync") {
        const SimServer server{{}, argv[2]};
        const bool is_one = std::string_view(argv[3]) == "one";
        Host(server, is_one ? Way::one_job : Way::filters)
            .sync(bench::argument(argc, argv, 4, 1'000));
        std::_Exit(0);
    }
    if (argc > 1 && std::string_view(argv[1]) == "--config") {
        const std::size_t monitors = bench::argument(argc, argv, 2, 1'000);
        const SimServer server = serve(monitors);
        std::string config = prometheus_config(monitors, server.url);
        replace_shard(config);
        std::puts(config.c_str());
        std::fflush(stdout);
        while (std::getchar() != EOF) {
        }
        stop(server);
        return 0;
    }
    const std::size_t monitors = bench::argument(argc, argv, 1, 1'000);
    const std::size_t rounds = bench::argument(argc, argv, 2, 200);
    const SimServer server = serve(monitors);
    std::printf("%zu ServiceMonitors over %zu endpoints; × compares with the first row\n%-34s %8s "
                "%10s %8s %7s %8s %7s %8s %7s %9s %9s %9s\n",
                monitors, monitors * endpoints_of_service, "", "active", "dropped", "CPU s", "×",
                "MB", "×", "heap MB", "×", "pod ms", "mon. ms", "wall ms");
    const Cost one = best(server, Way::one_job, monitors, rounds);
    print("one job that keeps all", one, one);
    print("monitors", best(server, Way::filters, monitors, rounds), one);
    if (bench::argument(argc, argv, 3, 1) != 0) {
        print("monitors, rules for each target", best(server, Way::rules, monitors, rounds), one);
    }
    stop(server);
    return 0;
}
