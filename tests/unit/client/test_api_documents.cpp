#include "k8s_sd/detail/client/api_documents.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

using namespace k8s_sd::detail;

TEST_CASE("API documents: which resources a version of a group has") {
    const std::string text =
        R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"networking.k8s.io/v1",)"
        R"("resources":[{"name":"ingresses/status","singularName":"","namespaced":true,)"
        R"("kind":"Ingress","verbs":["get"]},{"name":"networkpolicies","singularName":"",)"
        R"("namespaced":true,"kind":"NetworkPolicy","verbs":["get","list","watch"]}]})"
        "\n";
    CHECK(lists_resource(text, "networkpolicies") == true);
    CHECK(lists_resource(text, "ingresses") == false);
    CHECK(lists_resource(R"({"kind":"APIResourceList","resources":[]})", "ingresses") == false);
}

TEST_CASE("API documents: a byte order mark before one is skipped") {
    CHECK(lists_resource("\xEF\xBB\xBF{\"kind\":\"APIResourceList\",\"resources\":[]}", "pods") ==
          false);
}

TEST_CASE("API documents: what is no list of resources says nothing") {
    for (const std::string& text :
         {std::string(), std::string("{"), std::string("[]"), std::string("null"),
          std::string("<html>"), std::string(R"({"kind":"Status","code":404})"),
          std::string(R"({"kind":"APIResourceList"})"),
          std::string(R"({"kind":"APIResourceList","resources":{}})"),
          std::string(R"({"kind":5,"resources":[{"name":"pods"}]})"),
          std::string(R"({"kind":"APIGroup","resources":[{"name":"pods"}]})"),
          std::string(R"({"kind":"APIResourceList","resources":[]} x)"), std::string(60'000, '['),
          R"({"kind":"APIResourceList","resources":)" + std::string(60'000, '['),
          std::string(60'000, '\xff'), std::string("\0\0", 2)}) {
        CAPTURE(text.substr(0, 60));
        CHECK_FALSE(lists_resource(text, "pods"));
    }
}

TEST_CASE("API documents: entries that are no resources are passed over") {
    const std::string text =
        R"({"kind":"APIResourceList","resources":[null,5,"pods",{},{"name":7},{"name":["pods"]})";
    CHECK(lists_resource(text + "]}", "pods") == false);
    CHECK(lists_resource(text + R"(,{"name":"pods"}]})", "pods") == true);
}

TEST_CASE("API documents: the version of the server is one short line") {
    CHECK(read_server_version(R"({"major":"1","gitVersion":"v1.32.0"})") == "v1.32.0");
    for (const char* text : {"", "[]", "{}", R"({"gitVersion":5})", "<html>"})
        CHECK(read_server_version(text).empty());
    CHECK(read_server_version(R"({"gitVersion":")" + std::string(64, 'v') + "\"}").empty());
    CHECK(read_server_version(R"({"gitVersion":"a\nb"})").find('\n') == std::string::npos);
}

TEST_CASE("API documents: the resource of a kind, without what is a part of one") {
    const std::string text =
        R"({"kind":"APIResourceList","resources":[)"
        R"({"name":"widgets/status","namespaced":true,"kind":"Widget","verbs":["get"]},)"
        R"({"name":"widgets","namespaced":true,"kind":"Widget","verbs":["get","list","watch"]},)"
        R"({"name":"reviews","namespaced":false,"kind":"Review","verbs":["create"]},)"
        R"({"name":"../../secrets","namespaced":true,"kind":"Evil","verbs":["list","watch"]},)"
        R"({"name":"odd","kind":"Odd","namespaced":"true","verbs":[5,"list"]}]})";
    const auto widget = find_listed_resource(text, "Widget", "");
    REQUIRE(widget);
    CHECK(widget->plural == "widgets");
    CHECK(widget->namespaced);
    CHECK(widget->watched);
    CHECK(find_listed_resource(text, "Widget", "widgets"));
    CHECK_FALSE(find_listed_resource(text, "Widget", "gadgets"));
    CHECK_FALSE(find_listed_resource(text, "Evil", ""));
    const auto review = find_listed_resource(text, "Review", "");
    REQUIRE(review);
    CHECK_FALSE(review->namespaced);
    CHECK_FALSE(review->watched);
    const auto odd = find_listed_resource(text, "Odd", "");
    REQUIRE(odd);
    CHECK_FALSE(odd->namespaced);
    CHECK_FALSE(odd->watched);
    CHECK_FALSE(find_listed_resource("{}", "Widget", ""));
    CHECK_FALSE(find_listed_resource("[", "Widget", ""));
}

TEST_CASE("API documents: the versions of a group, the preferred one first") {
    using Versions = std::vector<std::string>;
    CHECK(read_group_versions(
              R"({"kind":"APIGroup","versions":[{"groupVersion":"e/v2beta1","version":"v2beta1"},)"
              R"({"version":"v1"},{"version":"v1"},5,{"version":"../x"},{}],)"
              R"("preferredVersion":{"version":"v1"}})") == Versions{"v1", "v2beta1"});
    CHECK(read_group_versions(R"({"kind":"APIGroup","versions":[{"version":"v1"}]})") ==
          Versions{"v1"});
    CHECK(read_group_versions(R"({"kind":"APIGroup","versions":{},"preferredVersion":5})").empty());
    CHECK(read_group_versions(R"({"kind":"Status"})").empty());
    CHECK(read_group_versions("<html>").empty());
}

TEST_CASE("API documents: the message of a Status can be printed") {
    CHECK(read_status_message(R"({"kind":"Status","message":"no\nway"})").find('\n') ==
          std::string::npos);
    CHECK(read_status_message(R"({"kind":"Pod","message":"x"})").empty());
    CHECK(read_status_message(R"({"error":{"message":"no\nway"}})") == "no way");
    CHECK(read_status_message("").empty());
}
