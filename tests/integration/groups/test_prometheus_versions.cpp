#include "k8s_sd/metrics.hpp"
#include "support/host.hpp"
#include "support/objects.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json.hpp>
#include <memory>
#include <set>
#include <string>
#include <utility>

using namespace k8s_sd;
using namespace k8s_sd::test;
using enum PrometheusVersion;

namespace {

/// Hosts of one cluster, of some versions of Prometheus.
struct Releases : Simulation {
    std::unique_ptr<Host> run(Role role, PrometheusVersion version, const AttachMetadata& attach,
                              std::vector<Selector> selectors = {}) {
        DiscoveryConfig config;
        config.role = role;
        config.prometheus_version = version;
        config.api_server.url = server.url();
        config.attach_metadata = attach;
        config.selectors = std::move(selectors);
        auto host = std::make_unique<Host>(context.get_executor(), config);
        host->run();
        settle();
        return host;
    }
    std::uint64_t take_generated() {
        settle();
        const std::uint64_t now = metrics->groups_generated;
        return now - std::exchange(generated_, now);
    }

 private:
    std::uint64_t generated_ = 0;
};

std::set<std::string> sources(const Host& host) {
    std::set<std::string> all;
    for (const auto& [source, targets] : host.state()) all.insert(source);
    return all;
}

using Sources = std::set<std::string>;

/// A service with both IP families.
boost::json::object dual_stack(const char* first, const char* second) {
    boost::json::object object = service("web");
    boost::json::object& spec = object["spec"].as_object();
    spec["ipFamilyPolicy"] = "PreferDualStack";
    spec["ipFamilies"] = boost::json::array{first, second};
    return object;
}

boost::json::object slice_of_family(const char* type, const char* address) {
    boost::json::object object = slice(std::string("web-") + type, "web", {{address, ""}});
    object["addressType"] = type;
    return object;
}

/// A node with a condition.
boost::json::object node_in_state(const char* ready, const char* heartbeat) {
    boost::json::object object = node("n1", {}, heartbeat);
    boost::json::value& condition = object["status"].at("conditions").at(0);
    condition.as_object()["status"] = ready;
    return object;
}

boost::json::object balanced(const char* ip) {
    boost::json::object object = service("web");
    object["spec"].as_object()["type"] = "LoadBalancer";
    object["status"] =
        boost::json::parse(R"({"loadBalancer":{"ingress":[{"ip":")" + std::string(ip) + R"("}]}})");
    return object;
}

/// The only group of the host.
const TargetGroup& only_group(const Host& host) {
    REQUIRE(host.groups.size() == 1);
    return *host.groups.begin()->second;
}

}  // namespace

TEST_CASE("Releases: the targets of a pod come and go with its node since 3.11") {
    Releases r;
    r.server.apply(pod({.name = "p1", .node = "n1"}));
    r.server.apply(pod({.name = "p2", .node = "n2"}));
    r.server.apply(pod({.name = "p3", .node = ""}));
    r.server.apply(node("n1"));
    const auto before = r.run(Role::pod, v3_10, {.node = true});
    const auto since = r.run(Role::pod, v3_11, {.node = true});
    const Sources all{"pod/default/p1", "pod/default/p2", "pod/default/p3"};
    CHECK(sources(*before) == all);
    CHECK(sources(*since) == Sources{"pod/default/p1"});

    r.take_generated();
    r.server.apply(node("n2"));
    CHECK(r.take_generated() == 2);  // one for each host
    CHECK(sources(*since) == Sources{"pod/default/p1", "pod/default/p2"});
    r.server.remove("nodes", "", "n1");
    r.settle();
    CHECK(sources(*since) == Sources{"pod/default/p2"});
    r.server.apply(pod({.name = "p3", .node = "n2"}));  // it was scheduled
    r.settle();
    CHECK(sources(*since) == Sources{"pod/default/p2", "pod/default/p3"});
    CHECK(sources(*before) == all);
    CHECK(before->complaints + since->complaints == "");
}

TEST_CASE("Releases: a node selector selects the pods of these nodes since 3.11") {
    Releases r;
    for (const char* name : {"p1", "p2"}) {
        r.server.apply(pod({.name = name, .node = name == std::string("p1") ? "n1" : "n2"}));
    }
    r.server.apply(node("n1", {{"type", "worker"}}));
    r.server.apply(node("n2", {{"type", "master"}}));
    const std::vector<Selector> workers{{Role::node, "type=worker", ""}};
    const auto before = r.run(Role::pod, v3_10, {.node = true}, workers);
    const auto since = r.run(Role::pod, v3_11, {.node = true}, workers);
    const auto unattached = r.run(Role::pod, v3_11, {}, workers);
    const Sources both_pods{"pod/default/p1", "pod/default/p2"};
    CHECK(sources(*before) == both_pods);
    CHECK(sources(*since) == Sources{"pod/default/p1"});
    CHECK(sources(*unattached) == both_pods);

    r.server.apply(node("n2", {{"type", "worker"}}));
    r.server.apply(node("n1", {{"type", "master"}}));
    r.settle();
    CHECK(sources(*since) == Sources{"pod/default/p2"});
    CHECK(sources(*before) == both_pods);
}

TEST_CASE("Releases: slices follow the first IP family of their service since 3.11") {
    Releases r;
    r.server.apply(dual_stack("IPv4", "IPv6"));
    r.server.apply(slice_of_family("IPv4", "10.0.0.1"));
    r.server.apply(slice_of_family("IPv6", "fd00::1"));
    const auto before = r.run(Role::endpointslice, v3_10, {});
    const auto since = r.run(Role::endpointslice, v3_11, {});
    const std::string v4 = "endpointslice/default/web-IPv4", v6 = "endpointslice/default/web-IPv6";
    CHECK(sources(*before) == Sources{v4, v6});
    CHECK(sources(*since) == Sources{v4});

    r.server.apply(dual_stack("IPv6", "IPv4"));
    r.settle();
    CHECK(sources(*since) == Sources{v6});
    r.server.apply(service("web"));
    r.settle();
    CHECK(sources(*since) == Sources{v4, v6});
    r.server.apply(dual_stack("IPv4", "IPv6"));
    r.settle();
    CHECK(sources(*since) == Sources{v4});
    r.server.remove("services", "default", "web");
    r.settle();
    CHECK(sources(*since) == Sources{v4, v6});
    CHECK(sources(*before) == Sources{v4, v6});
    CHECK(before->complaints + since->complaints == "");
}

TEST_CASE("Releases: a condition of a node changes its labels since 3.12, a heartbeat does not") {
    Releases r;
    r.server.apply(node_in_state("True", "2026-01-01T00:00:00Z"));
    const auto before = r.run(Role::node, v3_11, {});
    const auto since = r.run(Role::node, v3_12, {});
    const std::string label = "__meta_kubernetes_node_condition_ready";
    CHECK(only_group(*before).labels().get(label) == std::nullopt);
    CHECK(only_group(*since).labels().get(label) == "true");

    r.take_generated();
    r.server.apply(node_in_state("True", "2026-01-01T00:00:10Z"));
    CHECK(r.take_generated() == 0);
    r.server.apply(node_in_state("Unknown", "2026-01-01T00:00:10Z"));
    CHECK(r.take_generated() == 1);
    CHECK(only_group(*since).labels().get(label) == "unknown");
    CHECK(since->diffs == 2);
    CHECK(before->diffs == 1);
}

TEST_CASE("Releases: the addresses of a load balancer change the labels since 3.15") {
    Releases r;
    r.server.apply(balanced("192.0.2.1"));
    const auto before = r.run(Role::service, v3_14, {});
    const auto since = r.run(Role::service, v3_15, {});
    const std::string label = "__meta_kubernetes_service_loadbalancer_ip";
    CHECK(only_group(*before).labels().get(label) == "");
    CHECK(only_group(*since).labels().get(label) == "192.0.2.1");
    r.take_generated();
    r.server.apply(balanced("192.0.2.2"));
    CHECK(r.take_generated() == 1);
    CHECK(only_group(*since).labels().get(label) == "192.0.2.2");
    CHECK(before->diffs == 1);
}

TEST_CASE("Releases: versions share the watches of kinds stored in the same way") {
    Releases r;
    const auto watches = [&](Kind kind) { return r.metrics->of(kind).watchers.load(); };
    r.server.apply(slice("web-x", "web", {{"10.0.0.1", "p1"}}));
    std::vector<std::unique_ptr<Host>> hosts;
    const auto run = [&](PrometheusVersion version) {
        hosts.push_back(r.run(Role::endpointslice, version, {.node = true}));
    };
    run(v3_5);
    run(v3_10);
    CHECK(watches(Kind::service) == 1);
    CHECK(watches(Kind::node) == 1);
    run(v3_11);  // IP families of services
    CHECK(watches(Kind::service) == 2);
    CHECK(watches(Kind::node) == 1);
    run(v3_12);  // conditions of nodes
    run(v3_14);
    CHECK(watches(Kind::service) == 2);
    CHECK(watches(Kind::node) == 2);
    run(v3_15);  // the status of services
    CHECK(watches(Kind::service) == 3);
    CHECK(watches(Kind::node) == 2);
    CHECK(watches(Kind::pod) == 1);
    CHECK(watches(Kind::endpointslice) == 1);
}
