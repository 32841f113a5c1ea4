#include "support/role_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <optional>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using enum PrometheusVersion;

namespace {

// --- 3.11: pods need a known node ----------------------------------------------------------------

std::string pod_on(const std::string& node) {
    return R"({"metadata":{"name":"p","namespace":"ns"},"spec":{"nodeName":")" + node +
           R"(","containers":[{"name":"c","image":"i","ports":[{"containerPort":80}]}]},
           "status":{"podIP":"10.0.0.1"}})";
}

World world_of_pod(PrometheusVersion version, const std::string& node, bool attach = true) {
    World world(version, {.node = attach});
    world.add(Kind::node, R"({"metadata":{"name":"n1","labels":{"zone":"a"}}})");
    world.add(Kind::pod, pod_on(node));
    return world;
}

// --- 3.11: dual-stack services -------------------------------------------------------------------

std::string slice_of(const std::string& type, const std::string& address) {
    return R"({"metadata":{"name":")" + type +
           R"(","namespace":"ns","labels":{"kubernetes.io/service-name":"svc"}},"addressType":")" +
           type + R"(","endpoints":[{"addresses":[")" + address +
           R"("]}],"ports":[{"port":9000}]})";
}

/// The addresses of slices of both families.
struct Families {
    std::vector<std::string> v4, v6;
    friend bool operator==(const Families&, const Families&) = default;
};
const Families both{{"1.2.3.4:9000"}, {"[fd00::1]:9000"}};
const Families only_v4{{"1.2.3.4:9000"}, {}};
const Families only_v6{{}, {"[fd00::1]:9000"}};

/// \param spec  of the service; nullopt: there is none
Families families(PrometheusVersion version, const std::optional<std::string>& spec) {
    World world(version);
    if (spec) {
        world.add(Kind::service,
                  R"({"metadata":{"name":"svc","namespace":"ns"},"spec":)" + *spec + "}");
    }
    world.add(Kind::endpointslice, slice_of("IPv4", "1.2.3.4"));
    world.add(Kind::endpointslice, slice_of("IPv6", "fd00::1"));
    return {world.addresses(Role::endpointslice, "ns", "IPv4"),
            world.addresses(Role::endpointslice, "ns", "IPv6")};
}

const std::string prefer = R"({"ipFamilyPolicy":"PreferDualStack","ipFamilies":["IPv4","IPv6"]})";

// --- 3.12: conditions of nodes -------------------------------------------------------------------

/// The group's labels of a node with these conditions.
LabelMap node_labels(PrometheusVersion version, const std::string& conditions) {
    World world(version);
    world.add(Kind::node, R"({"metadata":{"name":"n1"},"status":{"conditions":)" + conditions +
                              R"(,"addresses":[{"type":"InternalIP","address":"10.0.0.1"}]}})");
    return world.group(Role::node, "", "n1")->labels().to_map();
}

const std::string two_conditions =
    R"([{"type":"Ready","status":"True"},{"type":"custom.io/X","status":"Unknown"}])";

// --- 3.15: the status of load balancers ----------------------------------------------------------

const std::string two_addresses =
    R"({"ingress":[{"ip":"192.168.1.15"},{"hostname":"h"},{"ip":"2001:db8::1"}]})";

std::optional<std::string> load_balancer_ip(PrometheusVersion version, const std::string& status,
                                            const std::string& type = "LoadBalancer") {
    World world(version);
    world.add(Kind::service, R"({"metadata":{"name":"svc","namespace":"ns"},"spec":{"type":")" +
                                 type + R"(","clusterIP":"10.0.0.1","loadBalancerIP":"127.0.0.1",
                                 "ports":[{"port":80}]},"status":{"loadBalancer":)" +
                                 status + "}}");
    const LabelMap map = world.group(Role::service, "ns", "svc")->labels().to_map();
    const auto it = map.find("__meta_kubernetes_service_loadbalancer_ip");
    if (it == map.end()) return std::nullopt;
    return it->second;
}

}  // namespace

TEST_CASE("Versions: with attached nodes, pods on unknown nodes have targets before 3.11 only") {
    for (const char* node : {"n2", ""}) {
        CAPTURE(node);
        World before = world_of_pod(v3_10, node);
        CHECK(before.addresses(Role::pod, "ns", "p") == std::vector<std::string>{"10.0.0.1:80"});
        CHECK_FALSE(has_family(before.targets(Role::pod, "ns", "p")[0], "~node_name"));
        World since = world_of_pod(v3_11, node);
        CHECK(since.group(Role::pod, "ns", "p") == nullptr);
        CHECK(since.asked(Kind::node, "", node));
    }
}

TEST_CASE("Versions: since 3.11 pods on known nodes have targets with the labels of the node") {
    World world = world_of_pod(v3_11, "n1");
    const std::vector<LabelMap> targets = world.targets(Role::pod, "ns", "p");
    REQUIRE(targets.size() == 1);
    CHECK(value(targets[0], "~node_label_zone") == "a");
    world.remove(Kind::node, "", "n1");
    CHECK(world.group(Role::pod, "ns", "p") == nullptr);
}

TEST_CASE("Versions: without attached nodes, all pods have targets in 3.11, too") {
    World world = world_of_pod(v3_11, "n2", false);
    CHECK(world.addresses(Role::pod, "ns", "p") == std::vector<std::string>{"10.0.0.1:80"});
    CHECK_FALSE(world.asked(Kind::node, "", "n2"));
}

TEST_CASE("Versions: endpoints on unknown nodes keep their targets in 3.11") {
    World world(v3_11, {.node = true});
    world.add(Kind::endpointslice,
              R"({"metadata":{"name":"s","namespace":"ns"},"addressType":"IPv4",
                  "endpoints":[{"addresses":["1.2.3.4"],"nodeName":"n9"}],"ports":[{"port":1}]})");
    CHECK(world.addresses(Role::endpointslice, "ns", "s") == std::vector<std::string>{"1.2.3.4:1"});
}

TEST_CASE("Versions: since 3.11 dual-stack services have targets of their first family only") {
    const std::string require =
        R"({"ipFamilyPolicy":"RequireDualStack","ipFamilies":["IPv6","IPv4"]})";
    CHECK(families(v3_10, prefer) == both);
    CHECK(families(v3_11, prefer) == only_v4);
    CHECK(families(v3_10, require) == both);
    CHECK(families(v3_11, require) == only_v6);
}

TEST_CASE("Versions: since 3.11 other services have targets of all families") {
    for (const char* spec : {
             R"({"ipFamilyPolicy":"SingleStack","ipFamilies":["IPv6"]})",
             R"({"ipFamilies":["IPv4","IPv6"]})",
             R"({"ipFamilyPolicy":"PreferDualStack"})",
             R"({"ipFamilyPolicy":"PreferDualStack","ipFamilies":[]})",
             R"({})",
         }) {
        CAPTURE(spec);
        CHECK(families(v3_11, spec) == both);
    }
    CHECK(families(v3_11, std::nullopt) == both);
}

TEST_CASE("Versions: the service of a skipped slice is a dependency of its group") {
    World world(v3_11);
    world.add(Kind::service,
              R"({"metadata":{"name":"svc","namespace":"ns"},"spec":)" + prefer + "}");
    world.add(Kind::endpointslice, slice_of("IPv6", "fd00::1"));
    CHECK(world.group(Role::endpointslice, "ns", "IPv6") == nullptr);
    CHECK(world.asked(Kind::service, "ns", "svc"));
}

TEST_CASE("Versions: the families of a service are compared in 3.11 only") {
    const auto same_in = [](PrometheusVersion version) {
        World a(version), b(version);
        const std::string meta = R"({"metadata":{"name":"svc","namespace":"ns"},"spec":)";
        a.add(Kind::service, meta + prefer + "}");
        b.add(Kind::service,
              meta + R"({"ipFamilyPolicy":"PreferDualStack","ipFamilies":["IPv6","IPv4"]}})");
        return a.object(Kind::service, "ns", "svc")
            .same_content(b.object(Kind::service, "ns", "svc"));
    };
    CHECK(same_in(v3_10));
    CHECK_FALSE(same_in(v3_11));
}

TEST_CASE("Versions: since 3.12 nodes have a label for each condition") {
    CHECK(node_labels(v3_11, two_conditions) ==
          labels({{"~node_name", "n1"}, {"~node_provider_id", ""}}));
    CHECK(node_labels(v3_12, two_conditions) ==
          labels({{"~node_name", "n1"},
                  {"~node_provider_id", ""},
                  {"~node_condition_ready", "true"},
                  {"~node_condition_custom_io_x", "unknown"}}));
    CHECK(node_labels(v3_12, "[]") == labels({{"~node_name", "n1"}, {"~node_provider_id", ""}}));
}

TEST_CASE("Versions: heartbeats leave a node as it was, and its conditions do not") {
    const auto same = [](PrometheusVersion version, const std::string& a, const std::string& b) {
        World before(version), after(version);
        const auto node = [](const std::string& condition) {
            return R"({"metadata":{"name":"n1"},"status":{"conditions":[)" + condition + "]}}";
        };
        before.add(Kind::node, node(a));
        after.add(Kind::node, node(b));
        return before.object(Kind::node, "", "n1").same_content(after.object(Kind::node, "", "n1"));
    };
    const std::string ready = R"({"type":"Ready","status":"True","lastHeartbeatTime":"x"})";
    const std::string later = R"({"type":"Ready","status":"True","lastHeartbeatTime":"y",
        "lastTransitionTime":"2026-01-01T00:00:00Z","reason":"r","message":"m"})";
    const std::string lost = R"({"type":"Ready","status":"Unknown","lastHeartbeatTime":"x"})";
    CHECK(same(v3_12, ready, later));
    CHECK_FALSE(same(v3_12, ready, lost));
    CHECK(same(v3_11, ready, lost));
}

TEST_CASE("Versions: the conditions of an attached node are no labels of a pod") {
    World world(v3_12, {.node = true});
    world.add(Kind::node,
              R"({"metadata":{"name":"n1"},"status":{"conditions":)" + two_conditions + "}}");
    world.add(Kind::pod, pod_on("n1"));
    const std::vector<LabelMap> targets = world.targets(Role::pod, "ns", "p");
    REQUIRE(targets.size() == 1);
    CHECK(value(targets[0], "~node_name") == "n1");
    CHECK_FALSE(has_family(targets[0], "~node_condition_"));
}

TEST_CASE("Versions: since 3.15 the IP of a load balancer is that of its status") {
    CHECK(load_balancer_ip(v3_14, two_addresses) == "127.0.0.1");
    CHECK(load_balancer_ip(v3_15, two_addresses) == "192.168.1.15,2001:db8::1");
    CHECK(load_balancer_ip(v3_15, R"({"ingress":[{"hostname":"h"}]})") == "127.0.0.1");
    CHECK(load_balancer_ip(v3_15, "{}") == "127.0.0.1");
    CHECK(load_balancer_ip(v3_15, two_addresses, "ClusterIP") == std::nullopt);
}
