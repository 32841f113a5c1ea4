#include "k8s_sd/detail/codec/generic_reader.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/parse.hpp>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

using namespace k8s_sd;
using namespace k8s_sd::detail;

namespace {

using GenericDocument = model::Document<Generic>;

std::string generic_problem(std::string_view text, GenericDocument& document) {
    return read_generic(text, document, std::size_t{16} << 20).text;
}

}  // namespace

TEST_CASE("generic objects: the metadata are read, and the content is the document") {
    const std::string text =
        R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","namespace":"shop",)"
        R"("uid":"u1","resourceVersion":"7","generation":5000000000,"generateName":"a-",)"
        R"("creationTimestamp":"2024-01-01T00:00:00Z","deletionTimestamp":null,)"
        R"("labels":{"x.io/k":"v"},"annotations":{"n":""},"finalizers":["f"],)"
        R"("ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u2",)"
        R"("controller":true}],"managedFields":[{}]},"spec":{"size":[1,2.5,"a",null]}})";
    GenericDocument document;
    CHECK(generic_problem(text, document).empty());
    const api::ObjectMeta& meta = document.metadata;
    CHECK(document.kind == "Widget");
    CHECK(meta.name == "a");
    CHECK(meta.namespace_ == "shop");
    CHECK(meta.uid == "u1");
    CHECK(meta.resource_version == "7");
    CHECK(meta.generation == 5'000'000'000);
    CHECK(meta.generate_name == "a-");
    CHECK(meta.creation_timestamp == std::chrono::sys_days(std::chrono::January / 1 / 2024));
    CHECK_FALSE(meta.deletion_timestamp);
    CHECK(meta.labels.find("x.io/k") == "v");
    CHECK(meta.annotations.find("n") == "");
    REQUIRE(meta.finalizers.size() == 1);
    CHECK(meta.finalizers.front() == "f");
    REQUIRE(meta.controller());
    CHECK(meta.controller()->uid == "u2");
    CHECK(document.content == boost::json::parse(text));
}

TEST_CASE(
    "generic objects: a Status in place of one is distinguished from an object with such members") {
    GenericDocument error;
    CHECK(generic_problem(R"({"apiVersion":"v1","kind":"Status","code":410,"reason":"Expired",)"
                          R"("message":"too old","details":{"retryAfterSeconds":3,)"
                          R"("causes":[{"reason":"r","message":"m"}]}})",
                          error)
              .empty());
    CHECK(error.status.code == 410);
    CHECK(error.status.reason == "Expired");
    CHECK(error.status.message == "too old");
    CHECK(error.status.retry_after_seconds == 3);
    REQUIRE(error.status.causes.size() == 1);
    CHECK(error.status.causes.front().message == "m");

    GenericDocument event;
    CHECK(generic_problem(R"({"apiVersion":"v1","kind":"Event","metadata":{"name":"e"},)"
                          R"("reason":"Killing","message":{"any":1},"code":"x","details":[]})",
                          event)
              .empty());
    CHECK(event.status.code == 0);
    CHECK(event.status.message.empty());
    CHECK(event.metadata.name == "e");
}

TEST_CASE("generic objects: what is wrong with one is said, and nothing is made up") {
    const auto problem = [](const std::string& text) {
        GenericDocument document;
        return generic_problem(text, document);
    };
    CHECK(problem("") != "");
    CHECK(problem("[]") == "not an object");
    CHECK(problem("{\"a\":}") != "");
    CHECK(problem("{\"a\":\"\xff\"}") != "");
    CHECK(problem(std::string(300, '[')) != "");
    CHECK(problem(R"({"metadata":[]})") == "metadata: not an object, as expected");
    CHECK(problem(R"({"metadata":{"name":5}})") == "name: not a string, as expected");
    CHECK(problem(R"({"metadata":{"labels":{"a":1}}})") == "labels: not a string, as expected");
    CHECK(problem(R"({"metadata":{"generation":1.5}})") ==
          "generation: not an integer, as expected");
    CHECK(problem(R"({"metadata":{"ownerReferences":[5]}})") ==
          "metadata.ownerReferences: not an array of objects, as expected");
    CHECK(problem(R"({"metadata":{"finalizers":{}}})") == "finalizers: not an array, as expected");
    CHECK(problem(R"({"metadata":{"labels":null,"name":null}})").empty());
}

TEST_CASE("generic objects: one whose values take too much memory is too large, however short") {
    GenericDocument document;
    const std::string zeros = "{\"a\":[0" + std::string(100'000, ' ') + "]}";
    std::string values = "{\"a\":[0";
    for (int i = 0; i < 50'000; ++i) values += ",0";
    values += "]}";
    CHECK_FALSE(read_generic(zeros, document, 200'000).too_large);
    const RawProblem problem = read_generic(values, document, 200'000);
    CHECK(problem.too_large);
    CHECK(problem.text == "its values take more than 400000 bytes of memory");
    CHECK_FALSE(read_generic(values, document, 4'000'000).too_large);
}
