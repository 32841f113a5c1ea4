#include "sim/api_server_fixture.hpp"

#include <catch2/catch_test_macros.hpp>

namespace k8s_sd::test {
namespace {

std::string full_name(const json::object& object) {
    const json::object& metadata = object.at("metadata").as_object();
    const json::value* ns = metadata.if_contains("namespace");
    std::string text = ns ? std::string(ns->as_string()) + "/" : std::string();
    return text += metadata.at("name").as_string();
}

std::vector<std::string> full_names(const std::vector<json::object>& objects) {
    std::vector<std::string> names;
    for (const json::object& object : objects) names.push_back(full_name(object));
    return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE(
    "ApiServer: list() returns the objects of all namespaces or of one, sorted, as get() does") {
    Fixture f;
    f.pod("b", "{}", "shop");
    f.pod("z", "{}", "default");
    f.pod("a", "{}", "shop");
    f.pod("c", "{}", "shop-2");
    f.server.apply(R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"}})");

    CHECK(full_names(f.server.list("pods")) == Names{"default/z", "shop-2/c", "shop/a", "shop/b"});
    CHECK(full_names(f.server.list("Pod", "shop")) == Names{"shop/a", "shop/b"});
    CHECK(f.server.list("pods", "sho").empty());
    CHECK(f.server.list("pods", "shop").front() == f.server.get("pods", "shop", "a"));
    CHECK(f.server.list("pods", "shop").front().at("kind") == "Pod");
    CHECK(full_names(f.server.list("nodes")) == Names{"n1"});
    CHECK(f.server.list("services").empty());
    CHECK_THROWS_AS(f.server.list("nothing"), std::invalid_argument);
}

TEST_CASE("ApiServer: for_each() visits one state, though the visit changes the server") {
    Fixture f;
    f.pod("b", "{}", "shop");
    f.pod("a", "{}", "shop");
    Names names;
    f.server.for_each("pods", [&](const json::object& pod) {
        names.push_back(full_name(pod));
        f.server.remove("pods", "shop", "b");
        f.pod("c", "{}", "shop");
    });
    CHECK(names == Names{"shop/a", "shop/b"});
    CHECK(full_names(f.server.list("pods")) == Names{"shop/a", "shop/c"});
    CHECK_THROWS_AS(f.server.for_each("nothing", {}), std::invalid_argument);
}

}  // namespace k8s_sd::test
