#include "k8s_sd/kind.hpp"
#include "support/decoding.hpp"
#include "support/effort.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <map>
#include <regex>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using Calls = std::vector<std::string>;

namespace {

const std::vector<Kind> kinds{Kind::node,       Kind::pod,        Kind::service,
                              Kind::endpoints,  Kind::ingress,    Kind::endpointslice,
                              Kind::namespace_, Kind::replicaset, Kind::job};

const std::string replicasets =
    R"({"kind":"ReplicaSetList","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"r",)"
    R"("namespace":"n","labels":{"a":"b"},"ownerReferences":[{"kind":"X","name":"x"},)"
    R"({"kind":"Deployment","name":"d","controller":true}]},"spec":{"replicas":1}}]})";
const std::string jobs =
    R"({"kind":"JobList","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"j",)"
    R"("namespace":"n","ownerReferences":[{"controller":true,"kind":"CronJob","name":"c"}]}}]})";

std::string list_of(Kind kind) {
    if (kind == Kind::replicaset) return replicasets;
    if (kind == Kind::job) return jobs;
    return decoder_data(std::string(to_string(kind)) + ".json");
}
std::string stream_of(Kind kind) {
    if (kind != Kind::replicaset && kind != Kind::job) {
        return decoder_data(std::string(to_string(kind)) + ".watch.ndjson");
    }
    const std::string list = list_of(kind);
    const std::size_t start = list.find("[{") + 1;
    const std::string object = list.substr(start, list.rfind("]}") - start);
    return R"({"type":"ADDED","object":)" + object + "}\n" + R"({"object":)" + object +
           R"(,"type":"DELETED"})" + "\n";
}

/// Every split point of a long document would take minutes.
std::size_t stride(const std::string& text) {
    return text.size() / rounds(std::size_t{1200}) + step_of(7);
}

void check_all_splits(Document document, Kind kind, const std::string& text) {
    const Decoded whole = decode(document, kind, {text});
    REQUIRE_FALSE(whole.ec);
    REQUIRE_FALSE(whole.calls.empty());
    std::vector<std::string_view> bytes;
    for (std::size_t i = 0; i < text.size(); ++i)
        bytes.push_back(std::string_view(text).substr(i, 1));
    CHECK(decode(document, kind, bytes) == whole);
    for (std::size_t cut = 0; cut <= text.size(); cut += stride(text)) {
        const std::string_view view(text);
        if (!(decode(document, kind, {view.substr(0, cut), view.substr(cut)}) == whole)) {
            FAIL(to_string(kind) << " split at " << cut);
        }
    }
}

const std::string pod_text =
    R"({"metadata":{"name":"p","namespace":"n","uid":"u","resourceVersion":"7","labels":{"app":"web"}},)"
    R"("spec":{"containers":[{"name":"c","ports":[{"containerPort":80}]}]},"status":{"podIP":"10.0.0.1"}})";

std::string list(const std::string& items, const std::string& kind = "PodList") {
    return R"({"kind":")" + kind + R"(","metadata":{"resourceVersion":"100"},"items":[)" + items +
           "]}";
}
std::string event(const std::string& type, const std::string& object) {
    return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

}  // namespace

TEST_CASE("JsonDecoder: real lists of every kind give their objects, versions and tokens") {
    const std::map<Kind, std::size_t> sizes{
        {Kind::node, 1},       {Kind::pod, 1},           {Kind::service, 2},
        {Kind::endpoints, 2},  {Kind::endpointslice, 2}, {Kind::ingress, 7},
        {Kind::namespace_, 6}, {Kind::replicaset, 1},    {Kind::job, 1}};
    for (const Kind kind : kinds) {
        CAPTURE(to_string(kind));
        const Decoded decoded = decode_list(kind, list_of(kind));
        CHECK_FALSE(decoded.ec);
        CHECK(decoded.problem.empty());
        CHECK(decoded.objects.size() == decoded.calls.size());
        CHECK(decoded.objects.size() == sizes.at(kind));
        for (const ObjectPtr& object : decoded.objects) CHECK(object->kind() == kind);
        CHECK_FALSE(decoded.resource_version.empty());
        CHECK(decoded.continue_token.empty() == (kind != Kind::pod));
    }
}

TEST_CASE("JsonDecoder: a real pod list gives what reaches a label and nothing else") {
    const Decoded decoded = decode_list(Kind::pod, list_of(Kind::pod));
    REQUIRE(decoded.calls.size() == 1);
    CHECK_THAT(decoded.calls[0], StartsWith("added ns-000/app-0000-7d9c6b8f5-x0000 @"));
    CHECK_THAT(decoded.calls[0], ContainsSubstring("__meta_kubernetes_pod_container_port_number="));
    CHECK_THAT(decoded.calls[0], !ContainsSubstring("managedFields") && !ContainsSubstring("f:"));
    CHECK(decoded.resource_version == "23537");
    CHECK_THAT(decoded.continue_token, StartsWith("eyJ2IjoibWV0YS5"));
}

TEST_CASE("JsonDecoder: lists are decoded the same however they are cut into chunks") {
    for (const Kind kind : kinds) check_all_splits(Document::list, kind, list_of(kind));
}

TEST_CASE("JsonDecoder: watch streams are decoded the same however they are cut into chunks") {
    for (const Kind kind : kinds) check_all_splits(Document::watch, kind, stream_of(kind));
}

TEST_CASE("JsonDecoder: escapes and UTF-8 are decoded the same however they are cut into chunks") {
    const std::string text =
        R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[{"metadata":{)"
        R"("\u006eame":"p\u0041","namespace":"\u006e","annotations":{"k\n\t\"\\\/\b\f\r":"\ud83d\ude00 \u00e9\u4e2d)"
        "\xF0\x9F\x98\x80\xC3\xA9"
        R"(\u0000end","\u006b":"\\u0041"}}}]})";
    check_all_splits(Document::list, Kind::pod, text);
    const Decoded decoded = decode_list(Kind::pod, text);
    REQUIRE(decoded.objects.size() == 1);
    CHECK(decoded.objects[0]->name() == "pA");
    CHECK(decoded.objects[0]->ns() == "n");
    const auto labels = decoded.objects[0]->metadata_labels();
    CHECK(labels.get("__meta_kubernetes_pod_annotation_k________") ==
          std::string("\xF0\x9F\x98\x80 \xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80\xC3\xA9\0end", 20));
    CHECK(labels.get("__meta_kubernetes_pod_annotation_k") == "\\u0041");
}

TEST_CASE("JsonDecoder: the order of keys does not matter") {
    const Decoded plain = decode_list(Kind::pod, list(pod_text));
    REQUIRE(plain.calls.size() == 1);
    CHECK(decode_list(Kind::pod,
                      R"({"apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Pod",)" +
                          pod_text.substr(1) +
                          R"(],"kind":"PodList","metadata":{"resourceVersion":"100"}})") == plain);
    const std::string backwards =
        R"({"status":{"podIP":"10.0.0.1"},"spec":{"containers":[{"ports":[{"containerPort":80}],"name":"c"}]},)"
        R"("metadata":{"labels":{"app":"web"},"resourceVersion":"7","uid":"u","namespace":"n","name":"p"}})";
    CHECK(decode_list(Kind::pod, list(backwards)) == plain);
    CHECK(decode_watch(Kind::pod, R"({"object":)" + backwards + R"(,"type":"MODIFIED"})") ==
          decode_watch(Kind::pod, event("MODIFIED", pod_text)));
}

TEST_CASE("JsonDecoder: unknown members are skipped wherever they are, even if they look like "
          "wanted ones") {
    const std::string junk =
        R"("x":{"metadata":{"name":"no"},"items":[{"metadata":{"name":"no","namespace":"no"}}],"a":[[{}],1,null,true,"s"]},)";
    const std::string pod = "{" + junk + pod_text.substr(1);
    const std::string inner = R"({"metadata":{)" + junk +
                              R"("name":"p","namespace":"n"},"spec":{)" + junk +
                              R"("containers":[{)" + junk + R"("name":"c"}]}})";
    CHECK(decode_list(Kind::pod, R"({)" + junk + list(pod).substr(1)) ==
          decode_list(Kind::pod, list(pod_text)));
    const Decoded decoded = decode_list(Kind::pod, list(inner));
    REQUIRE(decoded.calls.size() == 1);
    CHECK_THAT(decoded.calls[0], StartsWith("added n/p"));
}

TEST_CASE("JsonDecoder: items that are null or empty are an empty list") {
    for (const char* items : {"null", "[]"}) {
        const Decoded decoded = decode_list(
            Kind::pod, R"({"kind":"PodList","metadata":{"resourceVersion":"5"},"items":)" +
                           std::string(items) + "}");
        CAPTURE(items);
        CHECK_FALSE(decoded.ec);
        CHECK(decoded.calls.empty());
        CHECK(decoded.resource_version == "5");
    }
}

TEST_CASE("JsonDecoder: a list of kubectl's kind List is a list") {
    const Decoded decoded =
        decode_list(Kind::pod, list(R"({"kind":"Pod",)" + pod_text.substr(1), "List"));
    CHECK_FALSE(decoded.ec);
    CHECK(decoded.objects.size() == 1);
}

TEST_CASE("JsonDecoder: null is the same as absent for every wanted value") {
    const std::string pod =
        R"({"metadata":{"name":"p","namespace":"n","labels":null,"annotations":null,"uid":null,)"
        R"("ownerReferences":null},"spec":{"nodeName":null,"containers":[{"name":"c","ports":null}],)"
        R"("initContainers":null},"status":{"conditions":null,"containerStatuses":[{"name":"c","state":)"
        R"({"terminated":null}}],"podIP":"1.1.1.1"}})";
    const Decoded decoded =
        decode_list(Kind::pod, list(pod), {.dialect = LabelDialect::victoriametrics});
    REQUIRE(decoded.calls.size() == 1);
    CHECK_THAT(decoded.calls[0],
               StartsWith("added n/p") && ContainsSubstring("__address__=1.1.1.1"));
}

TEST_CASE("JsonDecoder: events may be separated by any white space or by none") {
    const std::string a = R"({"type":"ADDED","object":)" + pod_text + "}";
    const Decoded expected = decode_watch(Kind::pod, a + "\n" + a + "\n");
    REQUIRE(expected.calls.size() == 2);
    for (const std::string& body :
         {a + a, a + "\r\n" + a + "\r\n", "\n\n" + a + "\n \t\r\n\n" + a, a + " " + a + "  "}) {
        CAPTURE(body);
        CHECK(decode_watch(Kind::pod, body) == expected);
        check_all_splits(Document::watch, Kind::pod, body);
    }
}

TEST_CASE("JsonDecoder: a stream without events is complete") {
    for (const char* body : {"", "\n", "\r\n\r\n", "   "}) {
        const Decoded decoded = decode_watch(Kind::pod, body);
        CHECK_FALSE(decoded.ec);
        CHECK(decoded.calls.empty());
    }
}

TEST_CASE("JsonDecoder: each type of event reaches the sink with the object's version") {
    const Decoded decoded =
        decode_watch(Kind::pod, event("ADDED", pod_text) + event("MODIFIED", pod_text) +
                                    event("DELETED", pod_text));
    REQUIRE(decoded.calls.size() == 3);
    CHECK_THAT(decoded.calls[0], StartsWith("added n/p @7 |"));
    CHECK_THAT(decoded.calls[1], StartsWith("modified n/p @7 |"));
    CHECK_THAT(decoded.calls[2], StartsWith("deleted n/p @7 |"));
}

TEST_CASE("JsonDecoder: an event leaves nothing behind for the next one") {
    const std::string bare = R"({"metadata":{"name":"q","namespace":"n"}})";
    const Decoded alone = decode_watch(Kind::pod, event("ADDED", bare));
    const Decoded after = decode_watch(Kind::pod, event("ADDED", pod_text) + event("ADDED", bare));
    REQUIRE(after.calls.size() == 2);
    CHECK(after.calls[1] == alone.calls[0]);
    const Decoded untyped =
        decode_watch(Kind::pod, event("DELETED", pod_text) + R"({"object":)" + bare + "}");
    CHECK(untyped.calls.size() == 1);
    CHECK(untyped.ec == errc::malformed_response);
    const Decoded items = decode_list(Kind::pod, list(pod_text + "," + bare));
    REQUIRE(items.calls.size() == 2);
    CHECK(items.calls[1] == alone.calls[0]);
}

TEST_CASE("JsonDecoder: bookmarks count with null and zero values, without a name") {
    const Decoded decoded = decode_watch(
        Kind::pod,
        event(
            "BOOKMARK",
            R"({"kind":"Pod","metadata":{"resourceVersion":"41","creationTimestamp":null},"spec":{"containers":null},"status":{}})") +
            event(
                "BOOKMARK",
                R"({"metadata":{"resourceVersion":"42","annotations":{"k8s.io/initial-events-end":"true"}},"spec":null})") +
            event(
                "BOOKMARK",
                R"({"metadata":{"resourceVersion":"43","annotations":{"k8s.io/initial-events-end":"false","x":"true"}}})"));
    CHECK(decoded.calls == Calls{"bookmark @41", "bookmark @42, the list ends", "bookmark @43"});
}

TEST_CASE("JsonDecoder: bookmarks are understood for every kind") {
    for (const Kind kind : kinds) {
        const Decoded decoded = decode_watch(
            kind,
            event(
                "BOOKMARK",
                R"({"metadata":{"resourceVersion":"42","annotations":{"k8s.io/initial-events-end":"true"}}})"));
        CAPTURE(to_string(kind));
        CHECK(decoded.calls == Calls{"bookmark @42, the list ends"});
    }
}

TEST_CASE("JsonDecoder: ERROR events bring the server's status, for every kind") {
    const std::string status =
        R"-({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 1 (301)",)-"
        R"("reason":"Expired","code":410})";
    for (const Kind kind : kinds) {
        CAPTURE(to_string(kind));
        const Decoded decoded = decode_watch(kind, event("ERROR", status));
        REQUIRE(decoded.errors.size() == 1);
        CHECK(decoded.calls == Calls{"error 410 Expired: too old resource version: 1 (301)"});
        CHECK(decoded.errors[0].causes.empty());
        CHECK(decoded.errors[0].retry_after_seconds == 0);
    }
    check_all_splits(Document::watch, Kind::pod, event("ERROR", status));
}

TEST_CASE("JsonDecoder: the code of an ERROR event may be in quotes, or absent") {
    struct Row {
        const char* status;
        unsigned code;
    };
    for (const Row& row :
         std::initializer_list<Row>{{R"({"reason":"Expired"})", 0},
                                    {R"({"kind":"Status","reason":"Gone","message":"too old"})", 0},
                                    {R"({"code":"410"})", 410},
                                    {R"({"code":"410","reason":"Expired"})", 410}}) {
        CAPTURE(row.status);
        for (const Kind kind : kinds) {
            const Decoded decoded = decode_watch(kind, event("ERROR", row.status));
            REQUIRE(decoded.errors.size() == 1);
            CHECK(decoded.errors[0].code == row.code);
        }
        check_all_splits(Document::watch, Kind::pod, event("ERROR", row.status));
    }
}

TEST_CASE("JsonDecoder: an ERROR event has its causes, complete or not") {
    const std::string status =
        R"({"code":504,"reason":"Timeout","message":"x","details":{"causes":[)"
        R"({"reason":"ResourceVersionTooLarge","message":"Too large resource version"},)"
        R"({"message":"text only"},{"reason":"Other"},{}]}})";
    const Decoded decoded = decode_watch(Kind::pod, event("ERROR", status));
    REQUIRE(decoded.errors.size() == 1);
    const auto& causes = decoded.errors[0].causes;
    REQUIRE(causes.size() == 4);
    CHECK(causes[0].reason == "ResourceVersionTooLarge");
    CHECK(causes[0].message == "Too large resource version");
    CHECK(causes[1].reason.empty());
    CHECK(causes[1].message == "text only");
    CHECK(causes[2].reason == "Other");
    CHECK((causes[3].reason.empty() && causes[3].message.empty()));
    CHECK(decode_watch(Kind::pod, event("ERROR", R"({"code":504})")).errors[0].causes.empty());
    check_all_splits(Document::watch, Kind::pod, event("ERROR", status));
}

TEST_CASE("JsonDecoder: an ERROR event may have a retry delay") {
    const Decoded decoded = decode_watch(
        Kind::pod, event("ERROR", R"({"code":429,"details":{"retryAfterSeconds":7}})"));
    REQUIRE(decoded.errors.size() == 1);
    CHECK(decoded.errors[0].retry_after_seconds == 7);
}

TEST_CASE("JsonDecoder: objects carry their kind, or none in a list") {
    const std::string with_kind = R"({"kind":"Pod",)" + pod_text.substr(1);
    CHECK_THAT(decode_list(Kind::pod, list(with_kind)).calls.at(0), StartsWith("added n/p"));
    CHECK_THAT(decode_list(Kind::pod, list(pod_text)).calls.at(0), StartsWith("added n/p"));
}

TEST_CASE("JsonDecoder: cluster-wide objects need no namespace, others do") {
    const std::string bare = R"({"metadata":{"name":"x"}})";
    for (const Kind kind : kinds) {
        CAPTURE(to_string(kind));
        const Decoded decoded = decode_watch(kind, event("ADDED", bare));
        CHECK(decoded.objects.size() == (resource_of(kind).namespaced ? 0 : 1));
    }
}

TEST_CASE("JsonDecoder: one decoder takes body after body, whatever became of the one before") {
    const std::string good = list(pod_text), stream = event("ADDED", pod_text);
    const auto all =
        decode_in_a_row(Kind::pod, {{Document::list, good},
                                    {Document::list, good.substr(0, good.size() / 2)},
                                    {Document::list, good},
                                    {Document::watch, stream.substr(0, stream.size() / 2)},
                                    {Document::watch, stream},
                                    {Document::list, "<html>"},
                                    {Document::watch, stream},
                                    {Document::list, good}});
    REQUIRE(all.size() == 8);
    CHECK(all[0].calls.size() == 1);
    CHECK(all[1].ec == errc::truncated_response);
    CHECK(all[2] == all[0]);
    CHECK(all[3].ec == errc::truncated_response);
    CHECK(all[4].calls.size() == 1);
    CHECK(all[5].ec == errc::malformed_response);
    CHECK(all[6] == all[4]);
    CHECK(all[7] == all[0]);
}

TEST_CASE("JsonDecoder: a list's version and token are forgotten with the next list") {
    const auto all = decode_in_a_row(
        Kind::pod,
        {{Document::list, R"({"metadata":{"resourceVersion":"1","continue":"t"},"items":[]})"},
         {Document::list, R"({"metadata":{"resourceVersion":"2"},"items":[]})"},
         {Document::list, R"({"metadata":{},"items":[]})"}});
    CHECK(all[0].continue_token == "t");
    CHECK(all[1].continue_token.empty());
    CHECK(all[1].resource_version == "2");
    CHECK(all[2].ec == errc::missing_resource_version);
}
