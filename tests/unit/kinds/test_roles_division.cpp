#include "k8s_sd/detail/config/share_keys.hpp"
#include "support/role_fixture.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

std::string node_with(const std::string& uid) {
    return R"({"metadata":{"name":"n1","uid":")" + uid +
           R"("},"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.1"}]}})";
}
std::string pod_in(const std::string& ns, const std::string& uid) {
    return R"({"metadata":{"name":"p","namespace":")" + ns + R"(","uid":")" + uid +
           R"("},"spec":{"containers":[{"name":"c"}]},"status":{"podIP":"10.0.0.1"}})";
}

}  // namespace

TEST_CASE("Division: without one no group has a key") {
    CHECK(World().add(Kind::node, node_with("u1")).group(Role::node, "", "n1")->share_key() == 0);
}

TEST_CASE("Division by objects: the key of a group is that of the part its object's uid is in") {
    const std::string uid = "6b1d2f3a-1111-4222-8333-444455556666";
    World world;
    world.divide({DivideBy::objects, 16});
    const auto group = world.add(Kind::node, node_with(uid)).group(Role::node, "", "n1");
    const std::uint64_t hash = detail::fnv1a64(uid);
    CHECK(group->share_key() == detail::slot_key(static_cast<unsigned>(hash >> 60U), 16));
    // The labels are the same, but it is another node.
    World replaced;
    replaced.divide({DivideBy::objects, 4096});
    const auto before = replaced.add(Kind::node, node_with(uid)).group(Role::node, "", "n1");
    const auto after = replaced.add(Kind::node, node_with("7" + uid)).group(Role::node, "", "n1");
    CHECK(before->labels() == after->labels());
    CHECK(*before != *after);
}

TEST_CASE("Division by namespaces: all groups of a namespace have the same key") {
    World world;
    world.divide({DivideBy::namespaces});
    const auto key = [&](const std::string& ns, const std::string& uid) {
        return world.add(Kind::pod, pod_in(ns, uid)).group(Role::pod, ns, "p")->share_key();
    };
    CHECK(key("shop", "u1") == key("shop", "u2"));
    CHECK(key("shop", "u1") == detail::namespace_key("shop"));
    CHECK(key("shop", "u1") != key("bank", "u1"));
    CHECK(key("shop", "u1") != 0);
}

TEST_CASE("share_keys: parts are the halves, quarters and so on of all hashes") {
    const std::uint64_t most = ~std::uint64_t{0};
    CHECK(detail::slot_of(most, 1) == 0);
    CHECK(detail::slot_of(most, 2) == 1);
    CHECK(detail::slot_of(most, 4096) == 4095);
    CHECK(detail::slot_of(0, 4096) == 0);
    CHECK(detail::slot_begin(0, 1) == 0);
    CHECK(detail::slot_begin(1, 2) == std::uint64_t{1} << 63U);
    CHECK(detail::slot_begin(2, 2) == 0);
    // Must stay the same in every version, or members of two versions disagree.
    CHECK(detail::slot_key(3, 256) == 0xac12bedbec1cb152U);
    CHECK(detail::namespace_key("shop") == 0xbb72f8d04cf15b80U);
}
