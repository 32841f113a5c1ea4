#include "k8s_sd/sim/shop.hpp"
#include "sim/api_server_fixture.hpp"
#include "sim/protobuf/schema.hpp"
#include "sim/protobuf_bodies.hpp"
#include "sim/store/resource_type.hpp"

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

using namespace k8s_sd::test;
namespace sim = k8s_sd::sim;
namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

namespace {

constexpr const char* accept_protobuf = "Accept: application/vnd.kubernetes.protobuf\r\n";

std::string slurp(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE(file);
    return {std::istreambuf_iterator<char>(file), {}};
}

bool has_header(const RawClient& client, const std::string& line) {
    return (client.header() + "\r\n").find("\r\n" + line + "\r\n") != std::string::npos;
}

/// Appends the paths of an object without a protobuf field to `missing`.
void find_missing(const sim::Message& message, const json::object& object, const std::string& path,
                  std::set<std::string>& missing);

const sim::Field* find_field(const sim::Message& message, std::string_view name) {
    for (const sim::Field& f : message) {
        if (f.presence == sim::Presence::inlined) {
            if (const sim::Field* inner = find_field(f.message, name)) return inner;
        }
        if (f.name == name) return &f;
    }
    return nullptr;
}

void find_missing(const sim::Field& f, const json::value& value, const std::string& path,
                  std::set<std::string>& missing) {
    if (f.kind != sim::FieldKind::message) return;
    if (const json::array* list = value.if_array()) {
        for (const json::value& element : *list) find_missing(f, element, path, missing);
    } else if (const json::object* object = value.if_object()) {
        find_missing(f.message, *object, path, missing);
    }
}

void find_missing(const sim::Message& message, const json::object& object, const std::string& path,
                  std::set<std::string>& missing) {
    for (const auto& [name, value] : object) {
        const std::string here = path + "." + std::string(name);
        const sim::Field* f = find_field(message, name);
        if (f) {
            find_missing(*f, value, here, missing);
        } else {
            missing.insert(here);
        }
    }
}

void find_missing(json::object object, const std::string& kind, std::set<std::string>& missing) {
    object.erase("kind");
    object.erase("apiVersion");
    find_missing(sim::find_message("v1", kind), object, kind, missing);
}

}  // namespace

TEST_CASE("ApiServer: protobuf lists are byte for byte what a real API server sends") {
    const fs::path data = fs::path(K8S_SD_TEST_DATA) / "protobuf";
    for (const std::string name : {"nodes", "pods", "services", "endpoints", "endpointslices"}) {
        INFO(name);
        Fixture f;
        f.server.load(slurp(data / (name + ".json")));
        auto client = f.client();
        client.get((name == "endpointslices" ? "/apis/discovery.k8s.io/v1/" : "/api/v1/") + name,
                   accept_protobuf);
        CHECK(client.status() == 200);
        CHECK(has_header(client, "Content-Type: application/vnd.kubernetes.protobuf"));
        CHECK((client.body() == slurp(data / (name + ".pb"))));  // too long to print
    }
}

TEST_CASE("ApiServer: every field of the shop and of the recordings has a number in protobuf") {
    std::set<std::string> missing;
    Fixture f;
    sim::Shop shop(f.server);
    for (int i = 0; i < 200; ++i) shop.step();
    f.settle();
    auto client = f.client();
    for (const sim::ResourceType& type : sim::resource_types()) {
        if (type.custom) continue;  // served in JSON only
        client.get((type.group.empty() ? "/api/" : "/apis/") + type.api_version() + "/" +
                   std::string(type.plural));
        const json::object list = client.object();
        for (const json::value& item : list.at("items").as_array()) {
            find_missing(item.as_object(), std::string(type.kind), missing);
        }
    }
    std::size_t recorded = 0;
    const fs::path recordings = fs::path(K8S_SD_TEST_DATA) / "conformance";
    for (const auto& entry : fs::recursive_directory_iterator(recordings)) {
        if (entry.path().parent_path().filename() != "api" || entry.path().extension() != ".json") {
            continue;
        }
        const json::object list = json::parse(slurp(entry.path())).as_object();
        std::string kind(list.at("kind").as_string());
        kind.resize(kind.size() - std::string_view("List").size());
        if (!list.at("items").is_array()) continue;
        for (const json::value& item : list.at("items").as_array()) {
            find_missing(item.as_object(), kind, missing);
            ++recorded;
        }
    }
    CHECK(recorded > 100);
    CHECK(missing == std::set<std::string>{});
}

TEST_CASE(
    "ApiServer: every resource is served in protobuf, with kind and version in the envelope") {
    Fixture f;
    auto client = f.client();
    for (const sim::ResourceType& type : sim::resource_types()) {
        if (type.custom) continue;  // served in JSON only
        client.get((type.group.empty() ? "/api/" : "/apis/") + type.api_version() + "/" +
                       std::string(type.plural),
                   accept_protobuf);
        const ProtobufBody body(client.body());
        CHECK(body.kind == std::string(type.kind) + "List");
        CHECK(body.api_version == type.api_version());
        CHECK(field(field(body.message, 1), 2) == "1");
        CHECK(sim::find_message("v1", type.kind).begin() != sim::find_message("v1", "").begin());
    }
}

TEST_CASE("ApiServer: a page in protobuf carries its continue token and what remains") {
    Fixture f;
    for (const char* name : {"a", "b", "c"}) f.pod(name);
    auto client = f.client();
    client.get("/api/v1/pods?limit=2", accept_protobuf);
    const std::string list = ProtobufBody(client.body()).message;
    const std::string metadata = field(list, 1);
    CHECK(fields(list, 2).size() == 2);
    CHECK(number_field(metadata, 4) == 1);
    client.get("/api/v1/pods?limit=2&continue=" + field(metadata, 3), accept_protobuf);
    const std::string rest = ProtobufBody(client.body()).message;
    REQUIRE(fields(rest, 2).size() == 1);
    CHECK(field(field(fields(rest, 2).front(), 1), 1) == "c");
    CHECK(field(field(rest, 1), 3).empty());
}

TEST_CASE("ApiServer: single objects and errors come in protobuf") {
    Fixture f;
    f.pod("a");
    auto client = f.client();
    client.get("/api/v1/namespaces/default/pods/a", accept_protobuf);
    const ProtobufBody pod(client.body());
    CHECK(pod.kind == "Pod");
    CHECK(field(field(pod.message, 1), 1) == "a");
    CHECK(field(field(pod.message, 2), 10) == "n1");

    client.get("/api/v1/namespaces/default/pods/b", accept_protobuf);
    CHECK(client.status() == 404);
    CHECK(has_header(client, "Content-Type: application/vnd.kubernetes.protobuf"));
    const ProtobufBody status(client.body());
    CHECK(status.kind == "Status");
    CHECK(status.api_version == "v1");
    CHECK(field(status.message, 2) == "Failure");
    CHECK(field(status.message, 3) == "pods \"b\" not found");
    CHECK(field(status.message, 4) == "NotFound");
    CHECK(field(field(status.message, 5), 1) == "b");
    CHECK(number_field(status.message, 6) == 404);

    f.server.set_token("secret");
    client.get("/api/v1/pods", accept_protobuf);
    CHECK(client.status() == 401);
    CHECK(number_field(ProtobufBody(client.body()).message, 6) == 401);
    client.get("/api/v1/pods");
    CHECK(client.object().at("code") == 401);
}

TEST_CASE("ApiServer: values that JSON and protobuf write differently") {
    Fixture f;
    f.server.apply(R"({"kind":"Secret","apiVersion":"v1","metadata":{"name":"s","namespace":"d",)"
                   R"("creationTimestamp":"2026-11-20T12:05:30Z","deletionTimestamp":null},)"
                   R"("data":{"b":"AAEC","a":"!"}})");
    f.server.apply(R"({"kind":"Service","apiVersion":"v1","metadata":{"name":"s","namespace":"d"},)"
                   R"("spec":{"ports":[{"port":80,"targetPort":"web"},{"port":-1,"targetPort":8}],)"
                   R"("type":17,"externalIPs":"none"}})");
    auto client = f.client();
    client.get("/api/v1/namespaces/d/secrets/s", accept_protobuf);
    const std::string secret = ProtobufBody(client.body()).message;
    const Strings data = fields(secret, 2);
    REQUIRE(data.size() == 2);
    CHECK(field(data[0], 1) == "a");
    CHECK(field(data[0], 2).empty());
    CHECK(field(data[1], 1) == "b");
    CHECK(field(data[1], 2) == std::string("\0\1\2", 3));
    const std::string metadata = field(secret, 1);
    CHECK(number_field(field(metadata, 8), 1) == 1795176330);
    CHECK(fields(metadata, 9).empty());

    client.get("/api/v1/namespaces/d/services/s", accept_protobuf);
    const std::string spec = field(ProtobufBody(client.body()).message, 2);
    const Strings ports = fields(spec, 1);
    REQUIRE(ports.size() == 2);
    CHECK(number_field(field(ports[0], 4), 1) == 1);
    CHECK(field(field(ports[0], 4), 3) == "web");
    CHECK(number_field(ports[1], 3) == -1);
    CHECK(number_field(field(ports[1], 4), 1) == 0);
    CHECK(number_field(field(ports[1], 4), 2) == 8);
    // A value of another type than the field counts as missing.
    CHECK(fields(spec, 4) == Strings{""});
    CHECK(fields(spec, 5).empty());
}

TEST_CASE("ApiServer: a watch in protobuf sends frames of events, bookmarks and errors") {
    ApiServerOptions options;
    options.bookmark_interval = 60s;
    Fixture f(options);
    const std::string first = f.pod("a");
    auto watch = f.client();
    watch.get("/api/v1/pods?watch=1&allowWatchBookmarks=1&resourceVersion=" + first,
              accept_protobuf);
    CHECK(watch.status() == 200);
    CHECK(has_header(watch, "Content-Type: application/vnd.kubernetes.protobuf;stream=watch"));
    const std::string second = f.pod("b");
    f.server.remove("pods", "default", "a");
    f.settle();
    const std::string third = f.server.resource_version();
    f.advance(60s);
    CHECK(summaries(watch.body()) ==
          Strings{"ADDED Pod b " + second, "DELETED Pod a " + third, "BOOKMARK Pod  " + third});
    // Zero values are part of a bookmark.
    const auto bookmark = protobuf_events(watch.body()).back();
    CHECK(fields(bookmark.object.message, 2).size() == 1);
    CHECK(fields(bookmark.object.message, 3).size() == 1);

    f.pod("c");
    f.server.compact();
    auto late = f.client();
    late.get("/api/v1/pods?watch=1&resourceVersion=" + first, accept_protobuf);
    const auto events = protobuf_events(late.body());
    REQUIRE(events.size() == 1);
    CHECK(events[0].type == "ERROR");
    CHECK(events[0].object.kind == "Status");
    CHECK(number_field(events[0].object.message, 6) == 410);
    CHECK(field(events[0].object.message, 4) == "Expired");
    CHECK(late.ended());
}

TEST_CASE("ApiServer: recorded events reach watches in protobuf") {
    Fixture f;
    auto watch = f.client();
    watch.get("/api/v1/pods?watch=1&allowWatchBookmarks=1&resourceVersion=1", accept_protobuf);
    f.server.replay("pods", R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1",)"
                            R"("metadata":{"name":"a","namespace":"d","resourceVersion":"7"}}})");
    f.server.replay("pods", R"({"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1",)"
                            R"("metadata":{"resourceVersion":"9"}}})");
    f.settle();
    CHECK(summaries(watch.body()) == Strings{"ADDED Pod a 7", "BOOKMARK Pod  9"});
    f.server.replay("pods", R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1",)"
                            R"("status":"Failure","reason":"Gone","code":410}})");
    f.settle();
    CHECK(watch.ended());
    const auto error = protobuf_events(watch.body()).back();
    CHECK(error.object.kind == "Status");
    CHECK(number_field(error.object.message, 6) == 410);
}

TEST_CASE("ApiServer: EndpointSlices of v1beta1 have that version's fields in protobuf") {
    Fixture f;
    f.server.apply(R"({"kind":"EndpointSlice","apiVersion":"discovery.k8s.io/v1","metadata":)"
                   R"({"name":"s","namespace":"default"},"addressType":"IPv4","endpoints":)"
                   R"([{"addresses":["1"],"zone":"z","deprecatedTopology":{"a":"b"},)"
                   R"("hints":{"forZones":[{"name":"h"}]}}]})");
    f.server.set_served("endpointslices", {"v1beta1", "v1"});
    auto client = f.client();
    const auto endpoint = [&](const std::string& version) {
        client.get("/apis/discovery.k8s.io/" + version + "/endpointslices", accept_protobuf);
        const ProtobufBody body(client.body());
        CHECK(body.api_version == "discovery.k8s.io/" + version);
        return field(field(body.message, 2), 2);
    };
    CHECK(field(field(endpoint("v1"), 5), 2) == "b");
    CHECK(field(endpoint("v1"), 7) == "z");
    CHECK(field(field(endpoint("v1"), 8), 1) == field(field(endpoint("v1beta1"), 7), 1));
    CHECK(field(field(endpoint("v1beta1"), 5), 2) == "b");
    CHECK(fields(endpoint("v1beta1"), 8).empty());
}

TEST_CASE("ApiServer: a frame that ends too early or lies about its length can be sent") {
    Fixture f;
    auto watch = f.client();
    watch.get("/api/v1/pods?watch=1&resourceVersion=1", accept_protobuf);
    f.server.send_to_watches("pods", std::string("\xff\xff\xff\xff\x0a", 5), ApiServer::After::end);
    f.settle();
    CHECK(watch.body() == std::string("\xff\xff\xff\xff\x0a", 5));
    CHECK(watch.ended());
}
