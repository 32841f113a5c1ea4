#include "sim/api_server_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>
#include <vector>

using namespace k8s_sd::test;
using Strings = std::vector<std::string>;

TEST_CASE("ApiServer: an empty list has the shape of the real server's") {
    Fixture f;
    auto client = f.client();
    client.get("/api/v1/pods");
    CHECK(client.status() == 200);
    CHECK(client.header().find("Content-Type: application/json") != std::string::npos);
    CHECK(client.body() ==
          "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"1\"},"
          "\"items\":[]}\n");
    client.get("/apis/discovery.k8s.io/v1/namespaces/none/endpointslices");
    CHECK(client.object().at("kind") == "EndpointSliceList");
    CHECK(client.object().at("apiVersion") == "discovery.k8s.io/v1");
}

TEST_CASE("ApiServer: list items are sorted by namespace and name and carry no kind") {
    Fixture f;
    f.pod("b", "{}", "zeta");
    f.pod("z", "{}", "alpha");
    f.pod("a", "{}", "zeta");
    auto client = f.client();
    client.get("/api/v1/pods");
    const json::object list = client.object();
    CHECK(names(list) == Strings{"z", "a", "b"});
    CHECK_FALSE(list.at("items").as_array()[0].as_object().contains("kind"));
    CHECK(list.at("metadata").at("resourceVersion").as_string() == f.server.resource_version());
    client.get("/api/v1/namespaces/zeta/pods");
    CHECK(names(client.object()) == Strings{"a", "b"});
}

TEST_CASE("ApiServer: apply assigns a version and a uid, and ignores what changes nothing") {
    Fixture f;
    const std::string first = f.pod("a");
    const json::object before = *f.server.get("pods", "default", "a");
    CHECK(f.pod("a") == first);
    const std::string second = f.pod("a", R"({"x":"1"})");
    CHECK(std::stoul(second) > std::stoul(first));
    const json::object after = *f.server.get("Pod", "default", "a");
    CHECK(before.at("metadata").at("uid") == after.at("metadata").at("uid"));
    CHECK(after.at("metadata").at("resourceVersion").as_string() == second);
    CHECK(f.server.remove("pods", "default", "a"));
    CHECK_FALSE(f.server.remove("pods", "default", "a"));
    f.pod("a");
    CHECK(f.server.get("pods", "default", "a")->at("metadata").at("uid") !=
          before.at("metadata").at("uid"));
}

TEST_CASE("ApiServer: apply refuses what is not an object of a known kind") {
    Fixture f;
    for (const char* text :
         {"{}", "[]", R"({"kind":"Pod"})", R"({"kind":"Pod","apiVersion":"v1"})",
          R"({"kind":"Pod","apiVersion":"v1","metadata":{}})",
          R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}})",
          R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a/b","namespace":"c"}})",
          R"({"kind":"Pod","apiVersion":"apps/v1","metadata":{"name":"a","namespace":"b"}})"}) {
        INFO(text);
        CHECK_THROWS_AS(f.server.apply(std::string_view(text)), std::invalid_argument);
    }
    CHECK_THROWS(f.server.apply(std::string_view("{\"kind\":")));
}

TEST_CASE("ApiServer: a single object can be read, a missing one is a 404 Status") {
    Fixture f;
    f.pod("a");
    auto client = f.client();
    client.get("/api/v1/namespaces/default/pods/a");
    CHECK(client.object().at("kind") == "Pod");
    CHECK(client.object().at("metadata").at("name") == "a");
    client.get("/api/v1/namespaces/default/pods/b");
    CHECK(client.status() == 404);
    CHECK(client.body() ==
          R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods )"
          R"(\"b\" not found","reason":"NotFound","details":{"name":"b","kind":"pods"},"code":404})"
          "\n");
    client.get("/apis/apps/v1/namespaces/default/replicasets/b");
    CHECK(client.object().at("message") == "replicasets.apps \"b\" not found");
}

TEST_CASE("ApiServer: paths that name nothing answer 404") {
    Fixture f;
    auto client = f.client();
    for (const char* path :
         {"/api/v1/nothings", "/apis/apps/v1/pods", "/api/v2/pods", "/api/v1/namespaces/a/nodes",
          "/api/v1/pods/a", "/api/v1//pods", "/api/v1/namespaces/a/pods/b/log", "/", "/openapi/v2",
          "/api/v1/pods/../pods", "/%2e"}) {
        INFO(path);
        client.get(path);
        CHECK(client.status() == 404);
    }
}

TEST_CASE("ApiServer: writes by HTTP are refused with 405") {
    Fixture f;
    auto client = f.client();
    client.send(
        "POST /api/v1/namespaces/a/pods HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}");
    CHECK(client.status() == 405);
    CHECK(client.object().at("reason") == "MethodNotAllowed");
}

TEST_CASE("ApiServer: label and field selectors filter lists") {
    Fixture f;
    f.pod("a", R"({"app":"web"})", "default", "n1");
    f.pod("b", R"({"app":"db"})", "default", "n2");
    f.pod("c", "{}", "other", "n2");
    auto client = f.client();
    const auto listed = [&](const std::string& query) {
        client.get("/api/v1/pods?" + query);
        return names(client.object());
    };
    CHECK(listed("labelSelector=app%3Dweb") == Strings{"a"});
    CHECK(listed("labelSelector=app+in+(web,db)") == Strings{"a", "b"});
    CHECK(listed("labelSelector=!app") == Strings{"c"});
    CHECK(listed("fieldSelector=spec.nodeName%3Dn2") == Strings{"b", "c"});
    CHECK(listed("fieldSelector=metadata.namespace!%3Ddefault") == Strings{"c"});
    CHECK(listed("fieldSelector=status.phase=Running,metadata.name=b") == Strings{"b"});
    CHECK(listed("fieldSelector=spec.hostNetwork=false").size() == 3);
    client.get("/api/v1/pods?fieldSelector=spec.foo%3D1");
    CHECK(client.status() == 400);
    CHECK(client.object().at("message") ==
          "Unable to find \"/v1, Resource=pods\" that match label selector \"\", field selector "
          "\"spec.foo=1\": field label not supported: spec.foo");
    client.get("/api/v1/pods?labelSelector=a%3D%3D%3D");
    CHECK(client.status() == 400);
}

TEST_CASE("ApiServer: pages of one chain show one version") {
    Fixture f;
    for (const char* name : {"a", "b", "c", "d", "e"}) f.pod(name);
    auto client = f.client();
    client.get("/api/v1/pods?limit=2");
    json::object page = client.object();
    const json::value version = page.at("metadata").at("resourceVersion");
    CHECK(names(page) == Strings{"a", "b"});
    CHECK(page.at("metadata").at("remainingItemCount") == 3);

    f.server.remove("pods", "default", "d");
    f.pod("c", R"({"changed":"yes"})");
    f.pod("aa");
    Strings rest;
    for (int pages = 0; page.at("metadata").as_object().contains("continue"); ++pages) {
        REQUIRE(pages < 5);
        client.get("/api/v1/pods?limit=2&continue=" +
                   std::string(page.at("metadata").at("continue").as_string()));
        page = client.object();
        CHECK(page.at("metadata").at("resourceVersion") == version);
        for (const std::string& name : names(page)) rest.push_back(name);
    }
    CHECK(rest == Strings{"c", "d", "e"});
    CHECK_FALSE(page.at("metadata").as_object().contains("remainingItemCount"));
}

TEST_CASE("ApiServer: an expired continue token answers 410 with one that goes on inconsistently") {
    Fixture f;
    for (const char* name : {"a", "b", "c"}) f.pod(name);
    auto client = f.client();
    client.get("/api/v1/pods?limit=1");
    const std::string token(client.object().at("metadata").at("continue").as_string());
    f.pod("d");
    f.server.compact();
    client.get("/api/v1/pods?limit=1&continue=" + token);
    CHECK(client.status() == 410);
    CHECK(client.object().at("reason") == "Expired");
    const std::string next(client.object().at("metadata").at("continue").as_string());
    client.get("/api/v1/pods?continue=" + next);
    CHECK(names(client.object()) == Strings{"b", "c", "d"});
}

TEST_CASE("ApiServer: a continue token that was not made here answers 400") {
    Fixture f;
    f.pod("a");
    auto client = f.client();
    for (const char* token : {"x", "!!!", "e30", "bnVsbA", "W10", "eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ",
                              "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6IngiLCJzdGFydCI6Ii8ifQ"}) {
        INFO(token);
        client.get(std::string("/api/v1/pods?continue=") + token);
        CHECK(client.status() == 400);
    }
}

TEST_CASE("ApiServer: resourceVersion of a list means what the API documents") {
    Fixture f;
    const std::string old = f.pod("a");
    const std::string now = f.pod("b");
    auto client = f.client();
    const auto listed = [&](const std::string& query) {
        client.get("/api/v1/pods?" + query);
        return client.status() == 200 ? names(client.object()) : Strings{};
    };
    CHECK(listed("resourceVersion=0&limit=1") == Strings{"a", "b"});
    CHECK(listed("resourceVersion=" + old) == Strings{"a", "b"});
    CHECK(listed("resourceVersionMatch=NotOlderThan&limit=1&resourceVersion=" + old).size() == 2);
    CHECK(listed("resourceVersionMatch=Exact&resourceVersion=" + old) == Strings{"a"});
    CHECK(client.object().at("metadata").at("resourceVersion").as_string() == old);
    CHECK(listed("limit=9&resourceVersion=" + old) == Strings{"a"});

    listed("resourceVersion=999&resourceVersionMatch=NotOlderThan");
    CHECK(client.status() == 504);
    CHECK(client.header().find("Retry-After: 1") != std::string::npos);
    CHECK(client.object().at("message").as_string() ==
          "Timeout: Too large resource version: 999, current: " + now);
    CHECK(client.object().at("details").at("causes").at(0).at("reason") ==
          "ResourceVersionTooLarge");

    f.pod("c");
    f.server.compact();
    listed("resourceVersionMatch=Exact&resourceVersion=" + old);
    CHECK(client.status() == 410);
    CHECK(client.object().at("message") == "The resourceVersion for the provided list is too old.");
    CHECK(listed("resourceVersionMatch=NotOlderThan&resourceVersion=" + old).size() == 3);
}

TEST_CASE("ApiServer: contradicting list options answer 422, unreadable ones 400") {
    Fixture f;
    f.pod("a");
    f.pod("b");
    auto client = f.client();
    client.get("/api/v1/pods?limit=1");
    const std::string token(client.object().at("metadata").at("continue").as_string());
    const auto status = [&](const std::string& query) {
        client.get("/api/v1/pods?" + query);
        return client.status();
    };
    CHECK(status("resourceVersionMatch=Exact") == 422);
    CHECK(client.object().at("details").at("kind") == "ListOptions");
    CHECK(status("resourceVersionMatch=Exact&resourceVersion=0") == 422);
    CHECK(status("resourceVersionMatch=Nonsense&resourceVersion=1") == 422);
    CHECK(status("sendInitialEvents=true") == 422);
    CHECK(status("resourceVersionMatch=Exact&resourceVersion=1&continue=" + token) == 422);
    CHECK(status("watch=1&sendInitialEvents=true") == 422);
    CHECK(status("watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=1") == 422);
    CHECK(status("watch=1&sendInitialEvents=true&resourceVersionMatch=Exact") == 422);
    CHECK(status("resourceVersion=1&continue=" + token) == 400);
    CHECK(status("resourceVersion=x") == 400);
    CHECK(status("resourceVersion=-1") == 400);
    CHECK(status("limit=99999999999999999999999") == 400);
    CHECK(status("watch=1&timeoutSeconds=soon") == 400);
}

TEST_CASE("ApiServer: one connection serves many requests, also sent ahead") {
    Fixture f;
    f.pod("a");
    auto client = f.client();
    client.send("GET /api/v1/pods HTTP/1.1\r\nHost: a\r\n\r\n"
                "GET /api/v1/nodes HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(client.received().find("PodList") < client.received().find("NodeList"));
    CHECK(f.server.requests().size() == 2);
    CHECK(f.server.open_connections() == 1);
    client.get("/api/v1/pods", "Connection: close\r\n");
    CHECK(client.closed());
    CHECK(f.server.open_connections() == 0);
}

TEST_CASE("ApiServer: requests arrive byte by byte, answers leave byte by byte") {
    Fixture f;
    f.pod("a");
    TransportFaults faults;
    faults.max_read = 1;
    auto client = f.client(faults);
    for (const char c : std::string("GET /api/v1/pods HTTP/1.1\r\nHost: a\r\n\r\n")) {
        client.send(std::string(1, c));
    }
    CHECK(names(client.object()) == Strings{"a"});
}

TEST_CASE("ApiServer: a long list is sent in chunks") {
    Fixture f;
    for (int i = 0; i < 400; ++i) {
        f.pod("q" + std::to_string(i), R"({"pad":")" + std::string(500, 'x') + "\"}");
    }
    auto client = f.client();
    client.get("/api/v1/pods");
    CHECK(client.header().find("Transfer-Encoding: chunked") != std::string::npos);
    CHECK(client.ended());
    CHECK(names(client.object()).size() == 400);
}

TEST_CASE("ApiServer: what is not HTTP is answered with 400 and the connection closed") {
    Fixture f;
    for (const std::string& bytes :
         {std::string("nonsense\r\n\r\n"), std::string("\0\1\2\3\r\n\r\n", 8),
          std::string("GET / HTTP/9.9\r\n\r\n"), std::string("GET /a b c HTTP/1.1\r\n\r\n"),
          std::string("POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"),
          std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 15)}) {
        auto client = f.client();
        client.send(bytes);
        CHECK(client.status() == 400);
        CHECK(client.closed());
    }
    auto endless = f.client();
    for (int i = 0; i < 40 && !endless.closed(); ++i) endless.send(std::string(32 * 1024, 'a'));
    CHECK(endless.closed());
    CHECK(f.server.open_connections() == 0);
}

TEST_CASE("ApiServer: a request that a proxy could read otherwise is refused") {
    Fixture f;
    const auto with = [](const std::string& headers) {
        return "POST /api/v1/namespaces/a/pods HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n";
    };
    const std::string chunks = "2\r\n{}\r\n0\r\n\r\n";
    for (const std::string& bytes :
         {with("Transfer-Encoding: xchunked\r\n") + chunks,
          with("Transfer-Encoding: chunked, identity\r\n") + chunks,
          with("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n") + chunks,
          with("Transfer-Encoding: chunked\r\nContent-Length: 2\r\n") + chunks,
          with("Content-Length: 2\r\nContent-Length: 3\r\n") + "{}",
          with("Content-Length: 2, 2\r\n") + "{}", with("Host: b\r\n"), with("X: a\r\n b: c\r\n"),
          with("X: a\r\n\tb: c\r\n"), std::string("GET /api/v1/pods HTTP/1.1\r\n\r\n"),
          "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks}) {
        CAPTURE(bytes);
        auto client = f.client();
        client.send(bytes + "GET /api/v1/pods HTTP/1.1\r\nHost: a\r\n\r\n");
        CHECK(client.status() == 400);
        CHECK(client.received().find("HTTP/1.1", 1) == std::string::npos);
        CHECK(client.closed());
    }
}

TEST_CASE("ApiServer: a token is required once one is set") {
    Fixture f(ApiServerOptions{.token = "s3cret"});
    auto client = f.client();
    client.get("/api/v1/pods");
    CHECK(client.status() == 401);
    CHECK(client.object().at("message") == "Unauthorized");
    CHECK(client.body().find("s3cret") == std::string::npos);
    client.get("/api/v1/pods", "Authorization: Bearer s3cret\r\n");
    CHECK(client.status() == 200);
    f.server.set_token("rotated");
    client.get("/api/v1/pods", "Authorization: Bearer s3cret\r\n");
    CHECK(client.status() == 401);
}

TEST_CASE("ApiServer: a denied resource answers 403 as RBAC does") {
    Fixture f;
    f.server.deny("pods");
    f.server.deny("replicasets");
    auto client = f.client();
    client.get("/api/v1/pods");
    CHECK(client.status() == 403);
    CHECK(client.object().at("message") ==
          "pods is forbidden: User \"system:unsecured\" cannot list resource \"pods\" in API group "
          "\"\" at the cluster scope");
    client.get("/apis/apps/v1/namespaces/a/replicasets?watch=true");
    CHECK(client.object().at("message") ==
          "replicasets.apps is forbidden: User \"system:unsecured\" cannot watch resource "
          "\"replicasets\" in API group \"apps\" in the namespace \"a\"");
    f.server.allow("pods");
    client.get("/api/v1/pods");
    CHECK(client.status() == 200);
}

TEST_CASE("ApiServer: requests outside the path prefix answer 404") {
    Fixture f(ApiServerOptions{.path_prefix = "/k8s/c1"});
    auto client = f.client();
    client.get("/api/v1/pods");
    CHECK(client.status() == 404);
    client.get("/k8s/c1/api/v1/pods");
    CHECK(client.status() == 200);
    CHECK(f.server.url() == "http://sim.invalid/k8s/c1");
}

TEST_CASE("ApiServer: kubectl's tables and metadata-only lists are negotiated") {
    Fixture f;
    f.pod("a", R"({"app":"web"})");
    auto client = f.client();
    client.get("/api/v1/pods",
               "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json\r\n");
    CHECK(client.object().at("kind") == "Table");
    CHECK(client.object().at("rows").at(0).at("cells").at(0) == "a");
    client.get("/api/v1/pods",
               "Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1\r\n");
    CHECK(client.object().at("kind") == "PartialObjectMetadataList");
    const json::object item = client.object().at("items").at(0).as_object();
    CHECK(item.at("metadata").at("labels").at("app") == "web");
    CHECK_FALSE(item.contains("spec"));
}

TEST_CASE("ApiServer: requests() returns the received requests") {
    Fixture f;
    f.server.deny("nodes");
    auto client = f.client();
    client.get("/api/v1/pods?limit=5&labelSelector=a%20in%20(b)", "User-Agent: me\r\n");
    client.get("/api/v1/nodes");
    const auto requests = f.server.requests();
    REQUIRE(requests.size() == 2);
    CHECK(requests[0].request.path == "/api/v1/pods");
    CHECK(requests[0].request.param("labelSelector") == "a in (b)");
    CHECK(requests[0].request.header("user-agent") == "me");
    CHECK(requests[0].status == 200);
    CHECK(requests[1].status == 403);
    f.server.clear_requests();
    CHECK(f.server.requests().empty());
}

TEST_CASE("ApiServer: a resource is served in the versions that are set, and discovery says so") {
    Fixture f;
    f.server.apply(R"({"kind":"EndpointSlice","apiVersion":"discovery.k8s.io/v1","metadata":)"
                   R"({"name":"s","namespace":"default"},"addressType":"IPv4","endpoints":)"
                   R"([{"addresses":["1"],"deprecatedTopology":{"a":"b"}}]})");
    const std::string group = "/apis/discovery.k8s.io";
    auto client = f.client();
    const auto status = [&](const std::string& path) {
        client.get(path);
        return client.status();
    };
    CHECK(status(group + "/v1/endpointslices") == 200);
    CHECK(status(group + "/v1beta1/endpointslices") == 404);
    f.server.set_served("endpointslices", {"v1beta1"});
    CHECK(status(group + "/v1/endpointslices") == 404);
    CHECK(status(group + "/v1/namespaces/default/endpointslices/s") == 404);
    CHECK(status(group + "/v1beta1/namespaces/default/endpointslices") == 200);
    CHECK(client.object().at("apiVersion") == "discovery.k8s.io/v1beta1");
    const json::object list = client.object();
    const json::value& endpoint = list.at("items").at(0).at("endpoints").at(0);
    CHECK(endpoint.at("topology").at("a") == "b");
    CHECK_FALSE(endpoint.as_object().contains("deprecatedTopology"));
    CHECK(status(group) == 200);
    CHECK(client.object().at("kind") == "APIGroup");
    CHECK(client.object().at("versions").as_array().size() == 1);
    CHECK(client.object().at("preferredVersion").at("version") == "v1beta1");
    CHECK(status(group + "/v1beta1") == 200);
    CHECK(status(group + "/v1") == 404);

    auto watcher = f.client();
    watcher.get(group + "/v1beta1/endpointslices?watch=1&resourceVersion=1");
    CHECK(watcher.status() == 200);
    f.server.set_served("endpointslices", {"v1beta1", "v1"});
    f.settle();
    CHECK(watcher.ended());
    CHECK(status(group) == 200);
    CHECK(client.object().at("versions").as_array().size() == 2);
    f.server.set_served("endpointslices", {});
    CHECK(status(group) == 404);
    CHECK(status(group + "/v1/endpointslices") == 404);
    CHECK(f.server.count("endpointslices") == 1);
    CHECK_THROWS_AS(f.server.set_served("nothing", {}), std::invalid_argument);
}

TEST_CASE("ApiServer: the group of Ingresses has v1 without them, as it was before 1.19") {
    Fixture f;
    f.server.set_served("ingresses", {"v1beta1"});
    auto client = f.client();
    const auto names = [&](const std::string& version) {
        client.get("/apis/networking.k8s.io/" + version);
        const json::object list = client.object();
        std::set<std::string> found;
        for (const json::value& resource : list.at("resources").as_array())
            found.insert(std::string(resource.at("name").as_string()));
        return found;
    };
    CHECK(names("v1") == std::set<std::string>{"networkpolicies"});
    CHECK(names("v1beta1") == std::set<std::string>{"ingresses"});
    client.get("/apis/networking.k8s.io");
    CHECK(client.object().at("preferredVersion").at("version") == "v1");
    client.get("/apis/networking.k8s.io/v1/ingresses");
    CHECK(client.status() == 404);
    client.get("/apis/networking.k8s.io/v1/networkpolicies");
    CHECK(client.status() == 200);
}
