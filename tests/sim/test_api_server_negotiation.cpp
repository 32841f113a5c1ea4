#include "sim/api_server_fixture.hpp"
#include "sim/protobuf_bodies.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace k8s_sd::test;

namespace {

const std::string protobuf = "application/vnd.kubernetes.protobuf";
const std::string json_type = "application/json";

const std::string partial_list = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const std::string partial = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

/// The media type of the response; the status if it is not 200.
std::string answer(RawClient& client, const std::string& target, const std::string& accept) {
    client.get(target, "Accept: " + accept + "\r\n");
    if (client.status() != 200) return std::to_string(client.status());
    const std::string header = client.header();
    const std::size_t begin = header.find("Content-Type: ") + 14;
    return header.substr(begin, header.find("\r\n", begin) - begin);
}

std::string answer(const std::string& accept, const ApiServerOptions& options = {}) {
    Fixture f(options);
    auto client = f.client();
    return answer(client, "/api/v1/pods", accept);
}

}  // namespace

TEST_CASE("ApiServer: the Accept header is read as the real server reads it") {
    CHECK(answer("") == json_type);
    CHECK(answer("*/*") == json_type);
    CHECK(answer("*") == json_type);
    CHECK(answer("application/*") == json_type);
    CHECK(answer(protobuf) == protobuf);
    CHECK(answer("  " + protobuf + " ; charset=utf-8 ") == protobuf);
    CHECK(answer(protobuf + ",application/json;q=0.9") == protobuf);
    CHECK(answer("application/json;q=0.9, " + protobuf) == protobuf);
    CHECK(answer(protobuf + ";q=0.5,application/json;q=0.6") == json_type);
    CHECK(answer("application/json," + protobuf) == json_type);
    CHECK(answer("text/html,*/*;q=0.1") == json_type);
    // The more specific type has precedence, regardless of its quality.
    CHECK(answer("*/*, " + protobuf + ";q=0.1") == protobuf);
    CHECK(answer(protobuf + ";stream=watch") == protobuf);
    CHECK(answer(protobuf + ";stream=other") == "406");
    CHECK(answer("text/html") == "406");
    CHECK(answer("application") == "406");
    CHECK(answer("application/json/x") == "406");
    CHECK(answer("*/json") == "406");
    CHECK(answer(",;=,") == "406");
    CHECK(answer("Application/JSON") == "406");
}

TEST_CASE("ApiServer: what it accepts is named in a 406 Status") {
    Fixture f;
    auto client = f.client();
    client.get("/api/v1/pods", "Accept: text/html\r\n");
    CHECK(client.object().at("reason") == "NotAcceptable");
    CHECK(client.object().at("message") ==
          "only the following media types are accepted: application/json, "
          "application/vnd.kubernetes.protobuf");
    client.get("/api/v1/pods?watch=1", "Accept: text/html\r\n");
    CHECK(client.status() == 406);
}

TEST_CASE("ApiServer: without protobuf it answers what else is accepted, or 406") {
    ApiServerOptions options;
    options.protobuf = false;
    CHECK(answer(protobuf + ",application/json;q=0.9", options) == json_type);
    CHECK(answer(protobuf, options) == "406");
    Fixture f(options);
    auto client = f.client();
    CHECK(answer(client, "/api/v1/pods?watch=1", protobuf) == "406");
    CHECK(client.object().at("message") ==
          "only the following media types are accepted: application/json");
    CHECK(answer(client, "/api/v1/pods?watch=1", protobuf + ",*/*") == json_type);
}

TEST_CASE("ApiServer: an Accept header of many parts is read to its end") {
    std::string many;
    for (int i = 0; i < 2'000; ++i) many += "a/b;q=0." + std::to_string(i) + ",";
    CHECK(answer(many) == "406");
    CHECK(answer(many + protobuf) == protobuf);
}

TEST_CASE("ApiServer: lists are reduced to metadata, in JSON and in protobuf") {
    Fixture f;
    const std::string version = f.pod("a", R"({"app":"web"})");
    auto client = f.client();
    CHECK(answer(client, "/api/v1/pods", json_type + partial_list) == json_type);
    const json::object list = client.object();
    CHECK(list.at("kind") == "PartialObjectMetadataList");
    CHECK(list.at("apiVersion") == "meta.k8s.io/v1");
    CHECK(list.at("metadata").at("resourceVersion").as_string() == version);
    const json::object item = list.at("items").at(0).as_object();
    CHECK(item.at("kind") == "PartialObjectMetadata");
    CHECK(item.at("metadata").at("labels").at("app") == "web");
    CHECK(item.size() == 3);

    CHECK(answer(client, "/api/v1/pods", protobuf + partial_list) == protobuf);
    const ProtobufBody body(client.body());
    CHECK(body.kind == "PartialObjectMetadataList");
    CHECK(body.api_version == "meta.k8s.io/v1");
    CHECK(field(field(body.message, 1), 2) == version);
    const std::string object = field(body.message, 2);
    CHECK(field(field(object, 1), 1) == "a");
    CHECK(field(field(field(object, 1), 11), 2) == "web");
    CHECK(fields(object, 2).empty());
}

TEST_CASE("ApiServer: single objects and watches are reduced to metadata") {
    Fixture f;
    const std::string version = f.pod("a");
    auto client = f.client();
    CHECK(answer(client, "/api/v1/namespaces/default/pods/a", json_type + partial) == json_type);
    CHECK(client.object().at("kind") == "PartialObjectMetadata");
    CHECK(answer(client, "/api/v1/namespaces/default/pods/a", protobuf + partial) == protobuf);
    CHECK(ProtobufBody(client.body()).kind == "PartialObjectMetadata");

    auto watch = f.client();
    CHECK(answer(watch, "/api/v1/pods?watch=1&allowWatchBookmarks=1", json_type + partial) ==
          json_type);
    CHECK(watch.events() ==
          std::vector<std::string>{"ADDED a " + version,
                                   "BOOKMARK - " + version + " initial-events-end"});
    CHECK(watch.body().find("spec") == std::string::npos);
    auto stream = f.client();
    CHECK(answer(stream, "/api/v1/pods?watch=1&resourceVersion=1", protobuf + partial) ==
          protobuf + ";stream=watch");
    const auto events = protobuf_events(stream.body());
    REQUIRE(events.size() == 1);
    CHECK(events[0].object.api_version == "meta.k8s.io/v1");
    CHECK(fields(events[0].object.message, 2).empty());
}

TEST_CASE("ApiServer: partial objects have another name in lists") {
    Fixture f;
    f.pod("a");
    auto client = f.client();
    CHECK(answer(client, "/api/v1/pods", json_type + partial) == "406");
    CHECK(client.object().at("message") ==
          "you requested PartialObjectMetadata, but the requested object is a list");
    const std::string object = "/api/v1/namespaces/default/pods/a";
    CHECK(answer(client, object, json_type + partial_list) == "406");
    CHECK(client.object().at("message") ==
          "you requested PartialObjectMetadataList, but the requested object is not a list");
    CHECK(answer(client, "/api/v1/pods?watch=1", json_type + partial_list) == "406");
}

TEST_CASE("ApiServer: what is to be shown in another form is refused unless it is known") {
    for (const char* form : {";as=Table;g=meta.k8s.io;v=v2", ";as=Table", ";as=Nothing",
                             ";as=Nothing;g=meta.k8s.io;v=v1", ";g=meta.k8s.io",
                             ";as=PartialObjectMetadataList;g=apps;v=v1"}) {
        INFO(form);
        CHECK(answer(json_type + form) == "406");
        CHECK(answer(json_type + form + "," + protobuf) == protobuf);
    }
    CHECK(answer(protobuf + ";as=Table;g=meta.k8s.io;v=v1") == "406");
    CHECK(answer(json_type + ";charset=utf-8;pretty=1") == json_type);
}

TEST_CASE("ApiServer: a server before partial objects answers what else is accepted, or 406") {
    ApiServerOptions options;
    options.metadata_only = false;
    CHECK(answer(json_type + partial_list, options) == "406");
    Fixture f(options);
    f.pod("a");
    auto client = f.client();
    CHECK(answer(client, "/api/v1/pods", json_type + partial_list + "," + json_type) == json_type);
    CHECK(client.object().at("kind") == "PodList");
    CHECK(answer(client, "/api/v1/pods", json_type + ";as=Table;g=meta.k8s.io;v=v1") == json_type);
    CHECK(client.object().at("kind") == "Table");
}

TEST_CASE("ApiServer: errors of requests for other forms are Status objects in JSON") {
    Fixture f;
    f.server.deny("pods");
    auto client = f.client();
    CHECK(answer(client, "/api/v1/pods", protobuf + partial_list) == "403");
    CHECK(client.object().at("reason") == "Forbidden");
    CHECK(answer(client, "/api/v1/pods", json_type + partial_list + "," + protobuf) == "403");
    CHECK(ProtobufBody(client.body()).kind == "Status");
    CHECK(answer(client, "/api/v1/pods?watch=1", protobuf + ";stream=watch") == "403");
    CHECK(client.header().find("Content-Type: " + protobuf + "\r\n") != std::string::npos);
}

TEST_CASE("ApiServer: protobuf can be refused, or answered with JSON") {
    Fixture f;
    f.pod("a");
    auto client = f.client();
    const std::string both = protobuf + ",application/json;q=0.9";
    using Fault = ApiServer::EncodingFault;
    const auto answers = [&](Fault fault, const std::string& accept) {
        f.server.set_encoding_fault(fault);
        const std::string list = answer(client, "/api/v1/pods", accept);
        auto watch = f.client();
        CHECK(answer(watch, "/api/v1/pods?watch=1", accept) ==
              (list == protobuf ? protobuf + ";stream=watch" : list));
        return list;
    };
    CHECK(answers(Fault::refuse_protobuf, both) == "406");
    CHECK(client.object().at("reason") == "NotAcceptable");
    CHECK(answers(Fault::refuse_protobuf, json_type) == json_type);
    CHECK(answers(Fault::unsupported_media_type, both) == "415");
    CHECK(client.object().at("reason") == "UnsupportedMediaType");
    CHECK(answers(Fault::json_for_protobuf, both) == json_type);
    CHECK(names(client.object()).size() == 1);
    f.server.deny("pods");
    CHECK(answers(Fault::json_for_protobuf, both) == "403");
    CHECK(client.object().at("reason") == "Forbidden");
    f.server.allow("pods");
    CHECK(answers(Fault::none, both) == protobuf);
}

TEST_CASE("ApiServer: managedFields are left out on request, if the feature is on") {
    const std::string_view dropped = "application/json;drop=metadata.managedFields";
    for (const bool on : {false, true}) {
        Fixture f(ApiServerOptions{.drop_managed_fields = on});
        f.server.apply(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a",)"
                       R"("namespace":"default","managedFields":[{"manager":"kubelet"}]}})");
        auto client = f.client();
        const auto has_them = [&](const std::string& target, std::string_view accept) {
            client.get(target, "Accept: " + std::string(accept) + "\r\n");
            CHECK(client.status() == 200);
            CHECK(client.body().find("\"name\":\"a\"") != std::string::npos);
            return client.body().find("managedFields") != std::string::npos;
        };
        for (const char* target : {"/api/v1/pods", "/api/v1/namespaces/default/pods/a"}) {
            CHECK(has_them(target, "application/json"));
            CHECK(has_them(target, "application/json;drop=metadata.labels"));
            CHECK(has_them(target, dropped) != on);
            CHECK(has_them(target, "application/json;drop=metadata.x+metadata.managedFields") !=
                  on);
        }
        CHECK(has_them("/api/v1/pods?watch=1", dropped) != on);
    }
}

TEST_CASE("ApiServer: unknown parameters of Accept may be refused, as by a strict proxy") {
    Fixture f(ApiServerOptions{.refuse_accept_parameters = true});
    auto client = f.client();
    const auto status = [&](const std::string& accept) {
        client.get("/api/v1/pods", "Accept: " + accept + "\r\n");
        return client.status();
    };
    CHECK(status("application/json;drop=metadata.managedFields") == 406);
    CHECK(status("application/json;drop=metadata.managedFields,application/json") == 200);
    CHECK(status("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1;q=0.5") == 200);
}
