#include "k8s_sd/detail/codec/event.hpp"
#include "support/model_reading.hpp"
#include "support/protobuf_documents.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace k8s_sd::test::protobuf_documents::protobuf_hostile_tests {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using detail::Document;

namespace {

ModelReading::Result read_list(Kind kind, std::string_view body) {
    return ModelReading(kind).read(Document::list, protobuf_type, body);
}
ModelReading::Result read_watch(Kind kind, std::string_view body) {
    return ModelReading(kind).read(Document::watch, protobuf_type, body);
}

/// The reports about an object between two good ones, in a list and in events.
std::string between_neighbours(Kind kind, const Message& bad) {
    const std::string name(resource_of(kind).kind);
    const Message a = object(metadata("a"));
    const Message b = object(metadata("b"));
    const auto items = read_list(kind, document(name + "List", list({a, bad, b})));
    CHECK_FALSE(items.ec);
    REQUIRE(items.calls.size() == 3);
    const auto events =
        read_watch(kind, event("ADDED", document(name, a)) + event("ADDED", document(name, bad)) +
                             event("ADDED", document(name, b)));
    CHECK_FALSE(events.ec);
    REQUIRE(events.calls.size() == 3);
    if (items.calls[1].starts_with("bad")) CHECK(events.calls[1] == items.calls[1]);
    for (const std::size_t i : {std::size_t{0}, std::size_t{2}}) {
        CHECK_THAT(items.calls[i], StartsWith("added "));
        CHECK_THAT(events.calls[i], StartsWith("added "));
    }
    return items.calls[1];
}

Message pod_with(const Message& spec) { return object(metadata("bad")).add(2, spec); }

const std::string endless(12, '\xFF');

}  // namespace

TEST_CASE("ProtobufDecoder: a field of the wrong type makes its object bad and no other one") {
    struct Row {
        Kind kind;
        Message object;
        const char* problem;
    };
    const std::string text = "x";
    for (const Row& row : std::initializer_list<Row>{
             {Kind::pod, object(metadata("bad")).number(2, 1), "spec: a field of another type"},
             {Kind::pod, pod_with(Message().number(10, 1)), "spec.nodeName: a field of another"},
             {Kind::pod, pod_with(Message().number(2, 1)), "spec.containers: a field of another"},
             {Kind::pod, pod_with(Message().add(2, Message().add(6, Message().text(3, "80")))),
              "spec.containers.ports.containerPort: a field of another type"},
             {Kind::pod,
              pod_with(Message().add(2, Message().add(6, Message().number(3, 2147483648)))),
              "containerPort: a number outside 32 bits"},
             {Kind::pod,
              pod_with(Message().add(2, Message().add(6, Message().number(3, -2147483649)))),
              "containerPort: a number outside 32 bits"},
             {Kind::endpointslice,
              object(metadata("bad")).add(2, Message().add(2, Message().text(1, "true"))),
              "endpoints.conditions.ready: a field of another type"},
             {Kind::endpointslice, object(metadata("bad")).add(2, Message().number(5, 1)),
              "endpoints.deprecatedTopology: a field of another type"},
             {Kind::endpointslice,
              object(metadata("bad")).add(2, Message().add(5, Message().number(1, 1))),
              "endpoints.deprecatedTopology: a field of another type"},
             {Kind::ingress,
              object(metadata("bad")).add(2, Message().add(3, Message().number(2, 1))),
              "spec.rules: a field of another type"},
             {Kind::ingress,
              object(metadata("bad"))
                  .add(2, Message().add(3, Message().add(2, Message().number(1, 1)))),
              "spec.rules.http: a field of another type"},
             {Kind::node,
              object(metadata("bad"))
                  .add(3, Message().add(6, Message().add(1, Message().text(1, "")))),
              "status.daemonEndpoints.kubeletEndpoint.Port: a field of another type"},
         }) {
        CAPTURE(row.problem);
        CHECK_THAT(between_neighbours(row.kind, row.object),
                   StartsWith("bad n/bad @7: ") && ContainsSubstring(row.problem));
    }
}

TEST_CASE("ProtobufDecoder: what is no message makes its object bad and no other one") {
    for (const std::string& spec : {
             std::string("\x52"),                        // nodeName without a length
             std::string("\x52\xFF"),                    // half a length
             std::string("\x52\x05short").substr(0, 4),  // longer than the remaining bytes
             std::string("\x52\xFF\xFF\xFF\xFF\x0F"),    // nearly four gigabytes
             // a length whose lower 32 bits would do
             std::string("\x52") + Message().integer((std::uint64_t{1} << 32U) + 3).bytes + "abc",
             std::string("\x52") + endless,     // a length without an end
             endless,                           // a tag without an end
             std::string(1, '\0'),              // the number 0
             Message().text(19'000, "").bytes,  // reserved numbers
             Message().text(19'999, "").bytes,
             std::string("\x53\x54", 2),                // groups, an obsolete wire type
             std::string("\x56"), std::string("\x57"),  // types that do not exist
             std::string("\x51\x01\x02"),               // half a number of fixed size
             std::string("\x58"),                       // a missing number
         }) {
        CAPTURE(spec.size(), static_cast<unsigned char>(spec[0]));
        CHECK_THAT(between_neighbours(Kind::pod, pod_with(Message().raw(spec))),
                   StartsWith("bad n/bad @7: spec: not protobuf: "));
    }
    Message object = Message().add(1, metadata("bad"));
    CHECK_THAT(between_neighbours(Kind::pod, object.raw("\xFF")),
               StartsWith("bad n/bad @7: the object: not protobuf: "));
    CHECK_THAT(between_neighbours(Kind::pod, Message().raw(endless)),
               StartsWith("bad / @: the object: not protobuf: "));
    CHECK_THAT(between_neighbours(Kind::pod, Message()), StartsWith("bad / @: an object without"));
}

TEST_CASE("ProtobufDecoder: unknown fields are skipped at any depth") {
    Message deep;
    for (int i = 0; i < 10'000; ++i) deep = Message().add(2, deep);
    const Message strange = Message()
                                .number(100, -1)
                                .raw("\x91\x03 eight b")  // fixed64
                                .raw("\x95\x03"
                                     "four")  // fixed32
                                .text(15'000, deep.bytes)
                                .text(536'870'911, "the last number");
    Message pod = object(metadata("p").raw(strange.bytes)).add(2, Message().raw(strange.bytes));
    pod.raw(strange.bytes);
    CHECK_THAT(between_neighbours(Kind::pod, pod), StartsWith("added "));
    // A recursive message is read as deep as the table describes it.
    CHECK_THAT(between_neighbours(Kind::pod, pod_with(deep)), StartsWith("added "));
}

TEST_CASE("ProtobufDecoder: an object that is too large is skipped, and said to be") {
    for (const std::size_t room : {std::size_t{100}, std::size_t{2000}, std::size_t{20'000}}) {
        CAPTURE(room);
        const std::string text(room, 'x');
        const Message large = object(metadata("bad")).add(2, Message().text(10, text));
        const std::string body =
            document("PodList", list({object(metadata("a")), large, object(metadata("b"))}));
        const std::string stream = event("ADDED", document("Pod", object(metadata("a")))) +
                                   event("ADDED", document("Pod", large)) +
                                   event("ADDED", document("Pod", object(metadata("b"))));
        for (const std::size_t chunk : {std::size_t{1}, std::size_t{7}, std::string::npos}) {
            ModelReading reading(Kind::pod, 100);
            for (const auto& result :
                 {reading.read(Document::list, protobuf_type, body, chunk),
                  reading.read(Document::watch, protobuf_type, stream, chunk)}) {
                CHECK_FALSE(result.ec);
                REQUIRE(result.calls.size() == 3);
                CHECK_THAT(result.calls[0], StartsWith("added "));
                // The part that was read contains its name.
                CHECK(result.calls[1] == "large n/bad @7: the object is larger than 100 bytes");
                CHECK_THAT(result.calls[2], StartsWith("added "));
            }
        }
    }
}

TEST_CASE("ProtobufDecoder: what an object costs beside its texts counts, too") {
    Message containers;
    for (int i = 0; i < 10'000; ++i) containers.add(2, Message());
    ModelReading reading(Kind::pod, 100'000);
    const auto result =
        reading.read(Document::list, protobuf_type,
                     document("PodList", list({object(metadata("a")), pod_with(containers)})));
    REQUIRE(result.calls.size() == 2);
    CHECK(result.calls[1] == "large n/bad @7: the object is larger than 100000 bytes");
}

TEST_CASE("ProtobufDecoder: a list that ends early is truncated at every byte") {
    const std::string body =
        document("PodList", list({object(metadata("a")), object(metadata("b"))}));
    const std::size_t complete = body.size() - 4;  // two empty texts follow the list
    ModelReading reading(Kind::pod);
    for (std::size_t size = 0; size < complete; ++size) {
        const auto result = reading.read(Document::list, protobuf_type, body.substr(0, size));
        const bool between = result.ec == errc::malformed_response;
        if (result.ec != errc::truncated_response && !between) FAIL("at " << size);
    }
    CHECK_FALSE(reading.read(Document::list, protobuf_type, body.substr(0, complete)).ec);
    CHECK(reading.read(Document::list, protobuf_type, body.substr(0, complete + 1)).ec ==
          errc::truncated_response);
    const std::string stream = event("ADDED", document("Pod", object(metadata("a"))));
    for (std::size_t size = 1; size < stream.size(); ++size) {
        const auto result = reading.read(Document::watch, protobuf_type, stream.substr(0, size));
        if (result.ec != errc::truncated_response || !result.calls.empty()) FAIL("at " << size);
    }
}

TEST_CASE("ProtobufDecoder: a list whose frame is broken is malformed, in words") {
    const std::string magic("k8s\0", 4);
    const std::string pods = Message().add(1, Message().text(2, "PodList")).bytes;
    struct Row {
        std::string body;
        const char* problem;
    };
    for (const Row& row : std::initializer_list<Row>{
             {R"({"kind":"PodList"})", "the body is not Kubernetes' protobuf"},
             {"<html></html>", "the body is not Kubernetes' protobuf"},
             {magic + endless, "an endless integer"},
             {magic + std::string(1, '\0'), "a field without a number"},
             {magic + "\x13", "a field of an unknown type"},
             {magic + pods + "\x12" + endless, "an endless integer"},
             {magic + pods + "\x12\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", "it has no end"},
             {magic + pods + Message().raw("\x12\x03\x12\x7F").bytes, "longer than the list"},
             {magic + pods + Message().raw("\x12\x02\x12\xFF\x01").bytes, "extends beyond it"},
             {magic + pods + Message().raw("\x12\x01\x12\x01").bytes, "extends beyond it"},
             {magic + pods + Message().raw("\x12\x02\x09 eight by").bytes, "longer than the list"},
             {magic + pods + Message().add(2, list({})).add(2, list({})).bytes, "two lists"},
             {magic + Message().text(1, "\xFF").bytes, "kind is not protobuf"},
             {magic + Message().text(1, std::string(5000, 'x')).bytes, "kind is too long"},
             {magic + Message().add(2, Message().text(1, "\xFF")).bytes,
              "metadata is not protobuf"},
             {magic + Message().add(2, Message().text(1, std::string(300'000, 'x'))).bytes,
              "metadata is too long"},
             {magic + pods, "the list has no items"},
             {magic, "the list has no items"},
             {document("Pod", object(metadata("a")).add(2, Message())), "the kind Pod instead of"},
             {document("Status", Message().text(3, "x")), "the kind Status instead of PodList"},
             {document("ServiceList", list({object(metadata("a"))})), "the kind ServiceList"},
             {document("", list({object(metadata("a"))})), "neither the list nor its items say"},
             {document("PartialObjectMetadataList", list({})), "PartialObjectMetadataList"},
         }) {
        CAPTURE(row.problem);
        for (const std::size_t chunk : {std::size_t{1}, std::string::npos}) {
            const auto result =
                ModelReading(Kind::pod).read(Document::list, protobuf_type, row.body, chunk);
            CHECK(result.ec == errc::malformed_response);
            CHECK_THAT(result.problem, ContainsSubstring(row.problem));
        }
    }
}

TEST_CASE("ProtobufDecoder: what is no frame of an event is malformed, in words") {
    for (const std::string& body :
         {std::string(R"({"type":"ADDED"})") + "\n", std::string("<html>"), std::string("\n\n\n\n"),
          std::string(4, '\xFF'), std::string(4, '\0'), std::string("\x08\0\0\x01", 4)}) {
        const auto result = read_watch(Kind::pod, body);
        CHECK(result.ec == errc::malformed_response);
        CHECK_THAT(result.problem, ContainsSubstring("not a stream of events in protobuf"));
    }
    for (const std::string& bytes : {std::string("xxxx"), endless, Message().text(2, "").bytes,
                                     Message().number(1, 5).bytes}) {
        CHECK(read_watch(Kind::pod, frame(bytes)).ec == errc::malformed_response);
    }
}

TEST_CASE("ProtobufDecoder: an event whose object is no document is a bad object") {
    const std::string good = document("Pod", object(metadata("p")));
    for (const std::string& raw :
         {std::string(), std::string("k8s"), std::string(R"({"metadata":{}})"), good.substr(1),
          good.substr(0, good.size() - 20), std::string("k8s\0\xFF", 5),
          std::string("k8s\0", 4) + Message().text(1, "\xFF").bytes}) {
        const auto result = read_watch(Kind::pod, event("ADDED", raw) + event("ADDED", good));
        CHECK_FALSE(result.ec);
        REQUIRE(result.calls.size() == 2);
        CHECK_THAT(result.calls[0], StartsWith("bad "));
        CHECK_THAT(result.calls[1], StartsWith("added "));
    }
    const auto other =
        read_watch(Kind::pod, event("ADDED", document("Status", Message())) +
                                  event("ADDED", document("Service", object(metadata("s")))) +
                                  event("NEWS", good));
    REQUIRE(other.calls.size() == 3);
    CHECK_THAT(other.calls[0], ContainsSubstring("an object of the kind Status and not Pod"));
    CHECK_THAT(other.calls[1], ContainsSubstring("an object of the kind Service and not Pod"));
    CHECK_THAT(other.calls[2], ContainsSubstring("unknown type \"NEWS\""));
}

TEST_CASE("read_protobuf_status: a Status gives its code, reason, message and time to come back") {
    const Message details =
        Message().add(4, Message().text(1, "ResourceVersionTooLarge").text(2, "x")).number(5, 7);
    const auto status = detail::read_protobuf_status(document("Status", Message()
                                                                            .add(1, Message())
                                                                            .text(2, "Failure")
                                                                            .text(3, "no\xFF")
                                                                            .text(4, "Timeout")
                                                                            .add(5, details)
                                                                            .number(6, 504)));
    REQUIRE(status);
    CHECK(status->code == 504);
    CHECK(status->reason == "Timeout");
    CHECK(status->message == "no\xEF\xBF\xBD");
    CHECK(status->retry_after_seconds == 7);
    REQUIRE(status->causes.size() == 1);
    CHECK(status->causes[0].reason == "ResourceVersionTooLarge");
    CHECK(status->causes[0].message == "x");
    const auto mixed =
        detail::read_protobuf_status(document("Status", Message().text(3, "x").text(6, "y")));
    REQUIRE(mixed);
    CHECK(mixed->message == "x");
    CHECK(mixed->code == 0);
    for (const std::string& body :
         {std::string(), std::string("k8s\0", 4), std::string("no"), endless,
          document("Pod", object(metadata("p"))), document("Status", Message()).substr(0, 10)}) {
        CHECK_FALSE(detail::read_protobuf_status(body));
    }
}

TEST_CASE("ProtobufDecoder: random damage gives objects, problems or an error") {
    std::mt19937 random(7);  // NOLINT: the same damage every time
    const auto draw = [&](std::size_t below) { return random() % below; };
    const Message pod =
        object(metadata("p").pair(11, "a", "b").pair(12, "c", "d"))
            .add(2, Message()
                        .text(10, "node")
                        .add(2, Message().text(1, "c").add(6, Message().number(3, 80))));
    const std::string list_body = document("PodList", list({pod, pod, pod}));
    const std::string stream = event("ADDED", document("Pod", pod)) +
                               event("DELETED", document("Pod", pod)) +
                               event("ERROR", document("Status", Message().text(3, "x")));
    ModelReading reading(Kind::pod, 1000);
    for (int round = 0; round < 3000; ++round) {
        std::string body = round % 2 == 0 ? list_body : stream;
        for (std::size_t i = 0; i <= draw(4); ++i)
            body[draw(body.size())] = static_cast<char>(draw(256));
        if (draw(4) == 0) body.erase(draw(body.size()), draw(20));
        const Document document = round % 2 == 0 ? Document::list : Document::watch;
        const auto whole = reading.read(document, protobuf_type, body);
        CHECK(whole.calls.size() <= body.size());
        const auto pieces = reading.read(document, protobuf_type, body, 1 + draw(30));
        if (!(whole == pieces)) FAIL("round " << round);
    }
}

}  // namespace k8s_sd::test::protobuf_documents::protobuf_hostile_tests
