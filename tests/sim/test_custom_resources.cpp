#include "k8s_sd/sim/custom_resource.hpp"
#include "sim/api_server_fixture.hpp"
#include "sim/protobuf_bodies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <stdexcept>
#include <string>

using namespace k8s_sd::test;
namespace sim = k8s_sd::sim;
namespace json = boost::json;

namespace {

const sim::CustomResource gizmos{
    .group = "sim.example.com", .kind = "Gizmo", .plural = "gizmos", .versions = {"v1", "v1beta1"}};

std::string gizmo(const std::string& name, const std::string& version = "v1") {
    return R"({"apiVersion":"sim.example.com/)" + version +
           R"(","kind":"Gizmo","metadata":{"name":")" + name +
           R"(","namespace":"shop","labels":{"name":")" + name + R"("}},"spec":{"a":[1.5]}})";
}

}  // namespace

TEST_CASE("custom resources: they are listed, watched, selected and removed as others") {
    Fixture f;
    f.server.add_resource(gizmos);
    f.server.apply(gizmo("a"));
    f.server.apply(gizmo("b", "v1beta1"));
    auto client = f.client();
    client.get("/apis/sim.example.com/v1/namespaces/shop/gizmos?labelSelector=name%3Db");
    const json::object list = client.object();
    CHECK(list.at("kind") == "GizmoList");
    CHECK(list.at("apiVersion") == "sim.example.com/v1");
    REQUIRE(list.at("items").as_array().size() == 1);
    CHECK(list.at("items").at(0).at("metadata").at("name") == "b");
    CHECK(list.at("items").at(0).at("spec") == json::value({{"a", {1.5}}}));
    client.get("/apis/sim.example.com/v1beta1/gizmos?fieldSelector=metadata.name%3Da");
    CHECK(client.object().at("items").as_array().size() == 1);
    client.get("/apis/sim.example.com/v1beta1/namespaces/shop/gizmos/a");
    CHECK(client.object().at("apiVersion") == "sim.example.com/v1beta1");
    CHECK(f.server.count("gizmos") == 2);
    CHECK(f.server.count("gizmos.sim.example.com") == 2);
    CHECK(f.server.remove("Gizmo", "shop", "a"));
    CHECK(f.server.count("gizmos") == 1);
}

TEST_CASE("custom resources: the discovery documents have them") {
    Fixture f;
    auto client = f.client();
    client.get("/apis/sim.example.com");
    CHECK(client.status() == 404);
    f.server.add_resource(gizmos);
    client.get("/apis/sim.example.com");
    const json::object group = client.object();
    CHECK(group.at("kind") == "APIGroup");
    CHECK(group.at("versions").as_array().size() == 2);
    CHECK(group.at("preferredVersion").at("version") == "v1");
    client.get("/apis/sim.example.com/v1beta1");
    const json::object resources = client.object();
    REQUIRE(resources.at("resources").as_array().size() == 1);
    const json::value& entry = resources.at("resources").at(0);
    CHECK(entry.at("name") == "gizmos");
    CHECK(entry.at("singularName") == "gizmo");
    CHECK(entry.at("kind") == "Gizmo");
    CHECK(entry.at("namespaced") == true);
    client.get("/apis");
    CHECK(json::serialize(client.object()).find("sim.example.com") != std::string::npos);
}

TEST_CASE("custom resources: objects are JSON, their metadata protobuf as well") {
    Fixture f;
    f.server.add_resource(gizmos);
    f.server.apply(gizmo("a"));
    auto client = f.client();
    const std::string protobuf = "application/vnd.kubernetes.protobuf";
    client.get("/apis/sim.example.com/v1/gizmos", "Accept: " + protobuf + ",application/json\r\n");
    CHECK(client.object().at("kind") == "GizmoList");
    client.get("/apis/sim.example.com/v1/gizmos",
               "Accept: " + protobuf + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1\r\n");
    CHECK(client.status() == 200);
    CHECK(client.header().find("Content-Type: " + protobuf) != std::string::npos);
}

TEST_CASE("custom resources: one that is removed is gone with its objects, on that server") {
    Fixture f;
    Fixture other;
    f.server.add_resource(gizmos);
    other.server.add_resource(gizmos);
    f.server.apply(gizmo("a"));
    other.server.apply(gizmo("a"));
    f.server.remove_resource("gizmos");
    auto client = f.client();
    client.get("/apis/sim.example.com/v1/gizmos");
    CHECK(client.status() == 404);
    client.get("/apis/sim.example.com");
    CHECK(client.status() == 404);
    CHECK(other.server.count("gizmos") == 1);
    f.server.add_resource(gizmos);
    client.get("/apis/sim.example.com/v1/gizmos");
    CHECK(client.object().at("items").as_array().empty());
}

TEST_CASE("custom resources: what is missing or contradicts another one is refused") {
    Fixture f;
    CHECK_THROWS_AS(f.server.add_resource({}), std::invalid_argument);
    CHECK_THROWS_AS(
        f.server.add_resource({.group = "g.io", .kind = "K", .plural = "ks", .versions = {}}),
        std::invalid_argument);
    f.server.add_resource({.group = "once.io", .kind = "K", .plural = "ks"});
    f.server.add_resource({.group = "once.io", .kind = "K", .plural = "ks", .versions = {"v2"}});
    CHECK_THROWS_AS(f.server.add_resource(
                        {.group = "once.io", .kind = "K", .plural = "ks", .namespaced = false}),
                    std::invalid_argument);
    CHECK_THROWS_AS(f.server.remove_resource("no-such"), std::invalid_argument);
}

TEST_CASE("custom resources: a name means what this server has, whatever other servers have") {
    Fixture f;
    Fixture other;
    f.server.add_resource({.group = "one.example.com", .kind = "Thing", .plural = "things"});
    other.server.add_resource({.group = "two.example.com", .kind = "Thing", .plural = "things"});
    other.server.apply(R"({"apiVersion":"two.example.com/v1","kind":"Thing",)"
                       R"("metadata":{"name":"a","namespace":"shop"}})");
    CHECK(other.server.count("things") == 1);
    CHECK(f.server.count("things") == 0);
    other.server.remove_resource("things");
    CHECK(other.server.count("things") == 0);
    auto client = other.client();
    client.get("/apis/two.example.com/v1/things");
    CHECK(client.status() == 404);
    CHECK_THROWS_AS(Fixture().server.count("things"), std::invalid_argument);
}

TEST_CASE("custom resources: one that is removed hides no new one, and takes no objects") {
    Fixture f;
    const std::string thing = R"({"apiVersion":"two.example.com/v1","kind":"Thing",)"
                              R"("metadata":{"name":"a","namespace":"shop"}})";
    f.server.add_resource({.group = "one.example.com", .kind = "Thing", .plural = "things"});
    CHECK_THROWS_AS(f.server.apply(thing), std::invalid_argument);
    f.server.remove_resource("things");
    f.server.add_resource({.group = "two.example.com", .kind = "Thing", .plural = "things"});
    f.server.apply(thing);
    CHECK(f.server.count("things") == 1);
    CHECK(f.server.remove("things", "shop", "a"));
    f.server.remove_resource("things");
    CHECK_THROWS_AS(f.server.apply(thing), std::invalid_argument);
    auto client = f.client();
    client.get("/apis/two.example.com/v1/things");
    CHECK(client.status() == 404);
}

TEST_CASE("custom resources: servers of one process have types of their own") {
    Fixture one;
    Fixture other;
    one.server.add_resource({.group = "own.example.com", .kind = "Thing", .plural = "things"});
    other.server.add_resource({.group = "own.example.com",
                               .kind = "Thing",
                               .plural = "things",
                               .versions = {"v2"},
                               .namespaced = false});
    other.server.apply(R"({"apiVersion":"own.example.com/v2","kind":"Thing",)"
                       R"("metadata":{"name":"a"}})");
    CHECK(one.server.count("things") == 0);
    REQUIRE(other.server.list("things").size() == 1);
    CHECK(other.server.list("things").front().at("apiVersion") == "own.example.com/v2");
    CHECK_THROWS_AS(
        one.server.add_resource({.group = "apps", .kind = "Deployment", .plural = "deployments"}),
        std::invalid_argument);
}
