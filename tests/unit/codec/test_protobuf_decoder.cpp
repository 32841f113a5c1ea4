#include "support/model_reading.hpp"
#include "support/protobuf_documents.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::test::protobuf_documents::protobuf_decoder_tests {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using detail::Document;
using Calls = std::vector<std::string>;

namespace {

std::string recorded(const std::string& name) {
    std::ifstream file(std::string(K8S_SD_TEST_DATA) + "/protobuf/" + name, std::ios::binary);
    if (!file) throw std::runtime_error("no test data " + name);
    return {std::istreambuf_iterator<char>(file), {}};
}

const std::vector<Kind> recorded_kinds{Kind::pod, Kind::node, Kind::service, Kind::endpoints,
                                       Kind::endpointslice};

ModelReading::Result read_list(Kind kind, std::string_view type, std::string_view body) {
    return ModelReading(kind).read(Document::list, type, body);
}
ModelReading::Result read_watch(Kind kind, std::string_view type, std::string_view body) {
    return ModelReading(kind).read(Document::watch, type, body);
}

/// The model of one object, equal in both encodings.
std::string check_same_model(Kind kind, const Message& object, const std::string& json) {
    const std::string name(resource_of(kind).kind);
    const auto a = read_watch(kind, protobuf_type, event("ADDED", document(name, object)));
    const auto b = read_watch(kind, json_type,
                              R"({"type":"ADDED","object":{"kind":")" + name + "\"," + json + "}}");
    REQUIRE(a.calls.size() == 1);
    CHECK_THAT(a.calls[0], StartsWith("added "));
    CHECK(a == b);
    return a.calls[0];
}

const std::string meta_json =
    R"("metadata":{"name":"x","namespace":"n","uid":"u","resourceVersion":"7"})";

}  // namespace

TEST_CASE("ProtobufDecoder: recorded lists give the same models as in JSON") {
    for (const Kind kind : recorded_kinds) {
        CAPTURE(to_string(kind));
        const auto protobuf =
            read_list(kind, protobuf_type, recorded(std::string(to_string(kind)) + ".pb"));
        const auto json =
            read_list(kind, json_type, recorded(std::string(to_string(kind)) + ".json"));
        CHECK_FALSE(protobuf.ec);
        CHECK(protobuf.calls.size() >= 2);
        CHECK_FALSE(protobuf.resource_version.empty());
        CHECK(protobuf == json);
    }
}

TEST_CASE("ProtobufDecoder: lists are decoded the same in chunks of every size") {
    for (const Kind kind : recorded_kinds) {
        const std::string body = recorded(std::string(to_string(kind)) + ".pb");
        const auto whole = read_list(kind, protobuf_type, body);
        ModelReading reading(kind);
        // The first sizes split every number; larger sizes are sampled.
        for (std::size_t size = 1; size <= body.size(); size += size < 64 ? 1 : body.size() / 200) {
            if (!(reading.read(Document::list, protobuf_type, body, size) == whole))
                FAIL(to_string(kind) << " in chunks of " << size);
        }
    }
}

TEST_CASE("ProtobufDecoder: events are decoded the same in chunks of every size") {
    const Message pod = object(metadata("p").pair(11, "a", "b"));
    const Message gone =
        Message().text(2, "Failure").text(3, "too old").text(4, "Expired").number(6, 410);
    const std::string stream = event("ADDED", document("Pod", pod)) +
                               event("MODIFIED", document("Pod", pod)) +
                               event("DELETED", document("Pod", object(metadata("p", "n", "9")))) +
                               event("BOOKMARK", document("Pod", object(metadata("", "", "12")))) +
                               event("ERROR", document("Status", gone));
    const auto whole = read_watch(Kind::pod, protobuf_type, stream);
    CHECK_FALSE(whole.ec);
    REQUIRE(whole.calls.size() == 5);
    CHECK_THAT(whole.calls[0], StartsWith(R"(added { metadata={ name="p" )"));
    CHECK_THAT(whole.calls[1], StartsWith("modified "));
    CHECK_THAT(whole.calls[2], ContainsSubstring(R"(uid="u" resourceVersion="9")"));
    CHECK(whole.calls[3] == "bookmark @12");
    CHECK(whole.calls[4] == "error 410 Expired: too old after 0");
    ModelReading reading(Kind::pod);
    for (std::size_t size = 1; size <= stream.size(); ++size) {
        if (!(reading.read(Document::watch, protobuf_type, stream, size) == whole))
            FAIL("in chunks of " << size);
    }
}

TEST_CASE("ProtobufDecoder: pods have the same model in both encodings") {
    const Message container =
        Message()
            .text(1, "c")
            .text(2, "image:1")
            .add(6,
                 Message().text(1, "http").number(2, 0).number(3, 8080).text(4, "TCP").text(5, ""))
            .text(24, "Always");
    const Message status = Message()
                               .text(1, "c")
                               .add(2, Message().add(3, Message().number(1, 0)))
                               .number(4, 0)
                               .text(8, "containerd://1");
    const Message pod =
        object(metadata("x")
                   .add(13, Message().text(1, "ReplicaSet").text(3, "r").number(6, 1))
                   .add(13, Message().text(1, "Other").text(3, "o").number(6, 0))
                   .add(17, Message().text(1, "kubelet")))
            .add(2, Message().add(2, container).text(10, "node-1").add(20, container).number(11, 1))
            .add(3, Message()
                        .text(1, "Running")
                        .add(2, Message().text(1, "Ready").text(2, "True"))
                        .text(5, "10.0.0.9")
                        .text(6, "10.0.0.1")
                        .add(8, status)
                        .add(10, status));
    const std::string c = R"([{"name":"c","image":"image:1","restartPolicy":"Always","ports":[)"
                          R"({"name":"http","containerPort":8080,"protocol":"TCP"}]}])";
    const std::string s =
        R"([{"name":"c","containerID":"containerd://1","state":{"terminated":{"exitCode":0}}}])";
    check_same_model(
        Kind::pod, pod,
        R"("metadata":{"name":"x","namespace":"n","uid":"u","resourceVersion":"7",)"
        R"("ownerReferences":[{"kind":"ReplicaSet","name":"r","controller":true},)"
        R"({"kind":"Other","name":"o","controller":false}]},)"
        R"("spec":{"containers":)" +
            c + R"(,"initContainers":)" + c +
            R"(,"nodeName":"node-1"},"status":{"phase":"Running","conditions":[)"
            R"({"type":"Ready","status":"True"}],"hostIP":"10.0.0.9","podIP":"10.0.0.1",)"
            R"("containerStatuses":)" +
            s + R"(,"initContainerStatuses":)" + s + "}");
}

TEST_CASE("ProtobufDecoder: what is present in a slice, even if empty or false, is as in JSON") {
    const Message full = Message()
                             .text(1, "1.1.1.1")
                             .text(1, "1.1.1.2")
                             .add(2, Message().number(1, 0).number(2, 1).number(3, 0))
                             .text(3, "")
                             .add(4, Message())
                             .pair(5, "zone", "z")
                             .text(6, "node")
                             .text(7, "");
    const Message slice =
        object(metadata("x"))
            .add(2, full)
            .add(2, Message().add(2, Message()))
            .add(3, Message().text(1, "").text(2, "TCP").number(3, 0).text(4, "h2c"))
            .add(3, Message())
            .text(4, "IPv4");
    check_same_model(
        Kind::endpointslice, slice,
        meta_json +
            R"(,"addressType":"IPv4","endpoints":[{"addresses":["1.1.1.1","1.1.1.2"],"conditions":)"
            R"({"ready":false,"serving":true,"terminating":false},"hostname":"","targetRef":{},)"
            R"("deprecatedTopology":{"zone":"z"},"nodeName":"node","zone":""},{"conditions":{}}],)"
            R"("ports":[{"name":"","protocol":"TCP","port":0,"appProtocol":"h2c"},{}])");
}

TEST_CASE("ProtobufDecoder: an ingress' rules are in a message that JSON does not have") {
    const Message path = Message().text(1, "/p").text(3, "Prefix");
    const Message ingress =
        object(metadata("x"))
            .add(2, Message()
                        .add(2, Message().text(1, "a.example").text(1, "b.example").text(2, "s"))
                        .add(3, Message().text(1, "h").add(
                                    2, Message().add(1, Message().add(1, path).add(1, path))))
                        .add(3, Message().text(1, "no paths").add(2, Message().add(1, Message())))
                        .add(3, Message().text(1, "no http").add(2, Message()))
                        .text(4, ""));
    check_same_model(
        Kind::ingress, ingress,
        meta_json +
            R"(,"spec":{"tls":[{"hosts":["a.example","b.example"],"secretName":"s"}],"rules":[)"
            R"({"host":"h","http":{"paths":[{"path":"/p"},{"path":"/p"}]}},)"
            R"({"host":"no paths","http":{}},)"
            R"({"host":"no http"}],"ingressClassName":""})");
}

TEST_CASE("ProtobufDecoder: nodes, services and endpoints have the same model in both encodings") {
    check_same_model(
        Kind::node,
        object(Message().text(1, "x").text(6, "7"))
            .add(2, Message().text(3, "aws:///1"))
            .add(3, Message()
                        .add(5, Message().text(1, "InternalIP").text(2, "10.0.0.1"))
                        .add(6, Message().add(1, Message().number(1, 10250)))),
        R"("metadata":{"name":"x","resourceVersion":"7"},"spec":{"providerID":"aws:///1"},)"
        R"("status":{"addresses":[{"type":"InternalIP","address":"10.0.0.1"}],"daemonEndpoints":)"
        R"({"kubeletEndpoint":{"Port":10250}}})");
    check_same_model(
        Kind::service,
        object(metadata("x"))
            .add(2, Message()
                        .add(1, Message().text(1, "http").text(2, "TCP").number(3, 80).add(
                                    4, Message().number(1, 0).number(2, 8080).text(3, "")))
                        .text(3, "10.0.0.1")
                        .text(4, "LoadBalancer")
                        .text(8, "192.0.2.1")
                        .text(10, "e.example")),
        meta_json +
            R"(,"spec":{"ports":[{"name":"http","protocol":"TCP","port":80,"targetPort":8080}],)"
            R"("clusterIP":"10.0.0.1","type":"LoadBalancer","loadBalancerIP":"192.0.2.1",)"
            R"("externalName":"e.example"})");
    const Message address = Message()
                                .text(1, "1.1.1.1")
                                .add(2, Message().text(1, "Pod").text(2, "n").text(3, "p"))
                                .text(3, "h")
                                .text(4, "node");
    const std::string address_json =
        R"([{"ip":"1.1.1.1","targetRef":{"kind":"Pod","namespace":"n","name":"p"},"hostname":"h",)"
        R"("nodeName":"node"}])";
    check_same_model(
        Kind::endpoints,
        object(metadata("x"))
            .add(2, Message()
                        .add(1, address)
                        .add(2, address)
                        .add(3, Message().text(1, "http").number(2, 80).text(3, "TCP"))),
        meta_json + R"(,"subsets":[{"addresses":)" + address_json + R"(,"notReadyAddresses":)" +
            address_json + R"(,"ports":[{"name":"http","port":80,"protocol":"TCP"}]}])");
}

TEST_CASE("ProtobufDecoder: what is base64 in JSON is bytes here") {
    const std::string bytes("\x00\xFF\x01", 3);
    const std::string secret = check_same_model(
        Kind::secret,
        object(metadata("x")).pair(2, "k", bytes).pair(2, "", "").text(3, "Opaque").number(5, 1),
        meta_json + R"(,"data":{"k":"AP8B","":""},"type":"Opaque","immutable":true)");
    CHECK_THAT(secret, ContainsSubstring(bytes));
    check_same_model(Kind::configmap,
                     object(metadata("x")).pair(2, "t", "text").pair(3, "b", bytes).number(4, 0),
                     meta_json +
                         R"(,"data":{"t":"text"},"binaryData":{"b":"AP8B"},"immutable":false)");
}

TEST_CASE("ProtobufDecoder: of a kind of which metadata is enough, that alone is as good") {
    for (const Kind kind : {Kind::namespace_, Kind::replicaset, Kind::job}) {
        CAPTURE(to_string(kind));
        const std::string name(resource_of(kind).kind);
        const Message metadata_only =
            object(metadata("x")
                       .pair(11, "a", "b")
                       .add(13, Message().text(1, "Deployment").text(3, "d").number(6, 1)));
        Message full = metadata_only;
        full.add(2, Message().number(1, 3)).add(3, Message().text(1, "Active"));
        const auto body = [&](const std::string& list_kind, const Message& item) {
            return document(list_kind, list({item, item}), "meta.k8s.io/v1");
        };
        const auto small =
            read_list(kind, protobuf_type, body("PartialObjectMetadataList", metadata_only));
        CHECK_FALSE(small.ec);
        CHECK(small.calls.size() == 2);
        CHECK(small == read_list(kind, protobuf_type, body(name + "List", full)));
        const auto stream =
            event("ADDED", document("PartialObjectMetadata", metadata_only)) +
            event("BOOKMARK", document("PartialObjectMetadata", object(metadata("", "", "8"))));
        const auto events = read_watch(kind, protobuf_type, stream);
        REQUIRE(events.calls.size() == 2);
        CHECK_THAT(events.calls[0], StartsWith("added { metadata={ name=\"x\" "));
        CHECK(events.calls[1] == "bookmark @8");
    }
}

TEST_CASE("ProtobufDecoder: what is not UTF-8 in a text becomes replacement characters") {
    const auto result = read_list(
        Kind::pod, protobuf_type,
        document("PodList",
                 list({object(metadata("p").pair(11, "a\xFF", "\xC3(").pair(12, "é", "中"))})));
    REQUIRE(result.calls.size() == 1);
    CHECK_THAT(result.calls[0], ContainsSubstring("labels=[ \"a\xEF\xBF\xBD\" \"\xEF\xBF\xBD(\" ] "
                                                  "annotations=[ \"é\" \"中\" ]"));
}

TEST_CASE("ProtobufDecoder: empty lists, and lists whose items come before their metadata") {
    const auto empty = read_list(Kind::pod, protobuf_type, document("PodList", list({})));
    CHECK_FALSE(empty.ec);
    CHECK(empty.calls.empty());
    CHECK(empty.resource_version == "100");
    const Message late = Message()
                             .add(2, object(metadata("p")))
                             .number(9, 5)
                             .add(1, Message().text(2, "8").text(3, "more").number(4, 7));
    const auto result = read_list(Kind::pod, protobuf_type, document("PodList", late));
    CHECK(result.calls.size() == 1);
    CHECK(result.resource_version == "8");
    CHECK(result.continue_token == "more");
    const auto no_version = read_list(Kind::pod, protobuf_type, document("PodList", list({}, "")));
    CHECK(no_version.ec == errc::missing_resource_version);
}

TEST_CASE("Decoders: a list says of which shard it is, and the next one does not") {
    const auto shard_of = [reading = std::make_shared<ModelReading>(Kind::pod)](
                              std::string_view type, const std::string& body) {
        return reading->read(Document::list, type, body).shard_selector;
    };
    const auto protobuf = [](const Message& info) {
        const Message meta = Message().text(2, "8").add(5, info);
        return document("PodList", Message().add(1, meta).add(9, Message()));
    };
    const auto json = [](const std::string& info) {
        return R"({"metadata":{"resourceVersion":"8","shardInfo":)" + info + R"(},"items":[]})";
    };
    CHECK(shard_of(protobuf_type, protobuf(Message().text(1, "half"))) == "half");
    CHECK(shard_of(protobuf_type, protobuf(Message().text(2, "x"))).empty());
    const Message broken = Message().text(2, "8").text(5, "\x0f");
    CHECK(shard_of(protobuf_type, document("PodList", Message().add(1, broken).add(9, Message())))
              .empty());
    CHECK(shard_of(json_type, json(R"({"selector":"half","x":1})")) == "half");
    CHECK(shard_of(json_type, json("null")).empty());
    CHECK(shard_of(protobuf_type, protobuf(Message().text(1, "half"))) == "half");
    CHECK(shard_of(protobuf_type, document("PodList", list({}))).empty());
}

TEST_CASE("ProtobufDecoder: one body after the other, list or watch, starts anew") {
    ModelReading reading(Kind::pod);
    const std::string body = document("PodList", list({object(metadata("p"))}));
    const auto whole = reading.read(Document::list, protobuf_type, body);
    CHECK(whole.calls.size() == 1);
    reading.read(Document::list, protobuf_type, body.substr(0, body.size() / 2));
    CHECK(reading.read(Document::list, protobuf_type, body) == whole);
    const std::string stream = event("ADDED", document("Pod", object(metadata("p"))));
    CHECK(reading.read(Document::watch, protobuf_type, stream.substr(0, 9)).ec ==
          errc::truncated_response);
    CHECK(reading.read(Document::watch, protobuf_type, stream).calls.size() == 1);
    CHECK(reading.read(Document::list, protobuf_type, body) == whole);
    CHECK(reading
              .read(Document::list, json_type,
                    R"({"kind":"PodList","metadata":)"
                    R"({"resourceVersion":"1"},"items":[]})")
              .resource_version == "1");
}

}  // namespace k8s_sd::test::protobuf_documents::protobuf_decoder_tests
