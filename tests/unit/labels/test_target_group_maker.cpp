#include "k8s_sd/target_group.hpp"
#include "support/config_fixtures.hpp"
#include "support/group_ledger.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

std::string problem(std::string_view source, const LabelMap& labels,
                    const std::vector<LabelMap>& targets) {
    return config_error([&] { TargetGroupMaker().make(source, labels, targets); });
}

}  // namespace

TEST_CASE(
    "TargetGroupMaker: a group has the source, the labels and the targets that it was given") {
    TargetGroupMaker maker;
    const TargetGroupPtr group =
        maker.make("dns/db", {{"team", "db"}, {"zone", ""}},
                   {{{"__address__", "db-1:5432"}}, {{"__address__", "db-2:5432"}, {"team", "x"}}});
    CHECK(group->source() == "dns/db");
    CHECK(group->size() == 2);
    CHECK(group->labels().to_map() == LabelMap{{"team", "db"}, {"zone", ""}});
    CHECK((*group)[1].get("team") == "x");
    CHECK(group->merged(0) == LabelMap{{"__address__", "db-1:5432"}, {"team", "db"}});
    CHECK(group->merged(1) == LabelMap{{"__address__", "db-2:5432"}, {"team", "x"}});
}

TEST_CASE("TargetGroupMaker: groups outlive the maker and the texts that they were made of") {
    TargetGroupPtr group;
    {
        const std::string name(100, 'n');
        const std::string value(10'000, 'v');
        group = TargetGroupMaker().make("s", {{name, value}}, {{{"__address__", "a"}}});
    }
    CHECK(group->labels().get(std::string(100, 'n')) == std::string(10'000, 'v'));
}

TEST_CASE("TargetGroupMaker: equal groups of different makers are equal, others are not") {
    TargetGroupMaker maker;
    const auto made = [](TargetGroupMaker& by, const LabelMap& labels, const std::string& address) {
        return by.make("s", labels, {{{"__address__", address}}});
    };
    TargetGroupMaker other;
    CHECK(*made(maker, {{"a", "1"}}, "x") == *made(other, {{"a", "1"}}, "x"));
    CHECK_FALSE(*made(maker, {{"a", "1"}}, "x") == *made(maker, {{"a", "2"}}, "x"));
    CHECK_FALSE(*made(maker, {{"a", "1"}}, "x") == *made(maker, {{"b", "1"}}, "x"));
    CHECK_FALSE(*made(maker, {{"a", "1"}}, "x") == *made(maker, {{"a", "1"}}, "y"));
    CHECK_FALSE(*made(maker, {}, "x") == *made(maker, {{"a", "1"}}, "x"));
}

TEST_CASE("TargetGroupMaker: names that begin alike stay apart") {
    TargetGroupMaker maker;
    const auto a = maker.make("s", {{"ab", "1"}, {"c", "2"}}, {});
    const auto b = maker.make("s", {{"a", "1"}, {"bc", "2"}}, {});
    CHECK(a->labels().to_map() == LabelMap{{"ab", "1"}, {"c", "2"}});
    CHECK(b->labels().to_map() == LabelMap{{"a", "1"}, {"bc", "2"}});
}

TEST_CASE("TargetGroupMaker: targets with the same names share them") {
    TargetGroupMaker maker;
    const auto a = maker.make("a", {}, {{{"__address__", "1"}}, {{"__address__", "2"}}});
    const auto b = maker.make("b", {}, {{{"__address__", "3"}}});
    const auto name_of = [](const TargetGroupPtr& group, std::size_t target) {
        return (*(*group)[target].begin()).first.data();
    };
    CHECK(name_of(a, 0) == name_of(a, 1));
    CHECK(name_of(a, 0) == name_of(b, 0));
}

TEST_CASE("TargetGroupMaker: a group may be without targets, and a target without labels") {
    TargetGroupMaker maker;
    CHECK(maker.make("s", {{"a", "1"}}, {})->size() == 0);
    const auto group = maker.make("s", {{"a", "1"}}, {{}, {{"b", "2"}}});
    CHECK(group->merged(0) == LabelMap{{"a", "1"}});
    CHECK(group->merged(1) == LabelMap{{"a", "1"}, {"b", "2"}});
}

TEST_CASE("TargetGroupMaker: what cannot be a group is refused, with the place") {
    CHECK(problem("", {}, {}) == "source: is empty; each group needs one");
    CHECK(problem("\xff", {}, {}) == "source: is not UTF-8");
    CHECK(problem(std::string(65'537, 's'), {}, {}) == "source: is longer than 64 KiB");
    CHECK(problem("s", {{"", "1"}}, {}) == "labels: a label has no name");
    CHECK(problem("s", {{"a", "\xc3"}}, {}) == "labels: the name or value of a label is not UTF-8");
    CHECK(problem("s", {}, {{}, {{"\xff", "1"}}}) ==
          "targets[1]: the name or value of a label is not UTF-8");
    CHECK(problem("s", {}, std::vector<LabelMap>(1'000'001)) ==
          "targets: there are more than 1000000");
}

TEST_CASE("TargetGroupMaker: it can be moved, and goes on after a refusal") {
    TargetGroupMaker maker;
    CHECK(config_error([&] { maker.make("s", {{"a", "1"}}, {{{"", "x"}}}); }) != "");
    TargetGroupMaker other = std::move(maker);
    CHECK(merged(*other.make("s", {}, {{{"b", "2"}}})) == std::vector<LabelMap>{{{"b", "2"}}});
}
