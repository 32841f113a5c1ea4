#include "k8s_sd/detail/discovery/snapshots/packed_groups.hpp"
#include "support/groups.hpp"

#include <catch2/catch_test_macros.hpp>
#include <random>
#include <string>
#include <vector>

namespace k8s_sd::detail {
namespace {

bool keep_all(std::string_view) { return true; }

std::vector<TargetGroupPtr> some_groups() {
    return {test::make_group("a", {{{"__address__", "h:1"}, {"x", "1"}}, {{"__address__", "h:2"}}},
                             {{"__meta_kubernetes_namespace", "shop"}, {"empty", ""}}),
            test::make_group("b", {{{"__address__", std::string(300, 'h')}}}, {},
                             0xF123'4567'89AB'CDEFU)};
}

TEST_CASE("pack_groups: groups come back equal") {
    const auto groups = some_groups();
    const auto back = unpack_groups(pack_groups(groups, keep_all));
    REQUIRE(back);
    REQUIRE(back->size() == groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
        CHECK((*back)[i]->source() == groups[i]->source());
        CHECK((*back)[i]->share_key() == groups[i]->share_key());
        CHECK(*(*back)[i] == *groups[i]);
        CHECK((*back)[i]->merged(0) == groups[i]->merged(0));
    }
    CHECK(unpack_groups(pack_groups({}, keep_all))->empty());
}

TEST_CASE("pack_groups: labels that are not kept are left out, with their values") {
    const auto bytes =
        pack_groups(some_groups(), [](std::string_view name) { return name != "x"; });
    const auto back = unpack_groups(bytes);
    REQUIRE(back);
    CHECK((*back)[0]->merged(0) ==
          LabelMap{{"__address__", "h:1"}, {"__meta_kubernetes_namespace", "shop"}});
    const auto without = unpack_groups(
        pack_groups(some_groups(), [](std::string_view name) { return name != "__address__"; }));
    REQUIRE(without);
    CHECK((*without)[0]->merged(0) ==
          LabelMap{{"x", "1"}, {"__meta_kubernetes_namespace", "shop"}});
    CHECK((*without)[1]->merged(0).empty());
}

TEST_CASE("pack_groups: what groups share is there once") {
    const auto group =
        test::make_group("a", {{{"__address__", "h:1"}, {"x", std::string(1000, 'x')}}});
    const auto one = pack_groups(std::vector{group}, keep_all).size();
    const auto many = pack_groups(std::vector<TargetGroupPtr>(100, group), keep_all).size();
    CHECK(many < one + 100 * 20);
}

TEST_CASE(
    "unpack_groups: of bytes that are cut off or changed it takes nothing, or groups that can "
    "be used") {
    const std::string bytes = pack_groups(some_groups(), keep_all);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        CHECK_FALSE(unpack_groups(bytes.substr(0, size)));
    }
    CHECK_FALSE(unpack_groups(bytes + '\0'));
    std::mt19937 random(1);
    for (int i = 0; i < 20'000; ++i) {
        std::string changed = bytes;
        for (unsigned n = random() % 4 + 1; n > 0; --n) {
            changed[random() % changed.size()] = static_cast<char>(random());
        }
        const auto groups = unpack_groups(changed);
        if (!groups) continue;
        for (const auto& group : *groups) {
            for (std::size_t t = 0; t < group->size(); ++t) {
                CHECK(group->merged(t).size() <= 10);
            }
        }
    }
}

TEST_CASE("unpack_groups: bytes that say little do not become much memory") {
    // A million shapes without entries, a byte each.
    std::string shapes{"\xc0\x84\x3d", 3};
    shapes += std::string(1'000'000, '\0');
    shapes += std::string(2, '\0');
    CHECK_FALSE(unpack_groups(shapes));
}

}  // namespace
}  // namespace k8s_sd::detail
