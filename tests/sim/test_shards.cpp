#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/text/url_text.hpp"
#include "sim/api_server_fixture.hpp"
#include "sim/protobuf_bodies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace k8s_sd::test;
using k8s_sd::detail::fnv1a64;
using Gate = ApiServer::ShardGate;
using Strings = std::vector<std::string>;

namespace {

const std::string lower_uids =
    "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')";
const std::string upper_uids =
    "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')";
constexpr const char* as_partial_list =
    "Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1\r\n";

std::string sharded(std::string target, std::string_view selector) {
    k8s_sd::detail::append_query(target, "shardSelector", selector);
    return target;
}

/// A server with pods "p0" to "p19", with uids chosen by the server.
struct ShardFixture : Fixture {
    explicit ShardFixture(Gate setting = Gate::on) {
        for (int i = 0; i < 20; ++i) pod("p" + std::to_string(i));
        server.set_shard_gate(setting);
    }
    /// Names of pods in the upper or lower half of all hashes.
    Strings half(bool upper) {
        Strings found;
        for (const json::object& pod : server.list("pods")) {
            const json::object& metadata = pod.at("metadata").as_object();
            if (upper == (fnv1a64(metadata.at("uid").as_string()) >= 1ULL << 63U))
                found.emplace_back(metadata.at("name").as_string());
        }
        return found;
    }
};

json::value shard_info(const RawClient& client) {
    const json::object list = client.object();
    const json::object& metadata = list.at("metadata").as_object();
    return metadata.contains("shardInfo") ? metadata.at("shardInfo") : json::value();
}

Strings names_of_events(const RawClient& client) {
    Strings found;
    for (const std::string& event : client.events()) {
        found.push_back(event.substr(0, event.rfind(' ')));
    }
    return found;
}

Strings added(const Strings& names) {
    Strings events;
    for (const std::string& name : names) events.push_back("ADDED " + name);
    return events;
}

}  // namespace

TEST_CASE("ApiServer: a list with a shardSelector has the objects whose uid is in its ranges") {
    ShardFixture f;
    auto client = f.client();
    client.get(sharded("/api/v1/pods", lower_uids));
    CHECK(names(client.object()) == f.half(false));
    CHECK(shard_info(client) == json::value{{"selector", lower_uids}});
    client.get(sharded("/api/v1/pods", upper_uids));
    CHECK(names(client.object()) == f.half(true));
    CHECK(f.half(true).size() > 4);
    CHECK(f.half(false).size() > 4);
    client.get(sharded("/api/v1/pods", upper_uids + " || " + lower_uids));
    CHECK(names(client.object()).size() == 20);
    client.get("/api/v1/pods");
    CHECK(names(client.object()).size() == 20);
    CHECK(shard_info(client).is_null());
}

TEST_CASE("ApiServer: shardInfo has the selector in its canonical spelling") {
    ShardFixture f;
    auto client = f.client();
    client.get(sharded("/api/v1/pods", "shardRange( object.metadata.uid,\"0x8000000000000000\" ,"
                                       "'0x10000000000000000')||shardRange(object.metadata.uid,"
                                       "'0x00000000000000ff','0x0000000000000100')"));
    CHECK(shard_info(client).at("selector").as_string() ==
          upper_uids +
              " || shardRange(object.metadata.uid, '0x00000000000000ff', '0x0000000000000100')");
}

TEST_CASE("ApiServer: a shard can be of namespaces") {
    ShardFixture f;
    f.pod("q", "{}", "other");
    REQUIRE(fnv1a64("default") == 0xebada5168620c5feU);
    auto client = f.client();
    client.get(sharded(
        "/api/v1/pods",
        "shardRange(object.metadata.namespace, '0xebada5168620c5fe', '0xebada5168620c5ff')"));
    CHECK(names(client.object()).size() == 20);
    client.get(sharded(
        "/api/v1/pods",
        "shardRange(object.metadata.namespace, '0xebada5168620c5ff', '0x10000000000000000')"));
    CHECK(names(client.object()) ==
          (fnv1a64("other") > 0xebada5168620c5feU ? Strings{"q"} : Strings{}));
}

TEST_CASE("ApiServer: a shardSelector that cannot be read is an internal error") {
    ShardFixture f;
    const std::string bad = GENERATE(
        "x", "shardRange(object.metadata.uid, '0x0', '0x1')",
        "shardRange(object.metadata.uid, '0x00000000000000FF', '0x1000000000000000')",
        "shardRange(object.metadata.uid, '0x1000000000000000', '0x1000000000000000')",
        "shardRange(object.metadata.uid, '0x2000000000000000', '0x1000000000000000')",
        "shardRange(object.metadata.uid, '0x10000000000000000', '0x10000000000000000')",
        "shardRange(object.metadata.uid, '0x0000000000000000', '0x20000000000000000')",
        "shardRange(object.metadata.name, '0x0000000000000000', '0x1000000000000000')",
        "shardRange(object.metadata.uid, '0x0000000000000000')",
        "shardRange(object.metadata.uid, '0x0000000000000000', '0x1000000000000000'",
        "shardRange(object.metadata.uid, '0x0000000000000000', '0x1000000000000000",
        "shardRange(object.metadata.uid, '0x0000000000000000', '0x1000000000000000') && true",
        "shardRange(object.metadata.uid, '0x0000000000000000', '0x1000000000000000') ||",
        "shardRange(object.metadata.uid, '0x0000000000000000', '0x1000000000000000') || "
        "shardRange(object.metadata.namespace, '0x0000000000000000', '0x1000000000000000')");
    CAPTURE(bad);
    auto client = f.client();
    client.get(sharded("/api/v1/pods", bad));
    CHECK(client.status() == 500);
    CHECK_FALSE(client.object().contains("reason"));
    client.get(sharded("/api/v1/pods?watch=1", bad));
    CHECK(client.status() == 500);
    f.server.set_shard_gate(Gate::off);
    client.get(sharded("/api/v1/pods", bad));
    CHECK(client.status() == 200);
}

TEST_CASE("ApiServer: an empty shardSelector selects everything") {
    ShardFixture f;
    auto client = f.client();
    client.get("/api/v1/pods?shardSelector=");
    CHECK(names(client.object()).size() == 20);
    CHECK(shard_info(client).is_null());
}

TEST_CASE("ApiServer: without the feature gate a shardSelector is ignored") {
    ShardFixture f(Gate::off);
    auto client = f.client();
    client.get(sharded("/api/v1/pods", lower_uids));
    CHECK(names(client.object()).size() == 20);
    CHECK(shard_info(client).is_null());
    client.get(sharded("/api/v1/pods?watch=1", lower_uids));
    CHECK(client.events().size() == 20);
}

TEST_CASE("ApiServer: lists of metadata and tables are sharded without saying so") {
    ShardFixture f;
    auto client = f.client();
    client.get(sharded("/api/v1/pods", lower_uids), as_partial_list);
    REQUIRE(client.object().at("kind") == "PartialObjectMetadataList");
    CHECK(names(client.object()) == f.half(false));
    CHECK(shard_info(client).is_null());
    client.get(sharded("/api/v1/pods", lower_uids),
               "Accept: application/json;as=Table;g=meta.k8s.io;v=v1\r\n");
    CHECK(client.object().at("rows").as_array().size() == f.half(false).size());
    CHECK(shard_info(client).is_null());
}

TEST_CASE("ApiServer: lists in protobuf say which shard they are") {
    ShardFixture f;
    auto client = f.client();
    client.get(sharded("/api/v1/pods", lower_uids),
               "Accept: application/vnd.kubernetes.protobuf\r\n");
    const std::string list = ProtobufBody(client.body()).message;
    CHECK(fields(list, 2).size() == f.half(false).size());
    CHECK(field(field(field(list, 1), 5), 1) == lower_uids);
}

TEST_CASE("ApiServer: pages of a shard are full pages") {
    ShardFixture f;
    auto client = f.client();
    Strings all;
    std::string next;
    do {
        client.get(sharded("/api/v1/pods?limit=3&continue=" + next, lower_uids));
        const json::object list = client.object();
        const Strings page = names(list);
        all.insert(all.end(), page.begin(), page.end());
        const json::object& metadata = list.at("metadata").as_object();
        next = metadata.contains("continue") ? std::string(metadata.at("continue").as_string())
                                             : std::string();
        CHECK((page.size() == 3 || next.empty()));
        CHECK_FALSE(metadata.contains("remainingItemCount"));
        CHECK(metadata.contains("shardInfo"));
    } while (!next.empty());
    CHECK(all == f.half(false));
}

TEST_CASE("ApiServer: a watch of a shard sends its changes, and bookmarks") {
    ShardFixture f;
    auto client = f.client();
    const std::string now = f.server.resource_version();
    client.get(
        sharded("/api/v1/pods?watch=1&allowWatchBookmarks=1&resourceVersion=" + now, lower_uids));
    const std::string in = f.half(false).front();
    const std::string out = f.half(true).front();
    f.pod(in, R"({"x":"1"})");
    f.pod(out, R"({"x":"1"})");
    f.server.remove("pods", "default", in);
    f.server.remove("pods", "default", out);
    f.settle();
    CHECK(names_of_events(client) == Strings{"MODIFIED " + in, "DELETED " + in});
    f.advance(60s);
    CHECK(client.events().back() == "BOOKMARK - " + f.server.resource_version());
    CHECK(client.body().find("shardInfo") == std::string::npos);
}

TEST_CASE("ApiServer: the initial events of a watch are those of its shard, and end") {
    ShardFixture f;
    auto client = f.client();
    client.get(sharded("/api/v1/pods?watch=1&allowWatchBookmarks=1&sendInitialEvents=true&"
                       "resourceVersionMatch=NotOlderThan",
                       lower_uids));
    Strings events = added(f.half(false));
    const std::string end = "BOOKMARK - " + f.server.resource_version() + " initial-events-end";
    CHECK(client.events().back() == end);
    CHECK(client.events().size() == events.size() + 1);
    for (std::size_t i = 0; i < events.size(); ++i) CHECK(names_of_events(client)[i] == events[i]);
}

TEST_CASE("ApiServer: servers of which some know shards list a shard and watch everything") {
    ShardFixture f(Gate::mixed);
    auto client = f.client();
    client.get(sharded("/api/v1/pods", lower_uids));
    CHECK(names(client.object()) == f.half(false));
    CHECK(shard_info(client) == json::value{{"selector", lower_uids}});
    client.get(sharded("/api/v1/pods?watch=1", lower_uids));
    CHECK(client.events().size() == 20);
}

TEST_CASE("ApiServer: a watch from a version of the future is silent until that version") {
    Fixture f;
    auto client = f.client();
    client.get("/api/v1/pods?watch=1&allowWatchBookmarks=1&resourceVersion=5");
    CHECK(client.status() == 200);
    REQUIRE(f.pod("a") == "2");
    f.advance(60s);
    CHECK(client.body().empty());
    f.pod("b");
    f.pod("c");
    REQUIRE(f.pod("d") == "5");
    CHECK(client.body().empty());
    const std::string version = f.pod("e");
    CHECK(client.events() == Strings{"ADDED e " + version});
    f.advance(60s);
    CHECK(client.events().back() == "BOOKMARK - " + version);
}
