#include "k8s_sd/detail/kinds/generic.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::detail;

namespace {

boost::json::object parsed(const std::string& text) { return boost::json::parse(text).as_object(); }

std::string kept_of(const std::string& text, const Fields& fields) {
    return boost::json::serialize(keep_content(parsed(text), fields));
}

}  // namespace

TEST_CASE("generic content: what fields keep of a document") {
    const std::string text =
        R"({"kind":"W","metadata":{"name":"a"},"spec":{"replicas":3,"image":"x","replicasMax":9},)"
        R"("status":{"conditions":[{"type":"A","status":"True"},5,{"status":"False"}]}})";
    CHECK(kept_of(text, Fields::all()) ==
          R"({"kind":"W","spec":{"replicas":3,"image":"x","replicasMax":9},)"
          R"("status":{"conditions":[{"type":"A","status":"True"},5,{"status":"False"}]}})");
    CHECK(kept_of(text, {"metadata"}) == "{}");
    CHECK(kept_of(text, {"spec.replicas"}) == R"({"spec":{"replicas":3}})");
    CHECK(kept_of(text, {"spec.replicas", "kind"}) == R"({"kind":"W","spec":{"replicas":3}})");
    CHECK(kept_of(text, {"status.conditions.type"}) ==
          R"({"status":{"conditions":[{"type":"A"},null,{}]}})");
    CHECK(kept_of(text, {"spec.replicas.deeper"}) == R"({"spec":{}})");
    CHECK(kept_of(text, {"spec.none"}) == R"({"spec":{}})");
}

TEST_CASE("generic content: keys may have dots in them") {
    CHECK(kept_of(R"({"spec":{"match":{"app.kubernetes.io/name":"a","b":"c"}}})",
                  {"spec.match.app.kubernetes.io/name"}) ==
          R"({"spec":{"match":{"app.kubernetes.io/name":"a"}}})");
}

TEST_CASE("generic content: only what is meant is compared") {
    const auto a = parsed(R"({"spec":{"a":1,"b":2}})");
    const auto b = parsed(R"({"spec":{"a":1,"b":3}})");
    CHECK(same_content(a, b, {"spec.a"}));
    CHECK(same_content(a, b, {"metadata"}));
    CHECK_FALSE(same_content(a, b, {"spec.b"}));
    CHECK_FALSE(same_content(a, b, Fields::all()));
    CHECK(same_content(a, a, Fields::all()));
}

TEST_CASE("generic content: whether the metadata suffice") {
    CHECK(are_of_metadata({"metadata"}));
    CHECK(are_of_metadata({"metadata.labels", "metadata.uid"}));
    CHECK_FALSE(are_of_metadata(Fields::all()));
    CHECK_FALSE(are_of_metadata({"metadata.labels", "spec"}));
    CHECK_FALSE(are_of_metadata({"metadataOther"}));
}
