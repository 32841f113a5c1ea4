#include "sim/api_server_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace k8s_sd::test;
using Strings = std::vector<std::string>;

TEST_CASE("ApiServer: a watch from a version sends the changes after it") {
    Fixture f;
    const std::string a = f.pod("a");
    const std::string b = f.pod("b");
    auto client = f.client();
    client.get("/api/v1/pods?watch=1&resourceVersion=" + a);
    CHECK(client.status() == 200);
    CHECK(client.header().find("Transfer-Encoding: chunked") != std::string::npos);
    CHECK(client.events() == Strings{"ADDED b " + b});
    const std::string changed = f.pod("a", R"({"x":"1"})");
    f.server.remove("pods", "default", "b");
    f.settle();
    const std::string removed = f.server.resource_version();
    CHECK(client.events() ==
          Strings{"ADDED b " + b, "MODIFIED a " + changed, "DELETED b " + removed});
    CHECK_FALSE(client.ended());
    CHECK(f.server.open_watches() == 1);
}

TEST_CASE("ApiServer: the header of a watch comes before any event") {
    Fixture f;
    auto client = f.client();
    client.get("/api/v1/pods?watch=true&resourceVersion=" + f.server.resource_version());
    CHECK(client.status() == 200);
    CHECK(client.body().empty());
}

TEST_CASE("ApiServer: objects in watch events carry kind and apiVersion") {
    Fixture f;
    auto client = f.client();
    client.get("/api/v1/pods?watch=1");
    f.pod("a");
    const json::object event = json::parse(client.body()).as_object();
    CHECK(event.at("object").at("kind") == "Pod");
    CHECK(event.at("object").at("apiVersion") == "v1");
}

TEST_CASE("ApiServer: a watch without a version begins with what exists") {
    Fixture f;
    const std::string b = f.pod("b");
    const std::string a = f.pod("a");
    for (const char* query : {"", "&resourceVersion=", "&resourceVersion=0"}) {
        auto client = f.client();
        client.get(std::string("/api/v1/pods?watch=1") + query);
        CHECK(client.events() == Strings{"ADDED a " + a, "ADDED b " + b});
        client.get("/api/v1/pods");  // does not end the watch
        CHECK(f.server.open_watches() == 1);
        client.close();
    }
    CHECK(f.server.open_watches() == 0);
}

TEST_CASE("ApiServer: objects enter and leave a watch with a selector") {
    Fixture f;
    auto client = f.client();
    client.get("/api/v1/pods?watch=1&labelSelector=app%3Dweb&resourceVersion=1");
    f.pod("a", R"({"app":"db"})");
    CHECK(client.events().empty());
    const std::string in = f.pod("a", R"({"app":"web"})");
    const std::string inside = f.pod("a", R"({"app":"web","x":"1"})");
    const std::string out = f.pod("a", R"({"app":"db","x":"2"})");
    f.pod("a", R"({"app":"db","x":"3"})");
    CHECK(client.events() == Strings{"ADDED a " + in, "MODIFIED a " + inside, "DELETED a " + out});
    // the state before the change does not match
    CHECK(client.body().find(R"("x":"2")") == std::string::npos);
    f.server.remove("pods", "default", "a");
    f.settle();
    CHECK(client.events().size() == 3);
}

TEST_CASE("ApiServer: a watch of one name begins with that object") {
    Fixture f;
    f.pod("a");
    const std::string b = f.pod("b");
    const std::string other_b = f.pod("b", "{}", "other");
    const bool in_namespace = GENERATE(true, false);
    const std::string path =
        in_namespace ? "/api/v1/namespaces/default/pods" : std::string("/api/v1/pods");
    Strings expected{"ADDED b " + b};
    if (!in_namespace) expected.push_back("ADDED b " + other_b);
    auto client = f.client();
    client.get(path + "?watch=1&fieldSelector=metadata.name%3Db");
    CHECK(client.events() == expected);
    auto other = f.client();
    other.get(path + "?watch=1&fieldSelector=metadata.name%3Db,metadata.name%3Da");
    CHECK(other.events().empty());
    auto later = f.client();
    later.get(path + "?watch=1&fieldSelector=metadata.name%3Dc");
    CHECK(later.events().empty());
    const std::string c = f.pod("c");
    CHECK(later.events() == Strings{"ADDED c " + c});
    CHECK(client.events() == expected);
    f.server.remove("pods", "default", "b");
    f.settle();
    expected.push_back("DELETED b " + f.server.resource_version());
    CHECK(client.events() == expected);
}

TEST_CASE("ApiServer: a watch of one name begins with that object, if its labels match") {
    Fixture f;
    const std::string b = f.pod("b", R"({"app":"web"})");
    const std::string path = "/api/v1/namespaces/default/pods?watch=1&fieldSelector="
                             "metadata.name%3Db&labelSelector=app%3D";
    auto client = f.client();
    client.get(path + "web");
    CHECK(client.events() == Strings{"ADDED b " + b});
    auto other = f.client();
    other.get(path + "db");
    CHECK(other.events().empty());
    const std::string changed = f.pod("b", R"({"app":"db"})");
    CHECK(client.events() == Strings{"ADDED b " + b, "DELETED b " + changed});
    CHECK(other.events() == Strings{"ADDED b " + changed});
}

TEST_CASE("ApiServer: a watch of one name can send the end of its initial events") {
    Fixture f;
    const std::string a = f.pod("a");
    const std::string b = f.pod("b");
    const std::string path =
        "/api/v1/namespaces/default/pods?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&"
        "resourceVersionMatch=NotOlderThan&fieldSelector=metadata.name%3D";
    auto client = f.client();
    client.get(path + "a");
    const std::string end = "BOOKMARK - " + b + " initial-events-end";
    CHECK(client.events() == Strings{"ADDED a " + a, end});
    auto missing = f.client();
    missing.get(path + "c");
    CHECK(missing.events() == Strings{end});
}

TEST_CASE("ApiServer: a watch of one name begins with that object, of a kind without namespaces") {
    Fixture f;
    const auto node = [&](const std::string& name) {
        return f.server.apply(R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name +
                              R"("}})");
    };
    node("a");
    const std::string b = node("b");
    auto client = f.client();
    client.get("/api/v1/nodes?watch=1&fieldSelector=metadata.name%3Db");
    CHECK(client.events() == Strings{"ADDED b " + b});
    node("a");
    f.server.remove("nodes", "", "b");
    f.settle();
    CHECK(client.events() == Strings{"ADDED b " + b, "DELETED b " + f.server.resource_version()});
}

TEST_CASE("ApiServer: a watch of a namespace sees only it") {
    Fixture f;
    auto client = f.client();
    client.get("/api/v1/namespaces/x/pods?watch=1&fieldSelector=spec.nodeName%3Dn1");
    f.pod("a", "{}", "y");
    const std::string b = f.pod("b", "{}", "x");
    f.pod("c", "{}", "x", "n2");
    CHECK(client.events() == Strings{"ADDED b " + b});
}

TEST_CASE("ApiServer: bookmarks come at their interval and two seconds before the end") {
    Fixture f(ApiServerOptions{.bookmark_interval = 60s});
    auto client = f.client();
    client.get(
        "/api/v1/nodes?watch=1&allowWatchBookmarks=true&resourceVersion=1&timeoutSeconds=100");
    auto without = f.client();
    without.get("/api/v1/nodes?watch=1&resourceVersion=1&timeoutSeconds=100");
    f.pod("a");
    f.advance(59s);
    CHECK(client.events().empty());
    f.advance(1s);
    const std::string now = f.server.resource_version();
    CHECK(client.events() == Strings{"BOOKMARK - " + now});
    f.advance(38s);
    CHECK(client.events().size() == 2);
    CHECK_FALSE(client.ended());
    f.advance(2s);
    CHECK(client.events().size() == 2);
    CHECK(client.ended());
    CHECK(without.events().empty());
    CHECK(without.ended());
    CHECK(f.server.open_watches() == 0);
    client.get("/api/v1/nodes");
    CHECK(client.status() == 200);
}

TEST_CASE("ApiServer: a server may never send bookmarks") {
    Fixture f(ApiServerOptions{.bookmarks = false});
    auto client = f.client();
    client.get("/api/v1/nodes?watch=1&allowWatchBookmarks=true&timeoutSeconds=300");
    f.advance(299s);
    CHECK(client.body().empty());
    f.advance(1s);
    CHECK(client.ended());
}

TEST_CASE("ApiServer: a watch from a compacted version gets an ERROR event with 410") {
    Fixture f;
    const std::string old = f.pod("a");
    const std::string now = f.pod("b");
    f.server.compact();
    auto client = f.client();
    client.get("/api/v1/pods?watch=1&resourceVersion=" + old);
    CHECK(client.status() == 200);
    CHECK(client.body() ==
          R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":)"
          R"("Failure","message":"too old resource version: )" +
              old + " (" + now + R"-()","reason":"Expired","code":410}})-" + "\n");
    CHECK(client.ended());
    client.get("/api/v1/pods?watch=1&resourceVersion=" + now);
    CHECK(client.events().empty());
    CHECK_FALSE(client.ended());
}

TEST_CASE("ApiServer: compaction does not disturb a running watch") {
    Fixture f;
    auto client = f.client();
    client.get("/api/v1/pods?watch=1&resourceVersion=1");
    f.pod("a");
    f.server.compact();
    f.pod("b");
    CHECK(client.events().size() == 2);
}

TEST_CASE("ApiServer: history is bounded") {
    Fixture f(ApiServerOptions{.history = 3});
    const std::string first = f.pod("a");
    for (int i = 0; i < 5; ++i) f.pod("b" + std::to_string(i));
    auto client = f.client();
    client.get("/api/v1/pods?watch=1&resourceVersion=" + first);
    CHECK(client.events() == Strings{"ERROR 410"});
}

TEST_CASE("ApiServer: many pending events are written in one go") {
    Fixture f;
    auto client = f.client();
    client.get("/api/v1/pods?watch=1&resourceVersion=1");
    for (int i = 0; i < 50; ++i) {
        f.server.apply(R"({"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"d","name":")" +
                       std::to_string(i) + R"("}})");
    }
    const std::size_t before = client.received().size();
    f.settle();
    CHECK(client.events().size() == 50);
    const std::string added = client.received().substr(before);
    const std::size_t chunk_size = std::stoul(added, nullptr, 16);
    CHECK(added.size() == added.find("\r\n") + 2 + chunk_size + 2);  // a single chunk
}

TEST_CASE("ApiServer: a client that does not read is cut off, others are not") {
    Fixture f(ApiServerOptions{.max_unread_events = 100});
    TransportFaults small;
    small.buffer = 512;
    auto slow = f.client(small);
    auto quick = f.client();
    slow.stop_reading();
    slow.get("/api/v1/pods?watch=1&resourceVersion=1");
    quick.get("/api/v1/pods?watch=1&resourceVersion=1");
    for (int i = 0; i < 300; ++i) f.pod("p" + std::to_string(i));
    CHECK(quick.events().size() == 300);
    slow.resume_reading();
    CHECK(slow.ended());
    CHECK(slow.events().size() < 300);
    CHECK(f.server.open_watches() == 1);
}

TEST_CASE("ApiServer: a watch can be sent garbage, ended and dropped") {
    Fixture f;
    auto client = f.client();
    client.get("/api/v1/pods?watch=1&resourceVersion=1");
    auto other = f.client();
    other.get("/api/v1/nodes?watch=1&resourceVersion=1");
    f.server.send_to_watches("pods", "{\"type\":\"ADD");
    f.settle();
    CHECK(client.body() == "{\"type\":\"ADD");
    f.server.send_to_watches("pods", "\n", ApiServer::After::end);
    f.settle();
    CHECK(client.body() == "{\"type\":\"ADD\n");
    CHECK(client.ended());
    CHECK_FALSE(client.closed());
    client.get("/api/v1/pods?watch=1&resourceVersion=1");
    f.server.send_to_watches("pods", "xy", ApiServer::After::drop);
    f.settle();
    CHECK(client.body() == "xy");
    CHECK_FALSE(client.ended());
    CHECK(client.closed());
    CHECK(other.body().empty());
    f.server.end_watches();
    f.settle();
    CHECK(other.ended());
}

TEST_CASE("ApiServer: watches that are ended send what has happened before") {
    Fixture f;
    auto client = f.client();
    client.get("/api/v1/nodes?watch=1&resourceVersion=1");
    f.server.apply(R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n"}})");
    f.server.end_watches();
    f.settle();
    CHECK(client.events() == Strings{"ADDED n 2"});
    CHECK(client.ended());
}

TEST_CASE("ApiServer: a recorded list is served as it is") {
    Fixture f;
    f.server.load(R"({"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"270"},)"
                  R"("items":[{"metadata":{"name":"n2","uid":"u2","resourceVersion":"12"}},)"
                  R"({"metadata":{"name":"n1","uid":"u1","resourceVersion":"200"}}]})");
    CHECK(f.server.resource_version() == "270");
    CHECK(f.server.count("nodes") == 2);
    auto client = f.client();
    client.get("/api/v1/nodes");
    CHECK(client.body() ==
          R"({"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"270"},"items":[)"
          R"({"metadata":{"name":"n1","uid":"u1","resourceVersion":"200"}},)"
          R"({"metadata":{"name":"n2","uid":"u2","resourceVersion":"12"}}]})"
          "\n");
    client.get("/api/v1/nodes?watch=1&resourceVersion=270&allowWatchBookmarks=1");
    f.server.replay("nodes", R"({"type":"MODIFIED","object":{"kind":"Node","apiVersion":"v1",)"
                             R"("metadata":{"name":"n1","resourceVersion":"280"}}})");
    f.server.replay("nodes", R"({"type":"DELETED","object":{"kind":"Node","apiVersion":"v1",)"
                             R"("metadata":{"name":"n2","resourceVersion":"281"}}})");
    f.server.replay("nodes", R"({"type":"BOOKMARK","object":{"kind":"Node","apiVersion":"v1",)"
                             R"("metadata":{"resourceVersion":"290"}}})");
    f.settle();
    CHECK(client.events() == Strings{"MODIFIED n1 280", "DELETED n2 281", "BOOKMARK - 290"});
    CHECK(f.server.resource_version() == "290");
    f.server.replay("nodes", R"({"type":"ERROR","object":{"kind":"Status","metadata":{},)"
                             R"("code":410}})");
    f.settle();
    CHECK(client.events().back() == "ERROR 410");
    CHECK(client.ended());
}

TEST_CASE("ApiServer: loading a list anew ends running watches with 410") {
    Fixture f;
    const std::string list = R"({"kind":"NodeList","apiVersion":"v1","metadata":)"
                             R"({"resourceVersion":"9"},"items":null})";
    f.server.load(list);
    auto client = f.client();
    client.get("/api/v1/nodes?watch=1&resourceVersion=9");
    f.server.load(list);
    f.settle();
    CHECK(client.events() == Strings{"ERROR 410"});
    CHECK(client.ended());
}

TEST_CASE("ApiServer: recordings of the wrong shape are refused") {
    Fixture f;
    for (
        const char* text :
        {"null", "{}", R"({"kind":"PodList"})", R"({"kind":"Pod","apiVersion":"v1"})",
         R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"x"}})",
         R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[1]})",
         R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[{}]})"}) {
        INFO(text);
        CHECK_THROWS_AS(f.server.load(text), std::invalid_argument);
    }
    for (const char* text : {"1", "{}", R"({"type":"ADDED"})", R"({"type":"ADDED","object":{}})",
                             R"({"type":"NEW","object":{}})"}) {
        INFO(text);
        CHECK_THROWS_AS(f.server.replay("pods", text), std::invalid_argument);
    }
    CHECK_THROWS_AS(f.server.replay("nothings", "{}"), std::invalid_argument);
}

TEST_CASE("ApiServer: a table watch names its columns in the first event only") {
    Fixture f;
    f.pod("a");
    auto client = f.client();
    client.get("/api/v1/pods?watch=1", "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n");
    f.pod("b");
    const std::string body = client.body();
    const auto first = json::parse(body.substr(0, body.find('\n'))).as_object();
    const auto second = json::parse(body.substr(body.find('\n') + 1)).as_object();
    CHECK(first.at("object").at("columnDefinitions").is_array());
    CHECK(second.at("object").at("columnDefinitions").is_null());
    CHECK(second.at("object").at("rows").at(0).at("cells").at(0) == "b");
}

TEST_CASE("ApiServer: a thousand watches of ten thousand objects share their text") {
    Fixture f;
    for (int i = 0; i < 10'000; ++i) {
        f.server.apply(
            R"({"kind":"Service","apiVersion":"v1","metadata":{"namespace":"d","name":")" +
            std::to_string(i) + R"("}})");
    }
    f.settle();
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < 1'000; ++i) {
        clients.push_back(std::make_unique<RawClient>(f.context, f.server.connector()));
        clients.back()->get("/api/v1/services?watch=1&resourceVersion=" +
                            f.server.resource_version());
    }
    CHECK(f.server.open_watches() == 1'000);
    f.server.remove("services", "d", "7");
    f.settle();
    for (const auto& client : clients) CHECK(client->events().size() == 1);
}
