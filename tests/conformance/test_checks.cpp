// The checks of the conformance tests detect the differences they look for.

#include "conformance/comparison.hpp"
#include "k8s_sd/detail/base/access.hpp"
#include "support/group_ledger.hpp"

#include <catch2/catch_test_macros.hpp>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace k8s_sd::test {

TEST_CASE("Comparison: every kind of difference is found") {
    const LabelMap web{{"__address__", "10.0.0.1:80"}, {"a", "1"}, {"b", "2"}};
    const LabelMap other{{"__address__", "10.0.0.1:80"}, {"a", "3"}, {"c", "4"}};
    const Answer one{{web}, {}};
    constexpr auto prometheus = LabelDialect::prometheus;
    constexpr auto victoriametrics = LabelDialect::victoriametrics;

    CHECK(difference(one, {web}, prometheus) == "");
    const std::string text = difference(one, {other}, prometheus);
    CHECK(text.find("different a=3, expected 1") != std::string::npos);
    CHECK(text.find("missing   b=2") != std::string::npos);
    CHECK(text.find("extra     c=4") != std::string::npos);
    CHECK(difference(one, {}, prometheus).find("missing target 10.0.0.1:80") != std::string::npos);
    CHECK(difference({}, {web}, prometheus).find("extra target 10.0.0.1:80") != std::string::npos);
    CHECK(difference(one, {web, web}, prometheus) != "");
    CHECK(difference(one, {web, web}, victoriametrics) == "");
    CHECK(difference({{web}, {{"a", {"1", "3"}}, {"c", {"4"}}}}, {other}, prometheus) != "");
    CHECK(difference({{web}, {{"a", {"1", "3"}}}},
                     {{{"__address__", "10.0.0.1:80"}, {"a", "3"}, {"b", "2"}}}, prometheus) == "");
}

TEST_CASE("DiscoveryLedger: diffs that are not minimal are complained about") {
    const auto make = [](std::string_view source) {
        const std::array<detail::TargetEnd, 2> one_target{};
        return detail::Access::make_group<TargetGroup>(source, std::span<detail::LabelBlockPtr>(),
                                                       one_target, std::string_view());
    };
    const TargetGroupPtr group = make("pod/default/a");
    const TargetGroupPtr same = make("pod/default/a");
    DiscoveryLedger ledger(GroupLedger::Known::same);
    ledger.apply({true, {{group, nullptr, false}}, {}});
    REQUIRE(ledger.complaints == "");

    SECTION("an unchanged group") { ledger.apply({false, {{same, group, false}}, {}}); }
    SECTION("a wrong predecessor") { ledger.apply({false, {{same, nullptr, true}}, {}}); }
    SECTION("a removal of what is not there") {
        ledger.apply({false, {}, {make("pod/default/b")}});
    }
    SECTION("a source twice") { ledger.apply({false, {{same, group, true}}, {same}}); }
    SECTION("an update without a group") { ledger.apply({false, {{nullptr, group, false}}, {}}); }
    SECTION("an equal group instead of the one that the host has") {
        ledger.apply({false, {{same, same, true}}, {}});
    }
    SECTION("nothing") { ledger.apply({}); }
    SECTION("a second full diff") { ledger.apply({true, {}, {}}); }
    CHECK(ledger.complaints != "");
}

}  // namespace k8s_sd::test
