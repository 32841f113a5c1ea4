#include "support/role_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

/// The object ns/o with a label and an annotation.
std::string object(const std::string& members) {
    return R"({"metadata":{"name":"o","namespace":"ns","uid":"u","labels":{"l":"v"},
        "annotations":{"a":"w"}},)" +
           members + "}";
}
LabelMap metadata(const std::string& kind) {
    return family(kind + "_label", {{"l", "v"}}) + family(kind + "_annotation", {{"a", "w"}});
}

}  // namespace

TEST_CASE("Object: its labels are its own and those of its metadata, without ports and paths") {
    struct Row {
        Kind kind;
        std::string members;
        LabelMap own;
        std::string word;
    };
    const LabelMap ns = labels({{"~namespace", "ns"}});
    for (const Row& row : std::initializer_list<Row>{
             {Kind::service,
              R"("spec":{"type":"ClusterIP","clusterIP":"1.1.1.1","ports":[{"port":1}]})",
              ns + labels({{"~service_name", "o"},
                           {"~service_type", "ClusterIP"},
                           {"~service_cluster_ip", "1.1.1.1"}}),
              "service"},
             {Kind::endpoints, R"("subsets":[{"addresses":[{"ip":"1"}],"ports":[{"port":1}]}])",
              ns + labels({{"~endpoints_name", "o"}}), "endpoints"},
             {Kind::endpointslice, R"("addressType":"IPv4","endpoints":[{"addresses":["1"]}])",
              ns + labels({{"~endpointslice_name", "o"}, {"~endpointslice_address_type", "IPv4"}}),
              "endpointslice"},
             {Kind::ingress, R"("spec":{"ingressClassName":"c","rules":[{"host":"h"}]})",
              ns + labels({{"~ingress_name", "o"}, {"~ingress_class_name", "c"}}), "ingress"},
         }) {
        for (const LabelDialect dialect : dialects) {
            CAPTURE(to_string(row.kind));
            World world(dialect);
            world.add(row.kind, object(row.members));
            const Object& made = world.object(row.kind, "ns", "o");
            CHECK(made.labels() == row.own + metadata(row.word));
            CHECK(made.metadata_labels().to_map() == metadata(row.word));
        }
    }
}

TEST_CASE("Object: a pod's labels are those that its targets share") {
    for (const LabelDialect dialect : dialects) {
        World world(dialect);
        world.add(Kind::pod, object(R"("spec":{"nodeName":"n","containers":[{"name":"c",
            "ports":[{"containerPort":1}]}]},"status":{"podIP":"1.1.1.1"})"));
        const LabelMap own = world.object(Kind::pod, "ns", "o").labels();
        CHECK(own == world.group(Role::pod, "ns", "o")->labels().to_map());
        CHECK(value(own, "~pod_ip") == "1.1.1.1");
    }
}

TEST_CASE("Object: a node has the labels of its one target, without a namespace") {
    World world;
    world.add(Kind::node, R"({"metadata":{"name":"n","labels":{"l":"v"},"annotations":{"a":"w"}},
        "status":{"addresses":[{"type":"InternalIP","address":"1.1.1.1"}]}})");
    const Object& node = world.object(Kind::node, "", "n");
    LabelMap own = node.labels();
    std::erase_if(own, [](const auto& label) { return label.second.empty(); });
    CHECK(own == world.targets(Role::node, "", "n").at(0));
    CHECK(node.metadata_labels().to_map() == labels({{"~node_name", "n"}}) + metadata("node"));
}

TEST_CASE("Object: of a namespace only the metadata reaches labels, of an owner nothing") {
    World world;
    world.add(Kind::namespace_, R"({"metadata":{"name":"ns","labels":{"l":"v"}}})");
    CHECK(world.object(Kind::namespace_, "", "ns").labels() ==
          family("namespace_label", {{"l", "v"}}));
    world.add(Kind::replicaset, R"({"metadata":{"name":"r","namespace":"ns","labels":{"l":"v"}}})");
    CHECK(world.object(Kind::replicaset, "ns", "r").labels().empty());
}

TEST_CASE("generate: an object with more targets than it may have gives no group, in every role") {
    const std::string ports = R"("ports":[{"port":1},{"port":2},{"port":3}])";
    struct Row {
        Role role;
        std::string members;
    };
    for (const Row& row : std::initializer_list<Row>{
             {Role::pod, R"("spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]},
                "status":{"podIP":"1"})"},
             {Role::service, R"("spec":{)" + ports + "}"},
             {Role::endpoints, R"("subsets":[{"addresses":[{"ip":"1"}],)" + ports + "}]"},
             {Role::endpoints, R"("subsets":[{"notReadyAddresses":[{"ip":"1"}],)" + ports + "}]"},
             {Role::endpointslice, R"("endpoints":[{"addresses":["1"]}],)" + ports},
             {Role::ingress, R"("spec":{"rules":[{},{},{}]})"},
         }) {
        for (const LabelDialect dialect : dialects) {
            CAPTURE(to_string(row.role));
            World world(dialect);
            world.add(main_kind(row.role), object(row.members));
            world.set_max_targets(3);
            CHECK(world.targets(row.role, "ns", "o").size() == 3);
            world.set_max_targets(2);
            CHECK(world.group(row.role, "ns", "o") == nullptr);
        }
    }
}

TEST_CASE("generate: the ports of a pod count towards the targets of its endpoints") {
    const std::string reference = R"("targetRef":{"kind":"Pod","namespace":"ns","name":"o"}})";
    World world;
    world.add(Kind::pod, object(R"("spec":{"containers":[{"name":"c","ports":[{"containerPort":1},
        {"containerPort":2}]}]},"status":{"podIP":"1"})"));
    world.add(Kind::endpoints, object(R"("subsets":[{"addresses":[{"ip":"1",)" + reference +
                                      R"(],"ports":[{"port":9}]}])"));
    world.set_max_targets(3);
    CHECK(world.targets(Role::endpoints, "ns", "o").size() == 3);
    world.set_max_targets(2);
    CHECK(world.group(Role::endpoints, "ns", "o") == nullptr);
}
