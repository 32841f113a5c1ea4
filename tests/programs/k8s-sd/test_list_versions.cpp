#include "lists/list_versions.hpp"

#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>

using k8s_sd_program::ListBody;
using k8s_sd_program::ListBodyPtr;
using k8s_sd_program::ListVersions;
using k8s_sd_program::version_of;

namespace {

ListBodyPtr body_of(const std::string& text) { return std::make_shared<const ListBody>(text); }

std::string name_of(const ListBodyPtr& body) { return std::string(version_of(*body)); }

}  // namespace

TEST_CASE("ListVersions: a version is the content, whoever made it") {
    CHECK(name_of(body_of("[]\n")) == name_of(body_of("[]\n")));
    CHECK(name_of(body_of("[]\n")) != name_of(body_of("[\n]\n")));
    CHECK(name_of(body_of("[]\n")).size() == 32);
}

TEST_CASE("ListVersions: the oldest versions are forgotten, by number and by bytes") {
    ListVersions::Limits limits;
    limits.lists = 2;
    limits.list_bytes = 100;
    ListVersions versions(limits);
    const auto a = body_of("a"), b = body_of("b"), c = body_of("c");
    for (const auto& body : {a, b, b, c}) versions.keep(body);
    CHECK_FALSE(versions.find(name_of(a)));
    CHECK(versions.find(name_of(b)) == b);
    CHECK(versions.find(name_of(c)) == c);
    const auto big = body_of(std::string(100, 'x'));
    versions.keep(big);
    CHECK_FALSE(versions.find(name_of(c)));
    CHECK(versions.find(name_of(big)) == big);
    const auto too_big = body_of(std::string(101, 'x'));
    versions.keep(too_big);
    CHECK_FALSE(versions.find(name_of(too_big)));
    CHECK(versions.find(name_of(big)) == big);
    CHECK_FALSE(versions.find(""));
}

TEST_CASE("ListVersions: a diff is made once for all readers") {
    ListVersions versions;
    const auto empty = body_of("[]\n");
    const auto one = body_of("[\n{\"targets\":[\"x:1\"],\"labels\":{}}\n]\n");
    const auto diff = versions.diff(*empty, *one);
    CHECK(*diff == R"("from":")" + name_of(empty) + R"(","version":")" + name_of(one) +
                       R"(","removed":[],"added":[{"targets":["x:1"],"labels":{}}])");
    CHECK(versions.diff(*empty, *one) == diff);
    CHECK(versions.diff(*one, *empty) != diff);
}
