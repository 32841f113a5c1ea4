#include "k8s_sd/detail/fleet/kept_view.hpp"
#include "k8s_sd/detail/labels/label_block.hpp"

#include <catch2/catch_test_macros.hpp>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::detail {
namespace {

std::string packed(const std::vector<std::string_view>& names) {
    std::string bytes;
    for (const std::string_view name : names) pack_value(bytes, name);
    return bytes;
}

TEST_CASE("pack_view: a view comes back equal") {
    std::vector<std::string> many{std::string(1024, 'x'), "with\nline", "é"};
    for (int i = 0; i < 1000; ++i) many.push_back("agent-" + std::to_string(i));
    for (const auto& names : {std::vector<std::string>{}, {"a"}, {"b", "a", "a"}, many}) {
        const FleetView view(names);
        const FleetViewPtr back = unpack_view(pack_view(view));
        REQUIRE(back);
        CHECK(*back == view);
        CHECK(back->epoch() == view.epoch());
    }
}

TEST_CASE("unpack_view: names that no view has are refused") {
    CHECK(unpack_view(packed({"a", "b"})));
    CHECK_FALSE(unpack_view(packed({""})));
    CHECK_FALSE(unpack_view(packed({"b", "a"})));
    CHECK_FALSE(unpack_view(packed({"a", "a"})));
    CHECK_FALSE(unpack_view(packed({"\xff"})));
    CHECK_FALSE(unpack_view(packed({std::string(1025, 'x')})));
}

TEST_CASE("unpack_view: more members than there can be are refused") {
    std::vector<std::string> names;
    for (int i = 0; i < 100'000; ++i) names.push_back(std::to_string(100'000 + i));
    CHECK(unpack_view(pack_view(FleetView(names))));
    names.emplace_back("x");
    CHECK_FALSE(unpack_view(pack_view(FleetView(std::move(names)))));
}

TEST_CASE("unpack_view: of bytes that are cut off or changed it takes nothing, or a view") {
    const std::string bytes = packed({"agent-0", "agent-1", std::string(200, 'x')});
    CHECK_FALSE(unpack_view(bytes.substr(0, bytes.size() - 1)));
    std::mt19937 random(1);
    for (int i = 0; i < 10'000; ++i) {
        std::string changed = bytes;
        changed[random() % changed.size()] = static_cast<char>(random());
        const FleetViewPtr view = unpack_view(changed);
        if (view) CHECK(pack_view(*view) == changed);
    }
}

}  // namespace
}  // namespace k8s_sd::detail
