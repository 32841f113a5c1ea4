#include "monitors/target_advice.hpp"
#include "table_job.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

using namespace k8s_sd;

namespace {

const std::string selector_label = "__meta_kubernetes_service_label_app";
const std::string port_label = "__meta_kubernetes_endpointslice_port_name";

/// The job of a ServiceMonitor in the namespace shop, for the port "web" of Services with app=cart.
struct MonitoredJob : TableJob {
    explicit MonitoredJob(const std::string& name = "serviceMonitor/shop/cart/0",
                          const std::string& port = "web")
        : TableJob({rule(RelabelAction::keep, selector_label, "cart"),
                    rule(RelabelAction::keep, port_label, port),
                    copy("__meta_kubernetes_namespace", "namespace"),
                    rule(RelabelAction::drop, "__meta_kubernetes_pod_phase", "Failed"),
                    rule(RelabelAction::drop, "__meta_kubernetes_pod_label_off", "yes")},
                   name) {
        discover_in({"shop"});
    }
    void discover_in(std::vector<std::string> namespaces) {
        k8s_sd::DiscoveryConfig config;
        config.role = Role::endpointslice;
        config.namespaces = std::move(namespaces);
        job.discovery.configs = {config};
    }
    void endpoint(const std::string& address, const std::string& app, const std::string& port,
                  const std::string& phase = "Running") {
        put(address, {{{"__address__", address},
                       {selector_label, app},
                       {port_label, port},
                       {"__meta_kubernetes_pod_phase", phase}}});
    }
    std::string remedy() const { return k8s_sd_program::advice_on_targets(table, job)->remedy; }
    std::string reason() const {
        const auto advice = k8s_sd_program::advice_on_targets(table, job);
        if (!advice) return "none";
        CHECK_FALSE(advice->remedy.empty());
        return advice->reason;
    }

    ScrapeJob job;
};

}  // namespace

TEST_CASE("Advice on a monitor: with an active target there is none") {
    MonitoredJob job;
    job.endpoint("a:1", "cart", "web");
    job.endpoint("a:2", "cart", "grpc");
    job.endpoint("b:1", "other", "web");
    CHECK(job.reason() == "none");
}

TEST_CASE("Advice on a monitor: no Service has the port") {
    MonitoredJob job;
    job.endpoint("a:1", "cart", "http");
    job.endpoint("a:2", "cart", "grpc");
    job.endpoint("a:3", "cart", "");
    job.endpoint("b:1", "other", "web");
    CHECK(job.reason() ==
          "no Service that the monitor selects has a port named web; they have one without a "
          "name, grpc, http");
}

TEST_CASE("Advice on a monitor: very many ports are not all listed") {
    MonitoredJob job;
    for (int i = 10; i < 40; ++i) {
        job.endpoint("a:" + std::to_string(i), "cart", "p" + std::to_string(i));
    }
    CHECK(job.reason().ends_with("they have p10, p11, p12, p13, p14, p15, p16, p17, p18, p19, …"));
}

TEST_CASE("Advice on a monitor: no Service has the labels") {
    MonitoredJob job;
    job.endpoint("b:1", "other", "web");
    CHECK(job.reason() ==
          "no Service in the namespace shop has the labels of the monitor's selector");
    job.discover_in({"shop", "a"});
    CHECK(job.reason() ==
          "no Service in the namespaces a, shop has the labels of the monitor's selector");
}

TEST_CASE("Advice on a monitor: nothing is discovered") {
    MonitoredJob job;
    CHECK(job.reason() == "no target of role endpointslice is discovered in the namespace shop");
    job.discover_in({});
    CHECK(job.reason() == "no target of role endpointslice is discovered in any namespace");
    job.job.discovery.configs = {};
    CHECK(job.reason() == "no target is discovered");
}

TEST_CASE("Advice on a monitor: another rule drops all") {
    MonitoredJob job;
    job.endpoint("a:1", "cart", "web", "Failed");
    CHECK(job.reason() == "all of its targets are dropped, the last ones by relabel_configs[3]");
}

TEST_CASE("Advice on a monitor: a rule of the user is no selector") {
    MonitoredJob job;
    job.put("a:1", {{{"__address__", "a:1"},
                     {selector_label, "cart"},
                     {port_label, "web"},
                     {"__meta_kubernetes_pod_label_off", "yes"}}});
    CHECK(job.reason() == "all of its targets are dropped, the last ones by relabel_configs[4]");
    for (const char* name : {"cart", "scrapeConfig/shop/cart"}) {
        MonitoredJob other(name);
        other.endpoint("a:1", "cart", "grpc");
        CHECK(other.reason() ==
              "all of its targets are dropped, the last ones by relabel_configs[1]");
    }
}

TEST_CASE("Advice on a monitor: remedies name what selects") {
    MonitoredJob job;
    CHECK(job.remedy().starts_with("namespaceSelector"));
    job.job.discovery.configs.edit(0, [](k8s_sd::DiscoveryConfig& config) {
        config.selectors.push_back({Role::service, "app=cart"});
    });
    CHECK(job.remedy().starts_with("compare spec.selector"));
    CHECK(MonitoredJob("cart").remedy().find("monitor") == std::string::npos);
}

TEST_CASE("Advice on a monitor: a long name of a port is not repeated") {
    MonitoredJob job("serviceMonitor/shop/cart/0", std::string(100'000, 'x'));
    job.endpoint("a:1", "cart", "web");
    CHECK(job.reason() == "all of its targets are dropped, the last ones by relabel_configs[1]");
}
