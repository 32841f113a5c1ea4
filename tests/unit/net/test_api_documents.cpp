#include "k8s_sd/detail/net/api_documents.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

using namespace k8s_sd::detail;
using Versions = std::vector<std::string>;

TEST_CASE("API documents: the versions of a group") {
    CHECK(read_group_versions(
              R"({"kind":"APIGroup","apiVersion":"v1","name":"discovery.k8s.io","versions":[)"
              R"({"groupVersion":"discovery.k8s.io/v1","version":"v1"},)"
              R"({"groupVersion":"discovery.k8s.io/v1beta1","version":"v1beta1"}],)"
              R"("preferredVersion":{"groupVersion":"discovery.k8s.io/v1","version":"v1"}})"
              "\n") == Versions{"v1", "v1beta1"});
    CHECK(read_group_versions(R"({"kind":"APIGroup","versions":[]})") == Versions{});
}

TEST_CASE("API documents: what is no group says nothing") {
    for (const std::string& text :
         {std::string(), std::string("{"), std::string("[]"), std::string("null"),
          std::string("<html>"), std::string(R"({"kind":"Status","code":404})"),
          std::string(R"({"kind":"APIGroup"})"),
          std::string(R"({"kind":"APIGroup","versions":{}})"),
          std::string(R"({"kind":5,"versions":[{"version":"v1"}]})"),
          std::string(R"({"kind":"APIGroup","versions":[]} x)"), std::string(60'000, '['),
          R"({"kind":"APIGroup","versions":)" + std::string(60'000, '['),
          std::string(60'000, '\xff'), std::string("\0\0", 2)}) {
        CAPTURE(text.substr(0, 60));
        CHECK_FALSE(read_group_versions(text));
    }
}

TEST_CASE("API documents: versions that cannot be ones are left out, and there is a limit") {
    std::string text =
        R"({"kind":"APIGroup","versions":[null,5,"v1",{},{"version":7},{"version":")" +
        std::string(64, 'v') + R"("},{"version":"v1"})";
    CHECK(read_group_versions(text + "]}") == Versions{"v1"});
    for (int i = 0; i < 1000; ++i) text += R"(,{"version":"v2"})";
    CHECK(read_group_versions(text + "]}")->size() == 100);
}

TEST_CASE("API documents: the version of the server is one short line") {
    CHECK(read_server_version(R"({"major":"1","gitVersion":"v1.32.0"})") == "v1.32.0");
    for (const char* text : {"", "[]", "{}", R"({"gitVersion":5})", "<html>"})
        CHECK(read_server_version(text).empty());
    CHECK(read_server_version(R"({"gitVersion":")" + std::string(64, 'v') + "\"}").empty());
    CHECK(read_server_version(R"({"gitVersion":"a\nb"})").find('\n') == std::string::npos);
}
