#include "sim/api_server_fixture.hpp"
#include "sim/protobuf_bodies.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace k8s_sd::test;
using Strings = std::vector<std::string>;

namespace {

const std::string watch_list = "/api/v1/pods?watch=1&allowWatchBookmarks=true&"
                               "sendInitialEvents=true&resourceVersionMatch=NotOlderThan";

/// The causes of a 422: "field: message".
Strings causes(const RawClient& client) {
    REQUIRE(client.status() == 422);
    const json::object status = client.object();
    CHECK(status.at("reason") == "Invalid");
    CHECK(status.at("details").at("kind") == "ListOptions");
    Strings all;
    for (const json::value& cause : status.at("details").at("causes").as_array()) {
        all.push_back(std::string(cause.at("field").as_string()) + ": " +
                      std::string(cause.at("message").as_string()));
    }
    return all;
}

const std::string requires_match =
    "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to "
    "NotOlderThan";
const std::string gate =
    "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList "
    "feature gate is enabled";

}  // namespace

TEST_CASE("ApiServer: initial events end with an annotated bookmark") {
    Fixture f;
    const std::string a = f.pod("a", R"({"v":"1"})");
    const std::string b = f.pod("b");
    auto client = f.client();
    const std::string query =
        "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    client.get(query + "&allowWatchBookmarks=true&labelSelector=v%3D1");
    CHECK(client.events() == Strings{"ADDED a " + a, "BOOKMARK - " + b + " initial-events-end"});
    const std::string c = f.pod("c", R"({"v":"1"})");
    CHECK(client.events().back() == "ADDED c " + c);

    auto quiet = f.client();
    quiet.get(query);
    CHECK(quiet.events().size() == 3);

    auto future = f.client();
    future.get(query + "&resourceVersion=999");
    CHECK(future.events() == Strings{"ERROR 504"});
    CHECK(future.ended());

    auto only_changes = f.client();
    only_changes.get(
        "/api/v1/pods?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan");
    CHECK(only_changes.events().empty());
}

TEST_CASE("ApiServer: initial events and their end come in protobuf and as metadata, too") {
    Fixture f;
    const std::string a = f.pod("a");
    auto whole = f.client();
    whole.get(watch_list, "Accept: application/vnd.kubernetes.protobuf\r\n");
    CHECK(summaries(whole.body()) ==
          Strings{"ADDED Pod a " + a, "BOOKMARK Pod  " + a + " initial-events-end"});
    auto partial = f.client();
    partial.get(watch_list, "Accept: application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;"
                            "g=meta.k8s.io;v=v1\r\n");
    CHECK(summaries(partial.body()) ==
          Strings{"ADDED PartialObjectMetadata a " + a,
                  "BOOKMARK PartialObjectMetadata  " + a + " initial-events-end"});
}

TEST_CASE("ApiServer: without objects the initial events end at once") {
    Fixture f;
    auto client = f.client();
    client.get(watch_list);
    CHECK(client.events() == Strings{"BOOKMARK - 1 initial-events-end"});
    const std::string a = f.pod("a");
    CHECK(client.events().back() == "ADDED a " + a);
}

TEST_CASE("ApiServer: a watch-list from a forgotten version shows the newest state") {
    Fixture f;
    const std::string a = f.pod("a");
    const std::string b = f.pod("b");
    f.server.compact();
    auto client = f.client();
    client.get(watch_list + "&resourceVersion=1");
    CHECK(client.events() ==
          Strings{"ADDED a " + a, "ADDED b " + b, "BOOKMARK - " + b + " initial-events-end"});
}

TEST_CASE("ApiServer: options that contradict a watch-list are named as the real server does") {
    Fixture f;
    auto client = f.client();
    client.get("/api/v1/pods?watch=1&sendInitialEvents=true");
    CHECK(causes(client) == Strings{requires_match});
    CHECK(client.object().at("message").as_string() ==
          "ListOptions.meta.k8s.io \"\" is invalid: " + requires_match);
    client.get("/api/v1/pods?watch=1&sendInitialEvents=false");
    CHECK(causes(client) == Strings{requires_match});
    client.get("/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=Exact");
    const std::string unsupported =
        "resourceVersionMatch: Unsupported value: \"Exact\": supported values: \"NotOlderThan\"";
    CHECK(causes(client) == Strings{requires_match, unsupported});
    CHECK(client.object().at("message").as_string() ==
          "ListOptions.meta.k8s.io \"\" is invalid: [" + requires_match + ", " + unsupported + "]");
    client.get("/api/v1/pods?watch=1&resourceVersionMatch=NotOlderThan");
    CHECK(causes(client) == Strings{"resourceVersionMatch: Forbidden: resourceVersionMatch is "
                                    "forbidden for watch unless sendInitialEvents is provided"});
    client.get(watch_list + "&continue=x");
    CHECK(causes(client) == Strings{"resourceVersionMatch: Forbidden: resourceVersionMatch is "
                                    "forbidden when continue is provided"});
    client.get("/api/v1/pods?sendInitialEvents=true");
    CHECK(causes(client) ==
          Strings{"sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"});
    client.get("/api/v1/pods?resourceVersion=1&resourceVersionMatch=Nonsense");
    CHECK(causes(client) == Strings{"resourceVersionMatch: Unsupported value: \"Nonsense\": "
                                    "supported values: \"Exact\", \"NotOlderThan\", \"\""});
    client.get(watch_list + "&resourceVersion=x");
    CHECK(client.status() == 400);
}

TEST_CASE("ApiServer: a server without the feature refuses initial events") {
    Fixture f(ApiServerOptions{.watch_list = false});
    const std::string a = f.pod("a");
    auto client = f.client();
    client.get(watch_list);
    CHECK(causes(client) == Strings{gate});
    CHECK(client.object().at("message").as_string() ==
          "ListOptions.meta.k8s.io \"\" is invalid: " + gate);
    client.get("/api/v1/pods?watch=1&sendInitialEvents=true");
    CHECK(causes(client) == Strings{requires_match, gate});
    client.get("/api/v1/pods?watch=1&allowWatchBookmarks=1");
    CHECK(client.events() == Strings{"ADDED a " + a});  // without an end
}

TEST_CASE("ApiServer: a much older server ignores that initial events are wanted") {
    Fixture f(ApiServerOptions{.ignore_initial_events = true});
    const std::string a = f.pod("a");
    auto begun = f.client();
    begun.get(watch_list + "&resourceVersion=" + a);
    CHECK(begun.status() == 200);
    CHECK(begun.events().empty());
    auto state = f.client();
    state.get(watch_list);
    CHECK(state.events() == Strings{"ADDED a " + a});
    f.advance(60s);
    CHECK(state.events().back() == "BOOKMARK - " + a);
    auto list = f.client();
    list.get("/api/v1/pods?sendInitialEvents=true");
    CHECK(list.status() == 200);
}

TEST_CASE("ApiServer: the end of the initial events can be withheld") {
    Fixture f(ApiServerOptions{.initial_events_end = false});
    const std::string a = f.pod("a");
    auto client = f.client();
    client.get(watch_list);
    CHECK(client.events() == Strings{"ADDED a " + a});
    f.advance(60s);
    CHECK(client.events() == Strings{"ADDED a " + a, "BOOKMARK - " + a});
}
