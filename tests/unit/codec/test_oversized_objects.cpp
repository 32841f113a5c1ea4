// An object beyond the size limit is still identified, in each encoding.

#include "k8s_sd/detail/kinds/schema.hpp"
#include "support/json_documents.hpp"
#include "support/model_reading.hpp"
#include "support/protobuf_documents.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using Catch::Matchers::StartsWith;

namespace {

constexpr std::string_view json_media = "application/json";
constexpr std::string_view binary_media = "application/vnd.kubernetes.protobuf";
const std::string long_text(1000, 'x');
const std::vector<std::size_t> chunk_sizes{1, 7, 64, std::string::npos};

/// Checks the object as an item of a list, in an event and in its deletion.
void check_json_identity(const detail::KindSchema& schema, const std::string& object,
                         std::size_t limit) {
    namespace j = json_documents;
    const std::string kind(resource_of(schema.kind).kind);
    const std::string events =
        j::event("MODIFIED", object) + "{\"object\":" + object + ",\"type\":\"DELETED\"}";
    for (const std::size_t chunk : chunk_sizes) {
        CAPTURE(object.substr(0, 80), chunk);
        ModelReading reading(schema, limit);
        const auto list =
            reading.read(Document::list, json_media, j::list(object, kind + "List"), chunk);
        CHECK_FALSE(list.ec);
        REQUIRE(list.calls.size() == 1);
        CHECK_THAT(list.calls[0], StartsWith("large n/big @7: "));
        const auto watch = reading.read(Document::watch, json_media, events, chunk);
        CHECK_FALSE(watch.ec);
        REQUIRE(watch.calls.size() == 2);
        CHECK_THAT(watch.calls[0], StartsWith("large n/big @7: "));
        CHECK_THAT(watch.calls[1], StartsWith("deleted "));
        CHECK(watch.calls[1].find("name=\"big\"") != std::string::npos);
    }
}

const std::string name_behind = R"("name":"big","namespace":"n","resourceVersion":"7","uid":"u")";

}  // namespace

TEST_CASE("JsonDecoder: an object that is too large has a name, in whatever order") {
    const std::string annotations = R"("annotations":{"a":")" + long_text + R"("})";
    const std::string many_labels =
        R"("labels":{)" + json_documents::many(50, R"("k":"v",)") + R"("a":"b"})";
    for (const std::string& large : {annotations, many_labels}) {
        for (const std::string& object :
             {"{\"kind\":\"Pod\",\"metadata\":{" + large + "," + name_behind + "}}",
              "{\"metadata\":{" + name_behind + "," + large + "}}",
              R"({"status":{"podIP":")" + long_text + R"("},"spec":{"containers":[)" +
                  json_documents::many(50, R"({"name":"c"},)") + "{}]},\"metadata\":{" +
                  name_behind + "}}"}) {
            check_json_identity(detail::schema_of(Kind::pod), object, 500);
        }
    }
}

TEST_CASE("JsonDecoder: half a key is no key, and what repeats takes no more room") {
    ModelReading reading(Kind::pod, 500);
    const std::string half = R"({"metadata":{"namespace":"n","resourceVersion":"7","name)";
    const std::string object = half + std::string(5000, 'x') + R"(":"victim"}})";
    const std::string list = json_documents::list(object);
    for (const std::size_t chunk : chunk_sizes) {
        const auto result = reading.read(Document::list, json_media, list, chunk);
        REQUIRE(result.calls.size() == 1);
        CHECK(result.calls[0].find("victim") == std::string::npos);
    }
    std::string repeated = R"({"metadata":{)" + json_documents::many(5000, name_behind + ",");
    repeated += R"("name":"big"}})";
    const auto result = reading.read(Document::list, json_media, json_documents::list(repeated));
    REQUIRE(result.calls.size() == 1);
    CHECK_THAT(result.calls[0], StartsWith("large "));
}

TEST_CASE("JsonDecoder: an object of any resource that is too large has a name as well") {
    const Kind widget = other_kind({"Widget", "example.com", "v1", "widgets", true});
    const detail::KindSchema schema = detail::make_schema(widget, Fields::all());
    const std::string head = R"({"apiVersion":"example.com/v1","data":")";
    // The text is too long: the metadata is before and after the limit.
    check_json_identity(
        schema, head + long_text + R"(","kind":"Widget","metadata":{)" + name_behind + "}}", 500);
    check_json_identity(schema,
                        R"({"kind":"Widget","metadata":{)" + name_behind + R"(},"spec":")" +
                            long_text + "\"}",
                        500);
    // The text is within the limit, but its values are not.
    check_json_identity(schema,
                        R"({"kind":"Widget","metadata":{)" + name_behind + R"(},"spec":[)" +
                            json_documents::many(400, "0,") + "0]}",
                        1200);
}

TEST_CASE("ProtobufDecoder: an object that is too large has a name, wherever it is cut") {
    namespace pb = protobuf_documents;
    const pb::Message large = pb::object(pb::metadata("big").pair(12, "a", long_text));
    const pb::Message labels = [] {
        pb::Message meta = pb::metadata("big");
        for (int i = 0; i < 100; ++i) meta.pair(11, "k", "v");
        return pb::object(meta);
    }();
    for (const pb::Message& pod : {large, labels}) {
        const std::string list =
            pb::document("PodList", pb::list({pod, pb::object(pb::metadata("b"))}));
        const std::string events = pb::event("MODIFIED", pb::document("Pod", pod)) +
                                   pb::event("DELETED", pb::document("Pod", pod));
        for (std::size_t limit = 1; limit < 1000; limit += limit < 100 ? 1 : 150) {
            CAPTURE(limit);
            ModelReading reading(Kind::pod, limit);
            const auto listed = reading.read(Document::list, binary_media, list);
            CHECK_FALSE(listed.ec);
            REQUIRE(listed.calls.size() == 2);
            // Name, namespace and version are in the first 30 bytes. A partial name does not count.
            const bool known = listed.calls[0].starts_with("large n/big @7: ");
            const bool partly = listed.calls[0].starts_with("large n/big @: ") ||
                                listed.calls[0].starts_with("large /big @: ") ||
                                listed.calls[0].starts_with("large / @: ");
            CHECK((known || (partly && limit < 30)));
            if (!known) continue;
            const auto watched = reading.read(Document::watch, binary_media, events);
            CHECK_FALSE(watched.ec);
            REQUIRE(watched.calls.size() == 2);
            CHECK_THAT(watched.calls[0], StartsWith("large n/big @7: "));
            CHECK_THAT(watched.calls[1], StartsWith("deleted "));
            CHECK(watched.calls[1].find("name=\"big\"") != std::string::npos);
        }
    }
}
