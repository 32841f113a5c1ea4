#include "sim/api_server_fixture.hpp"
#include "sim/protobuf_bodies.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <boost/json/serialize.hpp>

using namespace k8s_sd::test;
using Strings = std::vector<std::string>;

namespace {

const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/ns/leases";

json::object lease(const std::string& name, json::object spec = {{"holderIdentity", "me"}}) {
    return {{"kind", "Lease"},
            {"apiVersion", "coordination.k8s.io/v1"},
            {"metadata", json::object{{"name", name}}},
            {"spec", std::move(spec)}};
}

struct LeaseFixture : Fixture {
    /// Sends a request on a separate connection. \returns its client, with the response
    std::unique_ptr<RawClient> send(const std::string& method, const std::string& path,
                                    const std::string& body,
                                    const std::string& type = "application/json") {
        auto client = std::make_unique<RawClient>(context, server.connector());
        client->send(method + " " + path + " HTTP/1.1\r\nHost: sim\r\nContent-Type: " + type +
                     "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
        return client;
    }
    std::unique_ptr<RawClient> create(const json::object& object) {
        return send("POST", leases, json::serialize(object));
    }
    std::unique_ptr<RawClient> update(const std::string& name, const json::object& object) {
        return send("PUT", leases + "/" + name, json::serialize(object));
    }
    /// The stored object, to be changed and sent back.
    json::object stored(const std::string& name) { return *server.get("leases", "ns", name); }
};

std::string message(const RawClient& client) {
    return std::string(client.object().at("message").as_string());
}

std::string reason(const RawClient& client) {
    return std::string(client.object().at("reason").as_string());
}

}  // namespace

TEST_CASE("ApiServer: a Lease is created, read, renewed and deleted by HTTP") {
    LeaseFixture f;
    auto created = f.create(lease("a", {{"holderIdentity", "me"},
                                        {"leaseDurationSeconds", 15},
                                        {"renewTime", "2026-11-23T10:00:00.123456Z"},
                                        {"leaseTransitions", 0}}));
    CHECK(created->status() == 201);
    json::object object = created->object();
    CHECK(object.at("kind") == "Lease");
    CHECK(object.at("metadata").at("namespace") == "ns");
    CHECK_FALSE(object.at("metadata").at("uid").as_string().empty());
    CHECK(object == f.stored("a"));

    auto client = f.client();
    client.get(leases + "/a");
    CHECK(client.object() == object);
    client.get("/apis/coordination.k8s.io/v1/leases");
    CHECK(names(client.object()) == Strings{"a"});

    object["spec"].as_object()["renewTime"] = "2026-11-23T10:00:10.000000Z";
    auto updated = f.update("a", object);
    CHECK(updated->status() == 200);
    CHECK(updated->object().at("spec").at("renewTime") == "2026-11-23T10:00:10.000000Z");
    CHECK(updated->object().at("metadata").at("uid") == object.at("metadata").at("uid"));
    CHECK(updated->object().at("metadata").at("resourceVersion") !=
          object.at("metadata").at("resourceVersion"));

    auto deleted = f.send("DELETE", leases + "/a", "");
    CHECK(deleted->status() == 200);
    CHECK(deleted->object().at("status") == "Success");
    CHECK(f.server.count("leases") == 0);
    CHECK(f.send("DELETE", leases + "/a", "")->status() == 404);
}

TEST_CASE("ApiServer: watches of Leases see the writes of others") {
    LeaseFixture f;
    auto watch = f.client();
    watch.get(leases + "?watch=1&resourceVersion=1");
    f.create(lease("a"));
    json::object object = f.stored("a");
    object["spec"].as_object()["holderIdentity"] = "";
    f.update("a", object);
    f.update("a", f.stored("a"));  // unchanged: no event, no new version
    f.send("DELETE", leases + "/a", "{}");
    CHECK(watch.events() == Strings{"ADDED a 2", "MODIFIED a 3", "DELETED a 4"});
}

TEST_CASE("ApiServer: a Lease that exists is not created again") {
    LeaseFixture f;
    f.create(lease("a"));
    auto again = f.create(lease("a", {{"holderIdentity", "other"}}));
    CHECK(again->status() == 409);
    CHECK(reason(*again) == "AlreadyExists");
    CHECK(message(*again) == "leases.coordination.k8s.io \"a\" already exists");
    CHECK(f.stored("a").at("spec").at("holderIdentity") == "me");
}

TEST_CASE("ApiServer: of two who update a version of a Lease one has a conflict") {
    LeaseFixture f;
    f.create(lease("a"));
    const json::object seen = f.stored("a");
    json::object first = seen;
    first["spec"].as_object()["holderIdentity"] = "first";
    CHECK(f.update("a", first)->status() == 200);
    auto second = f.update("a", seen);
    CHECK(second->status() == 409);
    CHECK(reason(*second) == "Conflict");
    CHECK(message(*second) ==
          "Operation cannot be fulfilled on leases.coordination.k8s.io \"a\": the object has been "
          "modified; please apply your changes to the latest version and try again");
    CHECK(f.stored("a").at("spec").at("holderIdentity") == "first");
}

TEST_CASE("ApiServer: an update of a Lease must name the version it is made from") {
    LeaseFixture f;
    f.create(lease("a"));
    auto update = f.update("a", lease("a"));
    CHECK(update->status() == 422);
    CHECK(message(*update).ends_with(
        "metadata.resourceVersion: Invalid value: 0: must be specified for an update"));
}

TEST_CASE("ApiServer: a PUT creates a Lease, but not the one that was deleted") {
    LeaseFixture f;
    CHECK(f.update("a", lease("a"))->status() == 201);
    const json::object seen = f.stored("a");
    f.send("DELETE", leases + "/a", "");
    auto update = f.update("a", seen);
    CHECK(update->status() == 409);
    CHECK(message(*update).find("Precondition failed: UID in precondition: ") != std::string::npos);
    CHECK(f.server.count("leases") == 0);
    f.create(lease("a"));
    json::object stale = f.stored("a");
    stale["metadata"].as_object()["uid"] = seen.at("metadata").at("uid");
    CHECK(f.update("a", stale)->status() == 409);
}

TEST_CASE("ApiServer: a DELETE may say which Lease it means") {
    LeaseFixture f;
    f.create(lease("a"));
    const json::value metadata = f.stored("a").at("metadata");
    const std::string uid(metadata.at("uid").as_string());
    const std::string version(metadata.at("resourceVersion").as_string());
    const auto remove = [&](const std::string& uid_text, const std::string& version_text) {
        return f
            .send("DELETE", leases + "/a",
                  R"({"preconditions":{"uid":")" + uid_text + R"(","resourceVersion":")" +
                      version_text + R"("}})")
            ->status();
    };
    CHECK(remove("other", version) == 409);
    CHECK(remove(uid, "1") == 409);
    CHECK(f.server.count("leases") == 1);
    CHECK(remove(uid, version) == 200);
    CHECK(f.server.count("leases") == 0);
}

TEST_CASE("ApiServer: what no Lease may have is refused with 422") {
    LeaseFixture f;
    const auto [spec, cause] = GENERATE(table<std::string, std::string>({
        {R"({"leaseDurationSeconds":0})",
         "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"},
        {R"({"leaseDurationSeconds":-1})",
         "spec.leaseDurationSeconds: Invalid value: -1: must be greater than 0"},
        {R"({"leaseTransitions":-1})",
         "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"},
        {R"({"preferredHolder":"x"})",
         "spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined"},
    }));
    CAPTURE(spec);
    auto client = f.create(lease("a", json::parse(spec).as_object()));
    CHECK(client->status() == 422);
    CHECK(message(*client) == "Lease.coordination.k8s.io \"a\" is invalid: " + cause);
    CHECK(f.server.count("leases") == 0);
}

TEST_CASE("ApiServer: a Lease needs a name that can be one") {
    LeaseFixture f;
    const std::string name = GENERATE(as<std::string>{}, "", "A", "a/b", "-", "a..b",
                                      std::string("a\0b", 3), std::string(254, 'a'));
    CHECK(f.create(lease(name))->status() == 422);
    CHECK(f.server.count("leases") == 0);
}

TEST_CASE("ApiServer: a body that is no Lease is refused with 400") {
    LeaseFixture f;
    const std::string deep = std::string(100'000, '[');
    const std::string body = GENERATE_COPY(
        as<std::string>{}, "", "x", "[]", "null", "{", "{} {}", "\xff",
        R"({"kind":"Pod","apiVersion":"v1"})", R"({"kind":"Lease","apiVersion":"v1"})",
        R"({"metadata":[]})", R"({"metadata":{"name":1}})",
        R"({"metadata":{"name":"a","namespace":"other"}})",
        R"({"metadata":{"name":"a","labels":{"x":1}}})",
        R"({"metadata":{"name":"a","annotations":[]}})",
        R"({"metadata":{"name":"a","ownerReferences":{}}})",
        R"({"metadata":{"name":"a","ownerReferences":[1]}})",
        R"({"metadata":{"name":"a"},"spec":1})",
        R"({"metadata":{"name":"a"},"spec":{"holderIdentity":1}})",
        R"({"metadata":{"name":"a"},"spec":{"leaseDurationSeconds":"15"}})",
        R"({"metadata":{"name":"a"},"spec":{"leaseDurationSeconds":1.5}})",
        R"({"metadata":{"name":"a"},"spec":{"leaseDurationSeconds":3000000000}})",
        R"({"metadata":{"name":"a"},"spec":{"leaseTransitions":1e400}})", deep,
        R"({"metadata":{"name":"a"},"spec":)" + deep);
    CAPTURE(body.substr(0, 100));
    CHECK(f.send("POST", leases, body)->status() == 400);
    CHECK(f.send("PUT", leases + "/a", body)->status() == 400);
    CHECK(f.server.count("leases") == 0);
}

TEST_CASE("ApiServer: times of a Lease have six digits behind the point") {
    LeaseFixture f;
    const auto [time, status] = GENERATE(table<std::string, int>({
        {"2026-11-23T10:00:00.000000Z", 201},
        {"2026-11-23T10:00:00.123456+01:00", 201},
        {"2026-11-23T10:00:00Z", 400},
        {"2026-11-23T10:00:00.123Z", 400},
        {"2026-11-23T10:00:00.1234567Z", 400},
        {"2026-11-23T10:00:00.123456", 400},
        {"2026-11-23 10:00:00.123456Z", 400},
        {"2026-13-23T10:00:00.123456Z", 400},
        {"", 400},
        {"now", 400},
    }));
    CAPTURE(time);
    const std::string field = GENERATE("renewTime", "acquireTime");
    CHECK(f.create(lease("a", {{field, time}}))->status() == status);
}

TEST_CASE("ApiServer: nulls and unknown fields of a Lease are not kept") {
    LeaseFixture f;
    json::object object = lease("a", {{"holderIdentity", nullptr}, {"junk", "x"}});
    object["metadata"].as_object()["managedFields"] = json::array{1, 2};
    object["metadata"].as_object()["uid"] = "chosen";
    object["status"] = 1;
    CHECK(f.create(object)->status() == 201);
    const json::object stored = f.stored("a");
    CHECK(stored.at("spec") == json::object());
    CHECK(stored.at("metadata").at("uid") != "chosen");
    CHECK_FALSE(stored.contains("status"));
    CHECK_FALSE(stored.at("metadata").as_object().contains("managedFields"));
}

TEST_CASE("ApiServer: a Lease to be created has no version yet") {
    LeaseFixture f;
    json::object object = lease("a");
    object["metadata"].as_object()["resourceVersion"] = "1";
    CHECK(f.create(object)->status() == 500);
}

TEST_CASE("ApiServer: bodies other than JSON are refused with 415") {
    LeaseFixture f;
    const std::string body = json::serialize(lease("a"));
    CHECK(f.send("POST", leases, body, "application/vnd.kubernetes.protobuf")->status() == 415);
    CHECK(f.send("POST", leases, body, "application/json; charset=utf-8")->status() == 201);
}

TEST_CASE("ApiServer: a body of more than 1 MiB is not read") {
    LeaseFixture f;
    json::object object = lease("a");
    object["metadata"].as_object()["annotations"] =
        json::object{{"x", std::string(1024 * 1024, 'x')}};
    auto client = f.create(object);
    CHECK(client->status() == 400);
    CHECK(client->closed());
    CHECK(f.server.count("leases") == 0);
}

TEST_CASE("ApiServer: only Leases are written, by the methods that they have") {
    LeaseFixture f;
    CHECK(f.send("PATCH", leases + "/a", "{}")->status() == 405);
    CHECK(f.send("DELETE", leases, "")->status() == 405);
    CHECK(f.send("PUT", leases, "{}")->status() == 405);
    CHECK(f.send("POST", leases + "/a", "{}")->status() == 405);
    CHECK(f.send("POST", "/apis/coordination.k8s.io/v1/leases", "{}")->status() == 405);
    f.pod("a");
    CHECK(f.send("DELETE", "/api/v1/namespaces/default/pods/a", "")->status() == 405);
    CHECK(f.server.count("pods") == 1);
}

TEST_CASE("ApiServer: a refused write of a Lease names the missing verb") {
    LeaseFixture f;
    f.server.deny("leases");
    CHECK(message(*f.create(lease("a"))).find("cannot create resource \"leases\"") !=
          std::string::npos);
    auto update = f.update("a", lease("a"));
    CHECK(update->status() == 403);
    CHECK(message(*update).find("cannot update resource \"leases\"") != std::string::npos);
    CHECK(f.send("DELETE", leases + "/a", "")->status() == 403);
    f.server.allow("leases");
    CHECK(f.create(lease("a"))->status() == 201);
}

TEST_CASE("ApiServer: a Lease goes with the object that owns it") {
    LeaseFixture f;
    f.pod("p", "{}", "ns");
    const json::value uid = f.server.get("pods", "ns", "p")->at("metadata").at("uid");
    const json::object owner{{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", "p"}, {"uid", uid}};
    json::object owned = lease("owned");
    owned["metadata"].as_object()["ownerReferences"] = json::array{owner};
    json::object shared = lease("shared");
    json::object other = owner;
    other["uid"] = "other";
    shared["metadata"].as_object()["ownerReferences"] = json::array{owner, other};
    CHECK(f.create(owned)->status() == 201);
    CHECK(f.create(shared)->status() == 201);
    CHECK(f.create(lease("free"))->status() == 201);
    auto watch = f.client();
    watch.get(leases + "?watch=1&resourceVersion=" + f.server.resource_version());
    f.server.remove("pods", "ns", "p");
    f.settle();
    CHECK(watch.events().size() == 1);
    CHECK(watch.events().front().starts_with("DELETED owned"));
    CHECK(f.server.count("leases") == 2);
}

TEST_CASE("ApiServer: Leases in protobuf have the microseconds of their times") {
    LeaseFixture f;
    f.create(lease("a", {{"holderIdentity", "me"},
                         {"leaseDurationSeconds", 15},
                         {"renewTime", "1970-01-01T00:00:07.123456Z"}}));
    auto client = f.client();
    client.get(leases + "/a", "Accept: application/vnd.kubernetes.protobuf\r\n");
    const std::string spec = field(ProtobufBody(client.body()).message, 2);
    CHECK(field(spec, 1) == "me");
    CHECK(number_field(spec, 2) == 15);
    CHECK(number_field(field(spec, 4), 1) == 7);
    CHECK(number_field(field(spec, 4), 2) == 123'456'000);
}

TEST_CASE("ApiServer: records of requests have no bodies") {
    LeaseFixture f;
    std::string body;
    f.server.set_intercept([&](const k8s_sd::sim::Request& request) {
        body = request.body;
        return std::nullopt;
    });
    f.create(lease("a"));
    CHECK(json::parse(body) == lease("a"));
    CHECK(f.server.requests().back().request.body.empty());
}
