#include "support/json_documents.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <random>
#include <string>
#include <vector>

namespace k8s_sd::test::json_documents::json_hostile_tests {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

TEST_CASE(
    "JsonDecoder: a value of the wrong type makes its object bad and leaves its neighbours alone") {
    struct Row {
        Kind kind;
        const char* member;
        const char* problem;
    };
    for (
        const Row& row : std::initializer_list<Row>{
            {Kind::pod, R"("spec":1)", "spec: a number where an object was expected"},
            {Kind::pod, R"("spec":[{"a":[1]}])", "spec: an array where an object was expected"},
            {Kind::pod, R"("spec":"x")", "spec: a string where an object was expected"},
            {Kind::pod, R"("spec":true)", "spec: a boolean where an object was expected"},
            {Kind::pod, R"("spec":1.5)", "spec: a fraction where an object was expected"},
            {Kind::pod, R"("spec":{"nodeName":{"a":{}}})",
             "spec.nodeName: an object where a string was expected"},
            {Kind::pod, R"("spec":{"nodeName":7})",
             "spec.nodeName: a number where a string was expected"},
            {Kind::pod, R"("spec":{"nodeName":[]})",
             "spec.nodeName: an array where a string was expected"},
            {Kind::pod, R"("spec":{"containers":{}})",
             "spec.containers: an object where an array was expected"},
            {Kind::pod, R"("spec":{"containers":["x"]})", "a string where an object was expected"},
            {Kind::pod, R"("spec":{"containers":[{"ports":[{"containerPort":"80"}]}]})",
             "containerPort: a string where an integer was expected"},
            {Kind::pod, R"("spec":{"containers":[{"ports":[{"containerPort":80.5}]}]})",
             "containerPort: a fraction where an integer was expected"},
            {Kind::pod, R"("spec":{"containers":[{"ports":[{"containerPort":true}]}]})",
             "containerPort: a boolean where an integer was expected"},
            {Kind::pod, R"("spec":{"containers":[{"ports":[{"containerPort":2147483648}]}]})",
             "containerPort: a number outside 32 bits"},
            {Kind::pod, R"("spec":{"containers":[{"ports":[{"containerPort":-2147483649}]}]})",
             "containerPort: a number outside 32 bits"},
            {Kind::pod,
             R"("spec":{"containers":[{"ports":[{"containerPort":18446744073709551615}]}]})",
             "containerPort: a number outside 32 bits"},
            {Kind::pod, R"("spec":{"containers":[{"ports":[{"containerPort":1e99}]}]})",
             "containerPort: a fraction"},
            {Kind::pod, R"("status":{"podIP":[1]})",
             "status.podIP: an array where a string was expected"},
            {Kind::pod, R"("status":{"conditions":[[]]})", "an array where an object was expected"},
            {Kind::pod, R"("status":{"containerStatuses":[{"state":{"terminated":1}}]})",
             "terminated: a number where an object was expected"},
            {Kind::node, R"("status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":"x"}}})",
             "status.daemonEndpoints.kubeletEndpoint.Port: a string where an integer was expected"},
            {Kind::node, R"("spec":{"providerID":{}})",
             "spec.providerID: an object where a string was expected"},
            {Kind::service, R"("spec":{"ports":[{"port":"http"}]})",
             "port: a string where an integer was expected"},
            {Kind::service, R"("spec":{"clusterIP":false})",
             "spec.clusterIP: a boolean where a string was expected"},
            {Kind::endpoints, R"("subsets":[{"addresses":[{"ip":1}]}])",
             "ip: a number where a string was expected"},
            {Kind::endpoints, R"("subsets":[{"addresses":[{"targetRef":"x"}]}])",
             "targetRef: a string where an object was expected"},
            {Kind::endpointslice, R"("endpoints":[{"conditions":{"ready":"true"}}])",
             "ready: a string where a boolean was expected"},
            {Kind::endpointslice, R"("endpoints":[{"addresses":[1]}])",
             "a number where a string was expected"},
            {Kind::endpointslice, R"("endpoints":[{"addresses":"1.1.1.1"}])",
             "addresses: a string where an array was expected"},
            {Kind::endpointslice, R"("endpoints":[{"deprecatedTopology":[]}])",
             "deprecatedTopology: an array where an object of strings was expected"},
            {Kind::ingress, R"("spec":{"rules":[{"host":0}]})",
             "host: a number where a string was expected"},
            {Kind::ingress, R"("spec":{"rules":[{"http":[]}]})",
             "http: an array where an object was expected"},
            {Kind::ingress, R"("spec":{"tls":[{"hosts":[{}]}]})",
             "an object where a string was expected"},
        }) {
        CAPTURE(row.member);
        CHECK_THAT(between_neighbours(row.kind, pod("bad", row.member)),
                   StartsWith("bad n/bad @7: ") && ContainsSubstring(row.problem));
    }
}

TEST_CASE("JsonDecoder: metadata of the wrong type makes its object bad") {
    for (
        const char* object :
        {R"({"metadata":{"name":1,"namespace":"n"}})",
         R"({"metadata":{"name":"bad","namespace":{}}})", R"({"metadata":[]})",
         R"({"metadata":"x"})", R"({"kind":5,"metadata":{"name":"x","namespace":"n"}})",
         R"({"metadata":{"name":"bad","namespace":"n","labels":{"a":{"b":"c"}}}})",
         R"({"metadata":{"name":"bad","namespace":"n","labels":{"a":1}}})",
         R"({"metadata":{"name":"bad","namespace":"n","labels":["a"]}})",
         R"({"metadata":{"name":"bad","namespace":"n","annotations":{"a":[[]]}}})",
         R"({"metadata":{"name":"bad","namespace":"n","ownerReferences":{}}})",
         R"({"metadata":{"name":"bad","namespace":"n","ownerReferences":[{"controller":"true"}]}})"}) {
        CAPTURE(object);
        CHECK_THAT(between_neighbours(Kind::pod, object), StartsWith("bad "));
    }
    CHECK_THAT(between_neighbours(
                   Kind::pod, R"({"metadata":{"name":"bad","namespace":"n","labels":{"a":1}}})"),
               ContainsSubstring("metadata.labels.a: a number where a string was expected"));
}

TEST_CASE("JsonDecoder: what is no object among the items is bad and leaves its neighbours alone") {
    for (const char* item :
         {"null", "1", "-1", "1.5", "18446744073709551615", "true", "\"x\"", "[]", "[{}]",
          "[[{\"metadata\":{}}]]", "{}", R"({"metadata":{}})",
          R"({"metadata":{"name":"","namespace":"n"}})", R"({"metadata":{"name":"x"}})"}) {
        CAPTURE(item);
        CHECK_THAT(between_neighbours(Kind::pod, item), StartsWith("bad "));
    }
}

TEST_CASE("JsonDecoder: an object of another kind is bad") {
    CHECK_THAT(between_neighbours(Kind::pod,
                                  R"({"kind":"Service","metadata":{"name":"s","namespace":"n"}})"),
               StartsWith("bad n/s") && ContainsSubstring("the kind Service and not Pod"));
    CHECK_THAT(
        between_neighbours(Kind::pod, R"({"metadata":{"name":"s","namespace":"n"},"kind":"pod"})"),
        ContainsSubstring("the kind pod and not Pod"));
}

TEST_CASE("JsonDecoder: of a list of another kind no item is taken, however it is cut") {
    const std::string typed =
        R"({"kind":"ServiceList","metadata":{"resourceVersion":"5"},"items":[)" + pod("a") + "," +
        pod("b") + "]}";
    const std::string sorted = R"({"apiVersion":"v1","items":[{"kind":"Service",)" +
                               pod("a").substr(1) +
                               R"(],"kind":"ServiceList","metadata":{"resourceVersion":"5"}})";
    for (const std::string& text : {typed, sorted}) {
        CAPTURE(text);
        const Decoded whole = decode_list(Kind::pod, text);
        CHECK(whole.ec == errc::malformed_response);
        CHECK(whole.objects.empty());
        for (std::size_t cut = 0; cut <= text.size(); ++cut) {
            const std::string_view view(text);
            if (!(decode(Document::list, Kind::pod, {view.substr(0, cut), view.substr(cut)}) ==
                  whole)) {
                FAIL("split at " << cut);
            }
        }
    }
}

TEST_CASE("JsonDecoder: numbers at the edge of 32 bits are taken as they are") {
    for (const char* number : {"2147483647", "-2147483648", "0", "-0"}) {
        const std::string text =
            pod("p", R"("spec":{"containers":[{"name":"c","ports":[{"containerPort":)" +
                         std::string(number) + R"(}]}]},"status":{"podIP":"1.1.1.1"})");
        CAPTURE(number);
        CHECK_THAT(decode_list(Kind::pod, list(text)).calls.at(0),
                   StartsWith("added n/p") &&
                       ContainsSubstring("port_number=" + std::to_string(std::stol(number)) + " "));
    }
}

TEST_CASE("JsonDecoder: repeated keys end with the last value and break nothing") {
    const Decoded decoded = decode_list(
        Kind::pod,
        R"({"kind":"X","kind":"PodList","metadata":{"resourceVersion":"1"},"metadata":{"resourceVersion":"2"},)"
        R"("items":[{"metadata":{"name":"a","name":"b","namespace":"n","labels":{"x":"1","x":"2"}},"metadata":{"uid":"u"}}]})");
    CHECK_FALSE(decoded.ec);
    CHECK(decoded.resource_version == "2");
    REQUIRE(decoded.objects.size() == 1);
    CHECK(decoded.objects[0]->name() == "b");
    CHECK(decoded.objects[0]->metadata_labels().get("__meta_kubernetes_pod_label_x") == "2");
    const Decoded watched = decode_watch(
        Kind::pod,
        R"({"type":"DELETED","type":"ADDED","object":{"kind":"Pod"},"object":)" + pod("p") + "}");
    CHECK_THAT(watched.calls.at(0), StartsWith("added n/p"));
}

TEST_CASE("JsonDecoder: events of an unknown type are bad, briefly, and the stream goes on") {
    const Decoded decoded =
        decode_watch(Kind::pod, event("added", pod("p")) + event(std::string(5000, 'X'), pod("q")) +
                                    event(" ", "null") + event("ADDED", pod("s")));
    CHECK_FALSE(decoded.ec);
    REQUIRE(decoded.calls.size() == 4);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK_THAT(decoded.calls[i], StartsWith("bad ") && ContainsSubstring("unknown type"));
    }
    CHECK(decoded.calls[1].size() < 200);
    CHECK_THAT(decoded.calls[3], StartsWith("added n/s"));
}

TEST_CASE("JsonDecoder: JSON without the type of an event ends the stream") {
    for (const std::string& document :
         {std::string("{}"), std::string("[]"), std::string("null "), std::string("1 "),
          std::string("\"x\""), "{\"object\":" + pod("r") + "}",
          std::string(R"({"type":null,"object":null})"), std::string(R"({"type":1})"),
          std::string(R"({"kind":"Status","code":410})"), list(pod("a"))}) {
        CAPTURE(document);
        const Decoded decoded =
            decode_watch(Kind::pod, event("ADDED", pod("p")) + document + event("ADDED", pod("q")));
        CHECK(decoded.ec == errc::malformed_response);
        CHECK_THAT(decoded.problem, ContainsSubstring("not events"));
        CHECK(decoded.calls.size() == 1);
    }
}

TEST_CASE("JsonDecoder: of a deleted object only the name is needed") {
    const Decoded decoded =
        decode_watch(Kind::pod, event("DELETED", pod("p", R"("spec":1)")) +
                                    event("DELETED", R"({"kind":"Service",)" + pod("s").substr(1)) +
                                    event("DELETED", R"({"metadata":{"namespace":"n"}})"));
    REQUIRE(decoded.calls.size() == 2);
    CHECK_THAT(decoded.calls[0], StartsWith("deleted n/p @7"));
    CHECK_THAT(decoded.calls[1], StartsWith("bad n/s"));
    CHECK(decoded.ec == errc::malformed_response);
}

TEST_CASE("JsonDecoder: events without a usable object are bad and the stream goes on") {
    for (const char* object : {"null", "1", "[]", "\"x\"", "{}", R"({"metadata":null})"}) {
        const Decoded decoded =
            decode_watch(Kind::pod, event("ADDED", object) + R"({"type":"MODIFIED"})" +
                                        event("ADDED", pod("p")));
        CAPTURE(object);
        CHECK_FALSE(decoded.ec);
        REQUIRE(decoded.calls.size() == 3);
        CHECK_THAT(decoded.calls[0], StartsWith("bad "));
        CHECK_THAT(decoded.calls[1], StartsWith("bad "));
        CHECK_THAT(decoded.calls[2], StartsWith("added n/p"));
    }
}

TEST_CASE("JsonDecoder: ERROR events with nonsense in them are still ERROR events") {
    for (const char* status :
         {"null", "{}", "[]", R"({"code":"no"})", R"({"code":99999999999})",
          R"({"details":[],"message":{}})", R"({"details":{"causes":{},"retryAfterSeconds":-1}})",
          R"({"metadata":1,"status":7})"}) {
        const Decoded decoded = decode_watch(Kind::pod, event("ERROR", status));
        CAPTURE(status);
        CHECK_FALSE(decoded.ec);
        REQUIRE(decoded.errors.size() == 1);
        CHECK(decoded.errors[0].code == 0);
        CHECK(decoded.errors[0].retry_after_seconds == 0);
    }
}

TEST_CASE("JsonDecoder: a list that ends early is truncated at every byte") {
    const std::string text = list(pod("a", R"("spec":{"nodeName":"\u0041\n"})") + "," + pod("b"));
    for (std::size_t size = 0; size < text.size(); ++size) {
        const Decoded decoded = decode_list(Kind::pod, std::string_view(text).substr(0, size));
        if (decoded.ec != errc::truncated_response)
            FAIL("truncated at " << size << ": " << decoded.ec.message());
        if (decoded.problem.empty()) FAIL("no problem at " << size);
    }
    CHECK_FALSE(decode_list(Kind::pod, text).ec);
}

TEST_CASE("JsonDecoder: a stream that ends in an event applies nothing of it") {
    const std::string first = event("ADDED", pod("a")), second = event("MODIFIED", pod("b"));
    const std::string text = first + second;
    for (std::size_t size = first.size(); size < text.size() - 1; ++size) {
        const Decoded decoded = decode_watch(Kind::pod, std::string_view(text).substr(0, size));
        const error_code expected = size == first.size() ? error_code() : errc::truncated_response;
        if (decoded.ec != expected) FAIL("truncated at " << size << ": " << decoded.ec.message());
        if (decoded.calls.size() != 1) FAIL("calls at " << size);
    }
}

TEST_CASE("JsonDecoder: HTML and other bytes that are no JSON are malformed") {
    for (const std::string& body :
         {std::string("<html><body>502 Bad Gateway</body></html>"),
          std::string("upstream connect error"), std::string("\xEF\xBB\xBF\xEF\xBB\xBF{}"),
          std::string("\0\0\0\0", 4), std::string("k8s\0\x0a\x0b", 6), std::string("\x1f\x8b\x08"),
          std::string("{'a':1}"), std::string("{a:1}"), std::string("{\"a\":1,}"),
          std::string("{\"a\" 1}"), std::string("[1 2]"), std::string("{\"a\":01}"),
          std::string("{\"a\":NaN}"), std::string("// c\n{}"), std::string("{\"a\":\"\n\"}"),
          std::string("{\"a\":\"\\x\"}"), std::string("}")}) {
        CAPTURE(body);
        CHECK(decode_list(Kind::pod, body).ec == errc::malformed_response);
        CHECK(decode_watch(Kind::pod, body).ec == errc::malformed_response);
        CHECK_THAT(decode_list(Kind::pod, body).problem, ContainsSubstring("not JSON"));
    }
}

TEST_CASE("JsonDecoder: nothing but white space may follow a list") {
    CHECK_FALSE(decode_list(Kind::pod, list(pod("a")) + "\r\n \t\n").ec);
    CHECK_FALSE(decode(Document::list, Kind::pod, {list(pod("a")), "\n", " "}).ec);
    for (const char* rest : {"x", "{}", "\n{}", "]", "\n\n<", ","}) {
        CAPTURE(rest);
        CHECK(decode_list(Kind::pod, list(pod("a")) + rest).ec == errc::malformed_response);
        CHECK(decode(Document::list, Kind::pod, {list(pod("a")), rest}).ec ==
              errc::malformed_response);
    }
}

TEST_CASE("JsonDecoder: what is no list of the kind is no list") {
    for (
        const std::string& body :
        {std::string(
             R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no","code":403})"),
         R"({"kind":"Pod",)" + pod("a").substr(1),
         std::string(
             R"({"kind":"Table","metadata":{"resourceVersion":"5"},"columnDefinitions":[],"rows":[{"cells":["a"]}]})"),
         std::string(R"({"kind":"ServiceList","metadata":{"resourceVersion":"5"},"items":[]})"),
         std::string(R"({"metadata":{"resourceVersion":"5"},"kind":"APIResourceList","items":[]})"),
         std::string(R"({"kind":"PodList","metadata":{"resourceVersion":"5"},"items":{}})"),
         std::string(R"({"kind":"PodList","metadata":{"resourceVersion":"5"},"items":"x"})"),
         std::string(R"({"kind":"PodList","metadata":{"resourceVersion":5},"items":[]})"),
         std::string(R"({"kind":"PodList","metadata":[],"items":[]})"), std::string("[]"),
         std::string("1 "), std::string("\"x\""), std::string("true"), std::string("false ")}) {
        CAPTURE(body);
        const Decoded decoded = decode_list(Kind::pod, body);
        CHECK(decoded.ec == errc::malformed_response);
        CHECK(decoded.calls.empty());
        CHECK_FALSE(decoded.problem.empty());
    }
}

TEST_CASE("JsonDecoder: a list without items is no empty list") {
    for (const char* body : {"{}", R"({"kind":"PodList","metadata":{"resourceVersion":"5"}})",
                             R"({"metadata":{"resourceVersion":"5","items":[]}})",
                             R"({"metadata":{"resourceVersion":"5"},"Items":[]})"}) {
        CAPTURE(body);
        const Decoded decoded = decode_list(Kind::pod, body);
        CHECK(decoded.ec == errc::malformed_response);
        CHECK_THAT(decoded.problem, ContainsSubstring("no items"));
    }
}

TEST_CASE("JsonDecoder: a list without a resource version is no basis for a watch") {
    for (const char* body :
         {R"({"items":[]})", R"({"kind":"PodList","items":[]})",
          R"({"kind":"PodList","metadata":{},"items":[]})",
          R"({"kind":"PodList","metadata":null,"items":[]})",
          R"({"kind":"PodList","metadata":{"resourceVersion":""},"items":[]})"}) {
        CAPTURE(body);
        CHECK(decode_list(Kind::pod, body).ec == errc::missing_resource_version);
    }
}

TEST_CASE("JsonDecoder: each byte that is not UTF-8 is a replacement character, as in Go") {
    const std::string text = list(pod("a\xFF\xC3(\xED\xA0\x80", R"("x":")"
                                                                "\x80"
                                                                R"(")"));
    const Decoded decoded = decode_list(Kind::pod, text);
    CHECK_FALSE(decoded.ec);
    REQUIRE(decoded.objects.size() == 1);
    CHECK(decoded.objects[0]->name() == "a\uFFFD\uFFFD(\uFFFD\uFFFD\uFFFD");
    const Decoded labels =
        decode_list(Kind::pod, list("{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"labels\":"
                                    "{\"k\xC0\":\"v\xE2\x82w\"}}}"));
    REQUIRE(labels.objects.size() == 1);
    CHECK(labels.objects[0]->metadata_labels().get("__meta_kubernetes_pod_label_k_") ==
          "v\uFFFD\uFFFDw");
}

TEST_CASE("JsonDecoder: after half a surrogate pair the next body is read with replacements") {
    const auto names_of = [](const std::string& name) {
        const std::string text = list(pod(name));
        std::string names;
        for (const Decoded& decoded :
             decode_in_a_row(Kind::pod, {{Document::list, text}, {Document::list, text}})) {
            names += decoded.objects.size() == 1 ? decoded.objects[0]->name() : "none";
            names += ' ';
        }
        return names;
    };
    CHECK(names_of(R"(\uD83D\uDE00)") == "\U0001F600 \U0001F600 ");
    CHECK(names_of(R"(\uD800)") == "none \uFFFD ");
    CHECK(names_of(R"(a\udfffb)") == "none a\uFFFD"
                                     "b ");
    CHECK(names_of(R"(\uD800\uD83D\uDE00\uDE00)") == "none \uFFFD\U0001F600\uFFFD ");
    CHECK(names_of(R"(\uD800\u0041\uD800\n)") == "none \uFFFD"
                                                 "A\uFFFD\n ");
    CHECK(names_of(R"(\\uD800\\\uD800)") == "none \\uD800\\\uFFFD ");
    CHECK(names_of(R"(\uD800\uD8)") == "none none ");
    CHECK(names_of(R"(\uD800\x)") == "none none ");
    const auto all = decode_in_a_row(
        Kind::pod, {{Document::watch, event("ADDED", pod("a", R"("skipped":"\uDC00\uD800")"))},
                    {Document::watch, event("ADDED", pod("b", R"("skipped":"\uDC00\uD800")"))},
                    {Document::watch, R"({"type":"\uD8)"},
                    {Document::watch, "\\"},
                    {Document::list, list(pod("c")) + "\\"}});
    CHECK(all[0].ec == errc::malformed_response);
    CHECK_THAT(all[1].calls.at(0), StartsWith("added n/b"));
    CHECK(all[2].ec == errc::truncated_response);
    CHECK(all[3].ec == errc::malformed_response);
    CHECK(all[4].ec == errc::malformed_response);
}

TEST_CASE("JsonDecoder: a byte order mark before a body is skipped, however it is cut") {
    const std::string mark = "\xEF\xBB\xBF";
    const std::string plain_list = list(pod("a"));
    const std::string plain_watch = event("ADDED", pod("a")) + event("DELETED", pod("a"));
    for (const Document document : {Document::list, Document::watch}) {
        const std::string& plain = document == Document::list ? plain_list : plain_watch;
        const std::string marked = mark + plain;
        const Decoded expected = decode(document, Kind::pod, {plain});
        CHECK_FALSE(expected.ec);
        for (std::size_t cut = 0; cut <= mark.size(); ++cut) {
            const std::string_view body = marked;
            CHECK(decode(document, Kind::pod, {body.substr(0, cut), body.substr(cut)}) == expected);
        }
        for (const std::string& wrong :
             {mark + mark + plain, "\xEF" + plain, "\xEF\xBB" + plain, plain + mark,
              " " + mark + plain, std::string("\xEF\xBB"), mark + "\xEF\xBB"}) {
            CAPTURE(wrong);
            CHECK(decode(document, Kind::pod, {wrong}).ec == errc::malformed_response);
        }
    }
    // Each body may have one.
    for (const Decoded& decoded : decode_in_a_row(
             Kind::pod, {{Document::list, mark + plain_list}, {Document::list, mark + plain_list}}))
        CHECK_FALSE(decoded.ec);
}

TEST_CASE("JsonDecoder: NUL is a character") {
    const Decoded nul = decode_list(
        Kind::pod,
        list(
            R"({"metadata":{"name":"a\u0000b","namespace":"n","labels":{"k\u0000l":"v\u0000w"}}})"));
    REQUIRE(nul.objects.size() == 1);
    CHECK(nul.objects[0]->name() == std::string_view("a\0b", 3));
    CHECK(nul.objects[0]->metadata_labels().get("__meta_kubernetes_pod_label_k_l") ==
          std::string_view("v\0w", 3));
}

TEST_CASE("JsonDecoder: random damage never does more than spoil an object or end the body") {
    std::mt19937 random(11);
    const std::string body = decoder_data("endpointslices.json"),
                      stream = decoder_data("pods.watch.ndjson");
    for (int round = 0; round < 1500; ++round) {
        std::string text = round % 2 == 0 ? body : stream;
        for (auto n = 1 + random() % 4; n > 0; --n) {
            const std::size_t at = random() % text.size();
            switch (random() % 4) {
                case 0: text[at] = static_cast<char>(random()); break;
                case 1: text.erase(at, 1 + random() % 30); break;
                case 2: text.insert(at, std::string(1, "{}[]\",:\\0tn"[random() % 11])); break;
                default: text.insert(at, text.substr(random() % text.size(), random() % 60)); break;
            }
            if (text.empty()) text = " ";
        }
        const Document document = round % 2 == 0 ? Document::list : Document::watch;
        const Kind kind = round % 2 == 0 ? Kind::endpointslice : Kind::pod;
        const Decoded whole = decode(document, kind, {text});
        CHECK(whole.calls.size() < 60);
        const std::string_view view(text);
        const std::size_t cut = random() % (text.size() + 1);
        CHECK(decode(document, kind, {view.substr(0, cut), view.substr(cut)}) == whole);
    }
}

}  // namespace k8s_sd::test::json_documents::json_hostile_tests
