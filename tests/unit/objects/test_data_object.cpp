#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/text/base64.hpp"
#include "k8s_sd/objects/data_object.hpp"
#include "support/decoding.hpp"
#include "support/json_documents.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <map>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace k8s_sd::test::json_documents;
using Catch::Matchers::ContainsSubstring;
using Calls = std::vector<std::string>;
using Data = std::map<std::string, std::string>;

namespace {

std::string object(const std::string& members) {
    return R"({"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7"})" +
           (members.empty() ? "" : "," + members) + "}";
}

DataObjectPtr decode_data(Kind kind, const std::string& members) {
    detail::ObjectMaker maker;
    return as_data_object(decode_object(kind, maker, object(members)));
}

Data data_of(const DataObject& object) {
    Data data;
    for (const auto& [key, value] : object) data.emplace(key, value);
    return data;
}

}  // namespace

TEST_CASE("DataObject: a Secret has its data decoded, its type and its identity") {
    const auto secret = decode_data(
        Kind::secret,
        R"("type":"kubernetes.io/basic-auth","data":{"username":"YWRtaW4=","password":"cDpcAP8=","empty":""})");
    REQUIRE(secret);
    CHECK(secret->kind() == Kind::secret);
    CHECK(secret->ns() == "n");
    CHECK(secret->name() == "a");
    CHECK(secret->type() == "kubernetes.io/basic-auth");
    CHECK_FALSE(secret->immutable());
    CHECK(secret->size() == 3);
    CHECK(secret->get("username") == "admin");
    CHECK(secret->get("password") == std::string_view("p:\\\0\xFF", 5));
    CHECK(secret->get("empty") == "");
    CHECK_FALSE(secret->get("user"));
    CHECK_FALSE(secret->get(""));
    CHECK(secret->labels().empty());
    CHECK((*secret->begin()).first == "username");
}

TEST_CASE("DataObject: a ConfigMap has the text of data and the bytes of binaryData") {
    const auto map = decode_data(
        Kind::configmap,
        R"("immutable":true,"data":{"a.yaml":"YWRtaW4=\n"},"binaryData":{"blob":"AAEC"})");
    REQUIRE(map);
    CHECK(map->kind() == Kind::configmap);
    CHECK(map->type().empty());
    CHECK(map->immutable());
    CHECK(data_of(*map) == Data{{"a.yaml", "YWRtaW4=\n"}, {"blob", std::string("\0\1\2", 3)}});
}

TEST_CASE("DataObject: without data there is nothing in it") {
    for (const char* members : {"", R"("data":null)", R"("data":{},"immutable":null)",
                                R"("stringData":{"a":"b"},"data":{"a":null})"}) {
        CAPTURE(members);
        const auto secret = decode_data(Kind::secret, members);
        REQUIRE(secret);
        CHECK(secret->size() == 0);
        CHECK(secret->begin() == secret->end());
        CHECK_FALSE(secret->get("a"));
    }
}

TEST_CASE("DataObject: what is in it decides about change, metadata does not") {
    const std::string base = R"("type":"Opaque","data":{"a":"QQ==","b":"Qg=="})";
    const auto same = [&](const std::string& members) {
        return decode_data(Kind::secret, base)->same_content(*decode_data(Kind::secret, members));
    };
    CHECK(same(base));
    CHECK(same(R"("type":"Opaque","data":{"a":"QQ==","b":"Qg=="},"immutable":false)"));
    CHECK_FALSE(same(R"("type":"Other","data":{"a":"QQ==","b":"Qg=="})"));
    CHECK_FALSE(same(R"("type":"Opaque","data":{"a":"QQ==","b":"Qg=="},"immutable":true)"));
    CHECK_FALSE(same(R"("type":"Opaque","data":{"a":"QQ==","b":"QQ=="})"));
    CHECK_FALSE(same(R"("type":"Opaque","data":{"a":"QQ=="})"));
    // The same bytes, split differently.
    CHECK_FALSE(decode_data(Kind::configmap, R"("data":{"ab":"c"})")
                    ->same_content(*decode_data(Kind::configmap, R"("data":{"a":"bc"})")));
}

TEST_CASE("DataObject: other kinds are none") {
    detail::ObjectMaker maker;
    CHECK_FALSE(as_data_object(nullptr));
    CHECK_FALSE(as_data_object(decode_object(Kind::job, maker, object(""))));
}

TEST_CASE("JsonDecoder: a Secret whose data is not base64 is bad, its neighbours are not") {
    for (const char* value :
         {"?", "QQ", "QQ=", "Q===", "QQ==QQ==", "QQ-_", "Q\\u0000==", "QUJD=", "=", "\\u00e4"}) {
        CAPTURE(value);
        const std::string bad =
            object(R"("data":{"ok":"QQ==","key":")" + std::string(value) + R"("})");
        const Decoded decoded = decode_list(
            Kind::secret, list(bad + "," + object(R"("data":{"k":"QQ=="})"), "SecretList"));
        CHECK_FALSE(decoded.ec);
        CHECK(decoded.calls == Calls{"bad n/a @7: items.data.key: a string that is not base64",
                                     "added n/a @7 |  k=A"});
    }
    // A ConfigMap's text is not base64, its binaryData is.
    CHECK(decode_data(Kind::configmap, R"("data":{"a":"?"})")->get("a") == "?");
    const Decoded decoded =
        decode_list(Kind::configmap, list(object(R"("binaryData":{"a":"?"})"), "ConfigMapList"));
    CHECK(decoded.calls == Calls{"bad n/a @7: items.binaryData.a: a string that is not base64"});
}

TEST_CASE("JsonDecoder: a Secret is deleted also if its data is not base64") {
    const Decoded decoded =
        decode_watch(Kind::secret, event("DELETED", object(R"("data":{"k":"?"})")));
    CHECK(decoded.calls == Calls{"deleted n/a @7 | "});
}

TEST_CASE("JsonDecoder: a Secret of the wrong shape is bad, and the reason holds no data") {
    struct Row {
        const char* members;
        const char* problem;
    };
    for (const Row& row : std::initializer_list<Row>{
             {R"("data":"hunter2")", "data: a string where an object of strings was expected"},
             {R"("data":["hunter2"])", "data: an array where an object of strings was expected"},
             {R"("data":{"k":{"hunter2":"hunter2"}})", "data.k: an object where a string"},
             {R"("data":{"k":["hunter2"]})", "data.k: an array where a string was expected"},
             {R"("data":{"k":7})", "data.k: a number where a string was expected"},
             {R"("data":{"k":true})", "data.k: a boolean where a string was expected"},
             {R"("immutable":"hunter2")", "immutable: a string where a boolean was expected"},
             {R"("type":{"hunter2":1})", "type: an object where a string was expected"},
             {R"("data":{"k":"aHVudGVyMg"})", "data.k: a string that is not base64"}}) {
        CAPTURE(row.members);
        const Decoded decoded = decode_watch(Kind::secret, event("ADDED", object(row.members)));
        REQUIRE(decoded.calls.size() == 1);
        CHECK_THAT(decoded.calls[0], ContainsSubstring("bad n/a @7") &&
                                         ContainsSubstring(row.problem) &&
                                         !ContainsSubstring("hunter2"));
    }
}

TEST_CASE("JsonDecoder: Secrets and ConfigMaps decode the same however the body is split") {
    const std::string items =
        object(R"("type":"Opaque","data":{"long":")" + detail::decode_base64("UVFR").value() +
               std::string(4096, 'Q') + R"(Q","a":"YWRtaW4="},"immutable":true)") +
        "," + object(R"("data":{"key":"Yg=="})");
    for (const Kind kind : {Kind::secret, Kind::configmap}) {
        const std::string text = list(items, kind == Kind::secret ? "SecretList" : "ConfigMapList");
        const Decoded whole = decode_list(kind, text);
        REQUIRE(whole.objects.size() == 2);
        for (std::size_t cut = 0; cut <= text.size(); cut += 7) {
            const std::string_view view(text);
            CHECK(decode(Document::list, kind, {view.substr(0, cut), view.substr(cut)}) == whole);
        }
    }
}

TEST_CASE("JsonDecoder: a Secret larger than the limit is bad") {
    const std::string large = object(R"("data":{"k":")" + std::string(4000, 'Q') + R"("})");
    const Decoded decoded =
        decode_watch(Kind::secret, event("ADDED", large), {.max_object_bytes = 2000});
    REQUIRE(decoded.calls.size() == 1);
    CHECK_THAT(decoded.calls[0], ContainsSubstring("large n/a"));
}

TEST_CASE("JsonDecoder: annotations of a Secret, which may repeat its data, are not read") {
    const std::string annotations(5000, 'Q');
    const Decoded decoded = decode_watch(
        Kind::secret,
        event("ADDED", R"({"metadata":{"name":"a","namespace":"n","annotations":{"k":")" +
                           annotations + R"("}},"data":{"k":"QQ=="}})"),
        {.max_object_bytes = 1000});
    CHECK(decoded.calls == Calls{"added n/a @ |  k=A"});
}

TEST_CASE("base64: room is enough and not more than two bytes too much") {
    for (const char* text : {"", "QQ==", "QUI=", "QUJD", "QUJDRA==", "QUJ\nDRA==\n"}) {
        const auto decoded = detail::decode_base64(text);
        REQUIRE(decoded);
        CHECK(decoded->size() <= detail::base64_room(std::string_view(text).size()));
    }
    CHECK(detail::base64_room(4) == 3);
    CHECK(detail::base64_room(1400) == 1050);
    // Not base64, but partly decoded before the error is detected.
    CHECK_FALSE(detail::decode_base64("Q"));
    CHECK_FALSE(detail::decode_base64("QQ"));
    CHECK_FALSE(detail::decode_base64("QQQ"));
}
