// The example of Gateway API: from its file to the probes of a simulated cluster.

#include "k8s_sd/discovery_manager.hpp"
#include "k8s_sd/scrape/scrape_config_yaml.hpp"
#include "k8s_sd/scrape/target_pool.hpp"
#include "k8s_sd/sim/gateway_api.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/detached.hpp>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

constexpr const char* exporter = "http://blackbox-exporter.monitoring.svc:9115/probe?module=";

std::string example_text() {
    const std::string path =
        std::string(K8S_SD_TEST_DATA) + "/../../examples/scrape_configs/gateway-api.yml";
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("no " + path);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::string entry = "\n  - role: ";
    for (std::size_t at = 0; (at = text.find(entry, at)) != std::string::npos;) {
        const std::string server = "\n  - api_server: http://sim.invalid\n    role: ";
        text.replace(at, entry.size(), server);
        at += server.size();
    }
    return text;
}

/// A host that scrapes the jobs of the example.
struct Probes : Simulation {
    struct Urls final : TargetHandler {
        void stop(TargetId, const ScrapeTargetPtr& target, StopReason) noexcept override {
            running.erase(target->url());
        }
        void keep(TargetId, const ScrapeTargetPtr&) noexcept override {}
        void start(TargetId, const ScrapeTargetPtr& target) noexcept override {
            running[target->url()] = target->public_labels();
        }
        std::map<std::string, LabelMap> running;
    };
    struct ProbeJob {
        explicit ProbeJob(const ScrapeConfig& config) : pool(config, urls) {}
        Urls urls;
        TargetPool pool;
    };

    Probes() {
        sim::add_gateway_api(server);
        const ScrapeConfigFile file = parse_scrape_configs(example_text(), {.strict = true});
        for (const ScrapeJob& job : file.jobs)
            jobs[job.scrape.job_name] = std::make_unique<ProbeJob>(job.scrape);
        manager.emplace(context.get_executor(), [this](const JobDiff& diff) {
            jobs.at(std::string(diff.job))->pool.apply(diff);
        });
        manager->async_run(boost::asio::detached);
        REQUIRE(manager->apply_config(file.discovery_jobs()).empty());
    }
    /// The targets of a job, without the address of the exporter.
    std::set<std::string> probes(const std::string& job) {
        std::set<std::string> all;
        for (const auto& [url, labels] : jobs.at(job)->urls.running) {
            CHECK(url.starts_with(exporter));
            all.insert(url.substr(std::string(exporter).size()));
        }
        return all;
    }

    std::map<std::string, std::unique_ptr<ProbeJob>> jobs;
    std::optional<DiscoveryManager> manager;
};

using ProbeSet = std::set<std::string>;

}  // namespace

TEST_CASE("Gateway probes: the example probes every route and listener of a cluster") {
    Probes p;
    p.server.apply(sim::gateway("infra", "edge")
                       .listener("http", "HTTP", 80)
                       .listener("https", "HTTPS", 8443, "*.example.com")
                       .listener("tls", "TLS", 443)
                       .listener("dns", "UDP", 53)
                       .address("192.0.2.1")
                       .address("192.0.2.2"));
    p.server.apply(sim::http_route("shop", "web")
                       .parent("edge", "https", "infra")
                       .hostname("shop.example.com")
                       .hostname("*.cdn.example.com")
                       .path("/cart")
                       .path("/v[0-9]+/.*", "RegularExpression"));
    p.server.apply(
        sim::http_route("shop", "any").parent("edge", "http", "infra").path("/", "Exact"));
    p.server.apply(sim::grpc_route("shop", "api")
                       .parent("edge", "https", "infra")
                       .hostname("api.example.com")
                       .method("shop.Cart", "Add")
                       .method("shop.Cart", "List"));
    p.server.apply(
        sim::tls_route("shop", "db").parent("edge", "tls", "infra").hostname("db.example.com"));
    p.settle();
    CHECK(p.probes("http-routes") ==
          ProbeSet{"http_2xx&target=https%3A%2F%2Fshop.example.com%3A8443%2Fcart",
                   "http_2xx&target=http%3A%2F%2F192.0.2.1%3A80%2F"});
    CHECK(p.probes("grpc-routes") == ProbeSet{"grpc&target=api.example.com%3A8443"});
    CHECK(p.probes("tls-routes") == ProbeSet{"tcp_tls&target=db.example.com%3A443"});
    CHECK(p.probes("gateway-listeners") == ProbeSet{"tcp_connect&target=192.0.2.1%3A80",
                                                    "tcp_connect&target=192.0.2.1%3A8443",
                                                    "tcp_connect&target=192.0.2.1%3A443"});
    const std::string cart = "http_2xx&target=https%3A%2F%2Fshop.example.com%3A8443%2Fcart";
    CHECK(p.jobs.at("http-routes")->urls.running.at(exporter + cart) ==
          LabelMap{{"gateway", "infra/edge"},
                   {"instance", "https://shop.example.com:8443/cart"},
                   {"job", "http-routes"},
                   {"namespace", "shop"},
                   {"route", "web"}});
}

TEST_CASE("Gateway probes: a listener of an IPv6 gateway is probed at an address in brackets") {
    Probes p;
    p.server.apply(sim::gateway("infra", "v6")
                       .listener("tcp", "TCP", 5432)
                       .address("2001:db8::1")
                       .address("192.0.2.1"));
    p.server.apply(sim::gateway("infra", "both")
                       .listener("tcp", "TCP", 5433)
                       .address("192.0.2.1")
                       .address("2001:db8::1"));
    p.settle();
    CHECK(p.probes("gateway-listeners") ==
          ProbeSet{"tcp_connect&target=%5B2001%3Adb8%3A%3A1%5D%3A5432",
                   "tcp_connect&target=192.0.2.1%3A5433"});
}

TEST_CASE("Gateway probes: they follow routes and gateways") {
    Probes p;
    const auto edge = [](unsigned short port) {
        return sim::gateway("infra", "edge").listener("http", "HTTP", port);
    };
    p.server.apply(edge(80));
    p.server.apply(
        sim::http_route("shop", "web").parent("edge", "", "infra").hostname("a").path("/"));
    p.settle();
    CHECK(p.probes("http-routes") == ProbeSet{"http_2xx&target=http%3A%2F%2Fa%3A80%2F"});
    p.server.apply(edge(81));
    p.settle();
    CHECK(p.probes("http-routes") == ProbeSet{"http_2xx&target=http%3A%2F%2Fa%3A81%2F"});
    p.server.remove("gateways", "infra", "edge");
    p.settle();
    CHECK(p.probes("http-routes").empty());
}
