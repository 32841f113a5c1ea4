#include "k8s_sd/detail/labels/group_builder.hpp"
#include "k8s_sd/detail/labels/label_factory.hpp"
#include "k8s_sd/target_group.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace k8s_sd;
using k8s_sd::detail::GroupBuilder;
using k8s_sd::detail::LabelFactory;

namespace {

using Indices = std::vector<std::size_t>;

/// A group with a target for each address.
TargetGroupPtr group_of(const std::vector<std::string>& addresses, const std::string& name = "p") {
    LabelFactory factory;
    GroupBuilder builder;
    builder.begin("pod/", "ns", name);
    builder.add(factory.block().add("name", name).make());
    for (const std::string& address : addresses) {
        builder.begin_target().add(factory.block().add("__address__", address).make());
    }
    return builder.finish();
}

}  // namespace

TEST_CASE("TargetGroup: the source is made of prefix, namespace and name") {
    GroupBuilder builder;
    builder.begin("pod/", "default", "web-0");
    CHECK(builder.begin_target().finish()->source() == "pod/default/web-0");
    builder.begin("node/", "", "n1");
    CHECK(builder.begin_target().finish()->source() == "node/n1");
}

TEST_CASE("TargetGroup: without a target there is no group") {
    LabelFactory factory;
    GroupBuilder builder;
    builder.begin("pod/", "default", "web-0");
    builder.add(factory.block().add("a", "1").make());
    CHECK(builder.finish() == nullptr);
}

TEST_CASE("TargetGroup: group labels and those of each target are kept apart") {
    LabelFactory factory;
    GroupBuilder builder;
    builder.begin("pod/", "default", "web-0");
    builder.add(factory.block().add("g", "1").make()).add(nullptr);
    builder.begin_target()
        .add(factory.block().add("t", "1").make())
        .add(factory.block().add("u", "x").make());
    builder.begin_target();
    builder.begin_target().add(factory.block().add("t", "3").make());
    const TargetGroupPtr group = builder.finish();
    REQUIRE(group->size() == 3);
    CHECK(group->labels().to_map() == LabelMap{{"g", "1"}});
    CHECK((*group)[0].to_map() == LabelMap{{"t", "1"}, {"u", "x"}});
    CHECK((*group)[1].empty());
    CHECK((*group)[2].to_map() == LabelMap{{"t", "3"}});
    CHECK(group->merged(1) == LabelMap{{"g", "1"}});
}

TEST_CASE("TargetGroup: a builder that is used again starts afresh") {
    LabelFactory factory;
    GroupBuilder builder;
    builder.begin("pod/", "default", "a");
    builder.add(factory.block().add("g", "1").make())
        .begin_target()
        .add(factory.block().add("t", "1").make());
    const TargetGroupPtr first = builder.finish();
    builder.begin("pod/", "default", "b");
    builder.begin_target();
    const TargetGroupPtr second = builder.finish();
    CHECK(first->source() == "pod/default/a");
    CHECK(first->merged(0) == LabelMap{{"g", "1"}, {"t", "1"}});
    CHECK(second->source() == "pod/default/b");
    CHECK(second->size() == 1);
    CHECK(second->merged(0).empty());
}

TEST_CASE("TargetGroup: target labels override group labels and empty values are no labels") {
    LabelFactory factory;
    GroupBuilder builder;
    builder.begin("pod/", "default", "a");
    builder.add(factory.block()
                    .add("both", "group")
                    .add("hidden", "group")
                    .add("empty", "")
                    .add("g", "1")
                    .make());
    builder.begin_target().add(
        factory.block().add("both", "target").add("hidden", "").add("t", "").make());
    CHECK(builder.finish()->merged(0) == LabelMap{{"both", "target"}, {"g", "1"}});
}

TEST_CASE("TargetGroup: groups are equal when targets, labels and order are") {
    CHECK(*group_of({"a", "b"}) == *group_of({"a", "b"}));
    CHECK_FALSE(*group_of({"a", "b"}) == *group_of({"b", "a"}));
    CHECK_FALSE(*group_of({"a", "b"}) == *group_of({"a"}));
    CHECK_FALSE(*group_of({"a", "b"}) == *group_of({"a", "c"}));
    CHECK_FALSE(*group_of({"a"}, "p") == *group_of({"a"}, "q"));
}

TEST_CASE("GroupBuilder: an object with more targets than it may have gives no group") {
    GroupBuilder builder;
    builder.begin("pod/", "ns", "p", 2);
    builder.begin_target().begin_target();
    CHECK(builder.full());
    CHECK_FALSE(builder.overfull());
    CHECK(builder.finish()->size() == 2);
    builder.begin("pod/", "ns", "p", 2);
    builder.begin_target().begin_target().begin_target();
    CHECK(builder.overfull());
    CHECK(builder.finish() == nullptr);
    builder.begin("pod/", "ns", "p");
    CHECK_FALSE(builder.overfull());
    CHECK(builder.begin_target().begin_target().begin_target().finish()->size() == 3);
}

TEST_CASE("compare_targets: without a previous group everything is added") {
    const TargetChanges changes = compare_targets(nullptr, group_of({"a", "a", "b"}));
    CHECK(changes.added == Indices{0, 1, 2});
    CHECK(changes.removed.empty());
    CHECK(changes.kept.empty());
}

TEST_CASE("compare_targets: without a current group everything is removed") {
    const TargetChanges changes = compare_targets(group_of({"a", "b", "a"}), nullptr);
    CHECK(changes.added.empty());
    CHECK(changes.removed == Indices{0, 1, 2});
    CHECK(changes.kept.empty());
    const TargetChanges nothing = compare_targets(nullptr, nullptr);
    CHECK((nothing.added.empty() && nothing.removed.empty() && nothing.kept.empty()));
}

TEST_CASE("compare_targets: another order is no change") {
    const TargetChanges changes =
        compare_targets(group_of({"a", "b", "c"}), group_of({"c", "a", "b"}));
    CHECK(changes.added.empty());
    CHECK(changes.removed.empty());
    CHECK(changes.kept == Indices{0, 1, 2});
}

TEST_CASE("compare_targets: equal targets are counted one by one") {
    const TargetChanges more =
        compare_targets(group_of({"a", "b"}), group_of({"a", "a", "b", "a"}));
    CHECK(more.kept == Indices{0, 2});
    CHECK(more.added == Indices{1, 3});
    CHECK(more.removed.empty());
    const TargetChanges fewer = compare_targets(group_of({"a", "a", "b", "a"}), group_of({"a"}));
    CHECK(fewer.kept == Indices{0});
    CHECK(fewer.added.empty());
    CHECK(fewer.removed == Indices{1, 2, 3});
}

TEST_CASE("compare_targets: group labels do not matter") {
    const TargetChanges changes = compare_targets(group_of({"a"}, "p"), group_of({"a"}, "q"));
    CHECK(changes.kept == Indices{0});
}

TEST_CASE("compare_targets: agrees with a multiset on random groups") {
    std::mt19937 random(1);
    const auto draw = [&] {
        std::vector<std::string> addresses(random() % 12);
        for (std::string& address : addresses)
            address = std::string(1, static_cast<char>('a' + random() % 5));
        return addresses;
    };
    for (int round = 0; round < 500; ++round) {
        const auto before = draw(), now = draw();
        const TargetChanges changes = compare_targets(group_of(before), group_of(now));
        std::map<std::string, int> left;
        for (const std::string& address : before) ++left[address];
        Indices added, kept;
        for (std::size_t i = 0; i < now.size(); ++i) {
            (left[now[i]]-- > 0 ? kept : added).push_back(i);
        }
        std::map<std::string, int> removed;
        for (const std::size_t i : changes.removed) ++removed[before.at(i)];
        CAPTURE(before, now);
        CHECK(changes.added == added);
        CHECK(changes.kept == kept);
        CHECK(std::is_sorted(changes.removed.begin(), changes.removed.end()));
        for (const auto& [address, count] : left) CHECK(removed[address] == std::max(count, 0));
    }
}

TEST_CASE("GroupChange: nothing of a replaced object's targets lives on") {
    const GroupChange changed{group_of({"a", "b"}), group_of({"a"}), false};
    CHECK(changed.targets().kept == Indices{0});
    CHECK(changed.targets().added == Indices{1});
    const GroupChange replaced{group_of({"a", "b"}), group_of({"a"}), true};
    CHECK(replaced.targets().kept.empty());
    CHECK(replaced.targets().added == Indices{0, 1});
}

TEST_CASE("TargetGroupDiff: an empty full state is not an empty diff") {
    CHECK(TargetGroupDiff{}.empty());
    CHECK_FALSE(TargetGroupDiff{.full = true, .updated = {}, .removed = {}}.empty());
    CHECK_FALSE(
        TargetGroupDiff{.full = false, .updated = {}, .removed = {group_of({"a"})}}.empty());
}
