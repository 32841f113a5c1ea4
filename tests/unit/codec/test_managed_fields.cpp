#include "k8s_sd/detail/codec/list_watch_reader.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "support/protobuf_documents.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

using namespace k8s_sd;
using namespace k8s_sd::detail;
namespace protobuf = k8s_sd::test::protobuf_documents;

namespace {

struct CountedObjects final : EventSink {
    void on_object(EventType, const DecodedObject&) override { ++objects; }
    void on_bookmark(std::string_view, bool) override {}
    void on_error_event(const ServerStatus&) override {}
    void on_bad_object(const BadObject&) override {}
    int objects = 0;
};

/// Reads bodies with two objects.
class ManagedFieldsReader {
 public:
    explicit ManagedFieldsReader(const KindSchema& schema)
        : reader_(schema, std::size_t{1} << 20, objects_) {}

    bool finds(Document document, std::string_view type, std::string_view body,
               std::size_t piece = std::string_view::npos) {
        objects_.objects = 0;
        reader_.expect(document);
        REQUIRE(reader_.choose_decoder(type));
        for (; !body.empty(); body.remove_prefix(std::min(piece, body.size())))
            REQUIRE_FALSE(reader_.feed(body.substr(0, piece)));
        REQUIRE_FALSE(reader_.finish());
        CHECK(objects_.objects == 2);
        return reader_.has_managed_fields();
    }

    bool finds_in_pieces(std::string_view list) {
        return finds(Document::list, "application/json", list, 1);
    }

 private:
    CountedObjects objects_;
    ListWatchReader reader_;
};

const std::string json_fields = R"(,"managedFields":[{"manager":"kubelet","fieldsV1":{"f:a":{}}}])";

std::string json_object(const std::string& kind, const std::string& more) {
    return R"({"kind":")" + kind +
           R"(","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u")" + more + "}}";
}
std::string json_list(const std::string& kind, const std::string& more) {
    return R"({"kind":")" + kind + R"(List","metadata":{"resourceVersion":"7"},"items":[)" +
           json_object(kind, more) + "," + json_object(kind, "") + "]}";
}
std::string json_events(const std::string& kind, const std::string& more) {
    return R"({"type":"ADDED","object":)" + json_object(kind, more) +
           R"(}{"type":"ADDED","object":)" + json_object(kind, "") + "}";
}

protobuf::Message protobuf_object(bool with) {
    protobuf::Message metadata = protobuf::metadata("a");
    if (with) metadata.add(17, protobuf::Message().text(1, "kubelet"));
    return protobuf::object(metadata);
}

}  // namespace

TEST_CASE("managedFields are noticed in JSON, once in any object of a body") {
    ManagedFieldsReader reader(schema_of(Kind::pod));
    for (int i = 0; i < 2; ++i) {
        CHECK(reader.finds(Document::list, "application/json", json_list("Pod", json_fields)));
        CHECK_FALSE(reader.finds(Document::list, "application/json", json_list("Pod", "")));
        CHECK(reader.finds(Document::watch, "application/json", json_events("Pod", json_fields)));
        CHECK_FALSE(reader.finds(Document::watch, "application/json", json_events("Pod", "")));
    }
}

TEST_CASE("managedFields may have any type, and are noticed in pieces") {
    for (const char* value : {"null", "1", "1.5", "true", "\"x\"", "{\"a\":[{}]}"}) {
        ManagedFieldsReader reader(schema_of(Kind::pod));
        const std::string fields = R"(,"managedFields":)" + std::string(value);
        reader.finds(Document::list, "application/json", json_list("Pod", fields));
    }
    ManagedFieldsReader reader(schema_of(Kind::pod));
    CHECK(reader.finds_in_pieces(json_list("Pod", json_fields + R"(,"labels":{"a":"b"})")));
}

TEST_CASE("managedFields are noticed in JSON of any resource") {
    const Kind kind = other_kind(
        {.kind = "Widget", .group = "example.com", .version = "v1", .plural = "widgets"});
    for (const Fields& fields : {Fields{"spec"}, Fields{"metadata.labels"}}) {
        const KindSchema schema = make_schema(kind, fields);
        ManagedFieldsReader reader(schema);
        CHECK(reader.finds(Document::list, "application/json", json_list("Widget", json_fields)));
        CHECK_FALSE(reader.finds(Document::list, "application/json", json_list("Widget", "")));
    }
}

TEST_CASE("managedFields are noticed in protobuf, once in any object of a body") {
    ManagedFieldsReader reader(schema_of(Kind::pod));
    const std::string_view type = "application/vnd.kubernetes.protobuf";
    for (const bool with : {true, false, true}) {
        const std::string list = protobuf::document(
            "PodList", protobuf::list({protobuf_object(with), protobuf_object(false)}));
        CHECK(reader.finds(Document::list, type, list) == with);
        const std::string events =
            protobuf::event("ADDED", protobuf::document("Pod", protobuf_object(with))) +
            protobuf::event("ADDED", protobuf::document("Pod", protobuf_object(false)));
        CHECK(reader.finds(Document::watch, type, events) == with);
    }
}
