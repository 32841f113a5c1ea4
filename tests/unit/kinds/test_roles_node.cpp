#include "support/role_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace roles_node_tests {

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

std::vector<LabelMap> targets(const std::string& json,
                              LabelDialect dialect = LabelDialect::prometheus) {
    return World(dialect).add(Kind::node, json).targets(Role::node, "", "n1");
}
std::string address(const std::string& addresses, LabelDialect dialect = LabelDialect::prometheus) {
    const auto all = targets(R"({"metadata":{"name":"n1"},"status":{"addresses":)" + addresses +
                                 R"(,"daemonEndpoints":{"kubeletEndpoint":{"Port":10250}}}})",
                             dialect);
    return all.empty() ? "none" : value(all[0], "__address__");
}

const std::string n1 = R"({"metadata":{"name":"n1","labels":{"topology.kubernetes.io/zone":"z1"},
    "annotations":{"a.b/c":"d"}},"spec":{"providerID":"aws:///z1/i-1"},
    "status":{"addresses":[{"type":"Hostname","address":"n1.local"},{"type":"ExternalIP",
        "address":"8.8.8.8"},
      {"type":"InternalIP","address":"10.0.0.1"},{"type":"InternalIP","address":"10.0.0.2"}],
      "daemonEndpoints":{"kubeletEndpoint":{"Port":10250}},
      "conditions":[{"type":"Ready","status":"True"},{"type":"custom.io/X","status":"Unknown"}]}})";

}  // namespace

TEST_CASE("Role node: a node is one target at its kubelet with its metadata and addresses") {
    for (const LabelDialect dialect : dialects) {
        CHECK(targets(n1, dialect) ==
              std::vector{labels({{"__address__", "10.0.0.1:10250"},
                                  {"instance", "n1"},
                                  {"~node_name", "n1"},
                                  {"~node_provider_id", "aws:///z1/i-1"},
                                  {"~node_address_Hostname", "n1.local"},
                                  {"~node_address_ExternalIP", "8.8.8.8"},
                                  {"~node_address_InternalIP", "10.0.0.1"}}) +
                          family("node_label", {{"topology_kubernetes_io_zone", "z1"}}) +
                          family("node_annotation", {{"a_b_c", "d"}})});
    }
}

TEST_CASE("Role node: the source is node/<name> and metadata belongs to the group") {
    World world;
    const auto group = world.add(Kind::node, n1).group(Role::node, "", "n1");
    CHECK(group->source() == "node/n1");
    CHECK(group->labels().get("__meta_kubernetes_node_provider_id") == "aws:///z1/i-1");
    CHECK(group->labels().get("__meta_kubernetes_node_name") == "n1");
    CHECK_FALSE(group->labels().get("__address__"));
    CHECK_FALSE(group->labels().get("__meta_kubernetes_namespace"));
    CHECK(world.asked().empty());
}

TEST_CASE("Role node: an IPv6 address is put in brackets and a missing port is 0") {
    const std::string json =
        R"({"metadata":{"name":"n1"},"status":{"addresses":[{"type":"InternalIP",
            "address":"fd00::1"}]}})";
    for (const LabelDialect dialect : dialects) {
        CHECK(targets(json, dialect) ==
              std::vector{labels({{"__address__", "[fd00::1]:0"},
                                  {"instance", "n1"},
                                  {"~node_name", "n1"},
                                  {"~node_address_InternalIP", "fd00::1"}})});
    }
    World world;
    CHECK(world.add(Kind::node, json)
              .group(Role::node, "", "n1")
              ->labels()
              .get("__meta_kubernetes_node_provider_id") == "");
}

TEST_CASE("Role node: types of addresses are preferred in Prometheus' order") {
    const std::vector<std::string> order{"InternalIP",  "InternalDNS",  "ExternalIP",
                                         "ExternalDNS", "LegacyHostIP", "Hostname"};
    for (const LabelDialect dialect : dialects) {
        std::string worse = R"({"type":"Other","address":"other"})";
        for (std::size_t i = order.size(); i-- > 0;) {
            worse += R"(,{"type":")" + order[i] + R"(","address":"a)" + std::to_string(i) + "\"}";
            CHECK(address("[" + worse + "]", dialect) == "a" + std::to_string(i) + ":10250");
        }
        CHECK(address(
                  R"([{"type":"Hostname","address":"h"},{"type":"InternalDNS","address":"d"},
            {"type":"ExternalDNS","address":"e"}])",
                  dialect) == "d:10250");
        CHECK(address(R"([{"type":"Hostname","address":"h"}])", dialect) == "h:10250");
        CHECK(address(
                  R"([{"type":"InternalIP","address":"1.1.1.1"},{"type":"InternalIP",
            "address":"2.2.2.2"}])",
                  dialect) == "1.1.1.1:10250");
    }
}

TEST_CASE("Role node: a node without an address of a known type is no target") {
    for (const LabelDialect dialect : dialects) {
        CHECK(address("[]", dialect) == "none");
        CHECK(address("null", dialect) == "none");
        CHECK(address(R"([{"type":"Other","address":"x"}])", dialect) == "none");
    }
}

TEST_CASE("Role node: an empty InternalIP counts for Prometheus and is passed over by vmagent") {
    const std::string addresses =
        R"([{"type":"InternalIP","address":""},{"type":"InternalIP","address":"1.1.1.1"},
            {"type":"Hostname","address":"h"}])";
    CHECK(address(addresses) == ":10250");
    CHECK(address(addresses, LabelDialect::victoriametrics) == "h:10250");
}

TEST_CASE("Role node: an empty label value is shown by its sibling") {
    const auto all = targets(
        R"({"metadata":{"name":"n1","labels":{"node-role.kubernetes.io/master":""}},
            "status":{"addresses":[
            {"type":"InternalIP","address":"172.17.0.2"},{"type":"Hostname","address":"m01"}],
            "daemonEndpoints":{"kubeletEndpoint":{"Port":10250}}}})",
        LabelDialect::victoriametrics);
    REQUIRE(all.size() == 1);
    CHECK(all[0] == labels({{"__address__", "172.17.0.2:10250"},
                            {"instance", "n1"},
                            {"~node_name", "n1"},
                            {"~node_address_InternalIP", "172.17.0.2"},
                            {"~node_address_Hostname", "m01"},
                            {"~node_labelpresent_node_role_kubernetes_io_master", "true"}}));
}

TEST_CASE("Role node: only an external DNS name will do as well") {
    CHECK(address(R"([{"type":"ExternalDNS","address":"x.example.com"}])",
                  LabelDialect::victoriametrics) == "x.example.com:10250");
}

TEST_CASE("Role node: attach_metadata has no effect") {
    AttachMetadata all{
        .node = true, .namespace_ = true, .deployment = true, .job = true, .cronjob = true};
    for (const LabelDialect dialect : dialects) {
        World world(dialect, all);
        CHECK(world.add(Kind::node, n1).targets(Role::node, "", "n1") == targets(n1, dialect));
        CHECK(world.asked().empty());
    }
}

TEST_CASE("Role node: what reaches no label is no change of a node") {
    World a, b, c, d;
    const std::string heartbeat =
        R"({"metadata":{"name":"n1","uid":"u","resourceVersion":"1"},
            "status":{"conditions":[{"type":"Ready","lastHeartbeatTime":"1"}]}})";
    const std::string later =
        R"({"metadata":{"name":"n1","uid":"u","resourceVersion":"2"},
            "status":{"conditions":[{"type":"Ready","lastHeartbeatTime":"2"}],"images":[{}]}})";
    const std::string labelled = R"({"metadata":{"name":"n1","uid":"u","labels":{"a":"b"}}})";
    const std::string moved =
        R"({"metadata":{"name":"n1","uid":"u"},"status":{"addresses":[{"type":"InternalIP",
            "address":"1"}]}})";
    a.add(Kind::node, heartbeat), b.add(Kind::node, later), c.add(Kind::node, labelled),
        d.add(Kind::node, moved);
    const Object& node = a.object(Kind::node, "", "n1");
    CHECK(node.same_content(b.object(Kind::node, "", "n1")));
    CHECK_FALSE(node.same_content(c.object(Kind::node, "", "n1")));
    CHECK_FALSE(node.same_content(d.object(Kind::node, "", "n1")));
}

}  // namespace roles_node_tests
