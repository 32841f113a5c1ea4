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
    MonitoredJob()
        : TableJob({rule(RelabelAction::keep, selector_label, "cart"),
                    rule(RelabelAction::keep, port_label, "web"),
                    rule(RelabelAction::drop, "__meta_kubernetes_pod_phase", "Failed")}) {
        job.discovery.configs.emplace_back();
        job.discovery.configs[0].role = Role::endpointslice;
        job.discovery.configs[0].namespaces = {"shop"};
    }
    void endpoint(const std::string& address, const std::string& app, const std::string& port,
                  const std::string& phase = "Running") {
        put(address, {{{"__address__", address},
                       {selector_label, app},
                       {port_label, port},
                       {"__meta_kubernetes_pod_phase", phase}}});
    }
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
    job.job.discovery.configs[0].namespaces = {"shop", "a"};
    CHECK(job.reason() ==
          "no Service in the namespaces a, shop has the labels of the monitor's selector");
}

TEST_CASE("Advice on a monitor: nothing is discovered") {
    MonitoredJob job;
    CHECK(job.reason() == "no target of role endpointslice is discovered in the namespace shop");
    job.job.discovery.configs[0].namespaces.clear();
    CHECK(job.reason() == "no target of role endpointslice is discovered in any namespace");
    job.job.discovery.configs.clear();
    CHECK(job.reason() == "no target is discovered");
}

TEST_CASE("Advice on a monitor: another rule drops all") {
    MonitoredJob job;
    job.endpoint("a:1", "cart", "web", "Failed");
    CHECK(job.reason() == "all of its targets are dropped, the last ones by relabel_configs[2]");
}
