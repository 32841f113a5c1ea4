// The memory cost of decoding a hostile object. Every allocation is counted.

#include "k8s_sd/detail/codec/list_watch_reader.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "support/allocations.hpp"
#include "support/effort.hpp"
#include "support/json_documents.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace k8s_sd::test::json_documents;

namespace {

struct Bystander final : detail::EventSink {
    void on_object(detail::EventType, const detail::DecodedObject&) override { ++objects; }
    void on_bookmark(std::string_view, bool) override {}
    void on_error_event(const detail::ServerStatus&) override {}
    void on_bad_object(const detail::BadObject& bad) override {
        ++(bad.ec == errc::object_too_large ? too_large : objects);
    }
    int objects = 0, too_large = 0;
};

constexpr long limit = 256 * 1024;

/// The memory of a watch besides the objects: reused buffers.
constexpr long fixed = 192 * 1024;

struct Cost {
    long most = 0;   ///< while the events are read
    long after = 0;  ///< when it waits for the next event
    int too_large = 0;
};

/// The cost of reading, twice, an event with this many repetitions of the text.
Cost cost(const detail::KindSchema& schema, std::string_view before, std::string_view repeated,
          std::string_view after, std::size_t times) {
    Bystander sink;
    detail::ListWatchReader reader(schema, limit, sink);
    reader.expect(Document::watch);
    REQUIRE(reader.choose_decoder("application/json"));
    std::string chunk;  // in chunks, because a whole copy would be counted as well
    while (chunk.size() < 16 * 1024) chunk += repeated;
    const std::size_t chunks = times / (chunk.size() / repeated.size()) + 1;
    memory_use = {.on = true};
    for (int event = 0; event < 2; ++event) {
        REQUIRE_FALSE(reader.feed(R"({"type":"ADDED","object":{"metadata":{"name":"p",)"
                                  R"("namespace":"n"},)"));
        REQUIRE_FALSE(reader.feed(before));
        for (std::size_t i = 0; i < chunks; ++i) REQUIRE_FALSE(reader.feed(chunk));
        REQUIRE_FALSE(reader.feed(after));
        REQUIRE_FALSE(reader.feed("}}\n"));
    }
    CHECK(sink.objects + sink.too_large == 2);
    memory_use.on = false;
    return {memory_use.peak, memory_use.bytes, sink.too_large};
}

Cost cost(Kind kind, std::string_view before, std::string_view repeated, std::string_view after,
          std::size_t times) {
    return cost(detail::schema_of(kind), before, repeated, after, times);
}

struct Hostile {
    Kind kind;
    std::string_view before, repeated, after;
};

const std::vector<Hostile> hostile{
    {Kind::endpointslice, R"("endpoints":[)", "{},", "{}]"},
    {Kind::endpointslice, R"("endpoints":[)", R"({"addresses":[""]},)", "{}]"},
    {Kind::endpointslice, R"("endpoints":[)",
     R"({"addresses":["",""],"deprecatedTopology":{"":""}},)", "{}]"},
    {Kind::endpointslice, R"("endpoints":[{"addresses":[)", R"("",)", R"(""]}])"},
    {Kind::endpointslice, R"("endpoints":[{"deprecatedTopology":{)", R"("":"",)", R"("":""}}])"},
    {Kind::endpointslice, R"("ports":[)", "{},", "{}]"},
    {Kind::endpoints, R"("subsets":[)", "{},", "{}]"},
    {Kind::endpoints, R"("subsets":[{"addresses":[)", "{},", "{}]}]"},
    {Kind::endpoints, R"("subsets":[{"notReadyAddresses":[)", "{},", "{}]}]"},
    {Kind::endpoints, R"("subsets":[)", R"({"addresses":[{}],"ports":[{}]},)", "{}]"},
    {Kind::pod, R"("spec":{"containers":[)", "{},", "{}]}"},
    {Kind::pod, R"("spec":{"containers":[)", R"({"ports":[{}]},)", "{}]}"},
    {Kind::pod, R"("spec":{"initContainers":[{"ports":[)", "{},", "{}]}]}"},
    {Kind::pod, R"("status":{"conditions":[)", "{},", "{}]}"},
    {Kind::pod, R"("status":{"containerStatuses":[)", "{},", "{}]}"},
    {Kind::service, R"("spec":{"ports":[)", "{},", "{}]}"},
    {Kind::ingress, R"("spec":{"rules":[)", "{},", "{}]}"},
    {Kind::ingress, R"("spec":{"tls":[)", R"({"hosts":[""]},)", "{}]}"},
    {Kind::node, R"("status":{"addresses":[)", "{},", "{}]}"},
    {Kind::pod, R"("metadata":{"ownerReferences":[)", "{},", "{}]}"},
    {Kind::pod, R"("metadata":{"labels":{)", R"("":"",)", R"("":""}})"},
    {Kind::pod, R"("metadata":{"annotations":{)", R"("abc":"xyz",)", R"("":""}})"},
    {Kind::pod, R"("details":{"causes":[)", "{},", "{}]}"},
    {Kind::pod, R"("status":{"podIP":")", "x", "\"}"},
    {Kind::pod, R"("metadata":{"labels":{")", "k", R"(":""}})"},
    {Kind::pod, R"("metadata":{"annotations":{"k":")", "\xFF", "\"}}"},
    {Kind::pod, R"("message":")", R"(\u00e9)", "\""},
    {Kind::secret, R"("data":{"k":")", "QUJD", "\"}"},
    {Kind::configmap, R"("data":{)", R"("abc":"xyz",)", R"("":""})"}};

}  // namespace

TEST_CASE("JsonDecoder: an object takes no more than twice its limit, whatever it is made of") {
    for (std::size_t i = 0; i < hostile.size(); i += step_of(3)) {
        const Hostile& h = hostile[i];
        CAPTURE(to_string(h.kind), h.before, h.repeated);
        // More than the limit allows: an element costs at least 32 bytes, a character one.
        const bool text = h.after.starts_with('"');
        const Cost measured =
            cost(h.kind, h.before, h.repeated, h.after, text ? limit : limit / 32 + 1);
        CHECK(measured.too_large == 2);
        CHECK(measured.most <= 2 * limit + fixed);
        CHECK(measured.after <= fixed);
    }
}

TEST_CASE("JsonDecoder: values of any resource take no more than twice the limit beside the text") {
    const Kind widget = other_kind({"Widget", "example.com", "v1", "widgets", true});
    const detail::KindSchema schema = detail::make_schema(widget, Fields::all());
    struct Row {
        std::string_view before, repeated, after;
    };
    for (const Row& row :
         {Row{R"("a":[)", "0,", "0]"}, Row{R"("a":[)", "[],", "0]"}, Row{R"("a":[)", "{},", "0]"},
          Row{R"("a":[)", "[[[[0]]]],", "0]"}, Row{R"("a":[)", R"({"a":0},)", "0]"},
          Row{R"("a":[)", R"("",)", "0]"}, Row{R"("a":[)", R"("123456789012345",)", "0]"},
          Row{R"("a":{)", R"("":0,)", R"("":0})"},
          Row{R"("a":[)", R"({"a":{},"b":[{"c":"d"}]},)", "0]"}, Row{R"("a":")", R"(\u00e9)", "\""},
          Row{R"("a":")", "x", "\""}}) {
        for (std::size_t size = 2048; size < 2 * limit; size += size / 2) {
            CAPTURE(row.repeated, size);
            const Cost measured =
                cost(schema, row.before, row.repeated, row.after, size / row.repeated.size());
            CHECK(measured.most <= 3 * limit + fixed);
            CHECK(measured.after <= fixed);
        }
    }
    // Usual objects are far below it.
    CHECK(cost(schema, R"("a":[)", R"({"name":"some-name","value":"of some length","port":8080},)",
               "{}]", limit / 32 / 55)
              .too_large == 0);
}

TEST_CASE("JsonDecoder: the memory that is kept for the next object is that of all its lists") {
    const auto times = [](int count, const char* text) {
        std::string all;
        for (int i = 0; i < count; ++i) all += text;
        return all;
    };
    const std::string labels = times(900, R"("a":"b",)") + R"("a":"b")";
    const std::string items = times(120, "{},") + "{}";
    const std::string lists = R"("metadata":{"ownerReferences":[)" + items + R"(],"labels":{)" +
                              labels + R"(},"annotations":{)" + labels +
                              R"(}},"spec":{"containers":[)" + items + R"(],"initContainers":[)" +
                              items + R"(]},"status":{"conditions":[)" + items +
                              R"(],"containerStatuses":[)" + items + R"(],"ignored":[)";
    CHECK(cost(Kind::pod, lists, "{},", "{}]}", 1).after <= fixed / 2);
}

TEST_CASE("JsonDecoder: an event of 20 MiB of what is not kept takes no memory") {
    const Cost text = cost(Kind::pod, R"("status":{"message":")", "abcdefghijklmno ", "\"}",
                           (std::size_t{20} << 20) / 16);
    CHECK(text.too_large == 0);
    CHECK(text.most <= fixed);
    const Cost nested = cost(Kind::pod, R"("managedFields":[)", R"({"f:a":[{"f:b":{}}]},)", "{}]",
                             (std::size_t{2} << 20) / 21);
    CHECK(nested.too_large == 0);
    CHECK(nested.most <= fixed);
}

TEST_CASE("JsonDecoder: what is wrong with a long key is said with its beginning") {
    Decoded decoded =
        decode_list(Kind::pod, list(R"({"metadata":{"name":"p","namespace":"n","labels":{")" +
                                    std::string(100'000, 'k') + R"(":1}}})"));
    REQUIRE(decoded.calls.size() == 1);
    CHECK(decoded.calls[0].size() < 200);
}
