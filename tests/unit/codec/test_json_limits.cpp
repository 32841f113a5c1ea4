#include "k8s_sd/detail/codec/scratch.hpp"
#include "support/json_documents.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>
#include <vector>

namespace k8s_sd::test::json_documents::json_limits_tests {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

TEST_CASE("JsonDecoder: nesting is limited, where it is skipped as well") {
    const auto nested = [](std::size_t depth) {
        return list(pod("p", R"("x":)" + many(depth, "[") + many(depth, "]")));
    };
    CHECK(decode_list(Kind::pod, nested(200)).objects.size() == 1);
    for (const std::size_t depth : {300U, 1000000U}) {
        const Decoded decoded = decode_list(Kind::pod, nested(depth));
        CHECK(decoded.ec == errc::malformed_response);
        CHECK_THAT(decoded.problem, ContainsSubstring("not JSON"));
    }
    CHECK(decode_list(Kind::pod, many(1000000, R"({"a":)")).ec == errc::malformed_response);
    CHECK(decode_watch(Kind::pod, many(1000000, "[")).ec == errc::malformed_response);
}

TEST_CASE("JsonDecoder: an object that is too large is skipped and the list goes on") {
    const DecodeOptions options{.max_object_bytes = 4000};
    const std::string huge(5000, 'x');
    for (const std::string& member :
         {R"("status":{"podIP":")" + huge + "\"}", R"("spec":{"nodeName":"\n)" + huge + "\"}",
          R"("spec":{"containers":[)" + many(100, R"({"name":")" + std::string(50, 'c') + "\"},") +
              "{}]}",
          R"("metadata":{"labels":{")" + huge + R"(":"v"}})",
          R"("metadata":{"annotations":{"k":")" + huge + "\"}}",
          R"("metadata":{"labels":{)" + many(100, "\"" + std::string(50, 'k') + "\":\"v\",") +
              R"("a":"b"}})"}) {
        CAPTURE(member.substr(0, 60));
        CHECK_THAT(between_neighbours(Kind::pod, pod("big", member), options),
                   StartsWith("large n/big @7: ") && ContainsSubstring("larger than 4000 bytes") &&
                       !ContainsSubstring("labels.labels"));
    }
}

TEST_CASE("JsonDecoder: many empty elements count towards the size of an object") {
    const DecodeOptions options{.max_object_bytes = 4000};
    for (const std::string& member :
         {R"("spec":{"containers":[)" + many(1000, "{},") + "{}]}",
          R"("status":{"conditions":[)" + many(1000, "{},") + "{}]}",
          R"("metadata":{"labels":{)" + many(1000, R"("":"",)") + R"("a":""}})",
          R"("metadata":{"ownerReferences":[)" + many(1000, "{},") + "{}]}"}) {
        CAPTURE(member.substr(0, 60));
        CHECK_THAT(between_neighbours(Kind::pod, pod("big", member), options),
                   StartsWith("large n/big @7: "));
    }
    CHECK_THAT(between_neighbours(
                   Kind::endpointslice,
                   pod("big", R"("endpoints":[{"addresses":[)" + many(1000, "\"\",") + "\"\"]}]"),
                   options),
               StartsWith("large n/big @7: "));
}

TEST_CASE("JsonDecoder: what becomes of a large object does not depend on chunks") {
    const DecodeOptions options{.max_object_bytes = 300};
    const std::string huge(320, 'x');
    for (const std::string& member :
         {R"("status":{"podIP":")" + huge + "\"}", "\"" + huge + R"(":1)",
          R"("spec":{")" + huge + R"(":{}})", R"("spec":")" + huge + "\"",
          R"("metadata":{"labels":{")" + huge + R"(":"v"}})", R"("x":")" + huge + "\""}) {
        const std::string text = list(pod("a") + "," + pod("big", member) + "," + pod("b"));
        const Decoded whole = decode_list(Kind::pod, text, options);
        CAPTURE(member.substr(0, 40));
        CHECK(whole.calls.size() == 3);
        for (std::size_t cut = 0; cut <= text.size(); ++cut) {
            const std::string_view view(text);
            if (!(decode(Document::list, Kind::pod, {view.substr(0, cut), view.substr(cut)},
                         options) == whole)) {
                FAIL("split at " << cut);
            }
        }
    }
}

TEST_CASE("JsonDecoder: what reaches no label is never kept, however large it is") {
    const DecodeOptions options{.max_object_bytes = 500};
    const std::string fields = R"({"manager":"m","fieldsV1":{)" +
                               many(20000, R"("f:a":{"f:b":{},".":{}},)") + R"("f:c":{}}})";
    const std::string object =
        R"({"metadata":{"name":"p","namespace":"n","managedFields":[)" + fields +
        R"(],"selfLink":")" + std::string(100000, 's') + R"("},"spec":{"volumes":[)" +
        many(10000, R"({"name":"v"},)") +
        R"({}],"containers":[{"name":"c","env":[{"name":"E","value":")" + std::string(100000, 'e') +
        R"("}]}]},"status":{"podIP":"1.1.1.1","images":[)" + many(10000, R"("i",)") + R"("j"]}})";
    const Decoded decoded = decode_list(Kind::pod, list(object), options);
    CHECK_FALSE(decoded.ec);
    REQUIRE(decoded.calls.size() == 1);
    CHECK_THAT(decoded.calls[0],
               StartsWith("added n/p") && ContainsSubstring("__address__=1.1.1.1"));
}

TEST_CASE("JsonDecoder: labels of replicasets and jobs are not kept") {
    const std::string labels = many(1000, "\"" + std::string(50, 'k') + "\":\"v\",");
    const std::string object =
        R"({"metadata":{"name":"r","namespace":"n","labels":{)" + labels + R"("a":"b"}}})";
    for (const Kind kind : {Kind::replicaset, Kind::job}) {
        const Decoded decoded =
            decode_watch(kind, event("ADDED", object), {.max_object_bytes = 100});
        CHECK(decoded.objects.size() == 1);
    }
}

TEST_CASE("TextArena: texts stay where they are until the reset, however large they are") {
    detail::TextArena arena;
    CHECK(arena.size() == 0);
    CHECK(arena.copy("").empty());
    std::vector<std::string_view> kept;
    std::size_t size = 0;
    for (const std::size_t length :
         {1U, 100U, 16383U, 16384U, 3U, 16385U, 100000U, 0U, 7U, 12000U, 9000U}) {
        kept.push_back(arena.copy(std::string(length, static_cast<char>('a' + kept.size()))));
        size += length;
        CHECK(arena.size() == size);
    }
    for (std::size_t i = 0; i < kept.size(); ++i) {
        CHECK(kept[i] == std::string(kept[i].size(), static_cast<char>('a' + i)));
    }
    arena.reset();
    CHECK(arena.size() == 0);
    CHECK(arena.copy("again") == "again");
    CHECK(arena.size() == 5);
}

}  // namespace k8s_sd::test::json_documents::json_limits_tests
