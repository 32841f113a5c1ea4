#include "k8s_sd/detail/labels/group_builder.hpp"
#include "k8s_sd/target_groups.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace k8s_sd;

namespace {

TargetGroupPtr group(std::string_view name, std::size_t targets) {
    detail::GroupBuilder builder;
    builder.begin("pod/", "n", name);
    for (std::size_t i = 0; i < targets; ++i) builder.begin_target();
    return builder.finish();
}

}  // namespace

TEST_CASE("TargetGroups: a full diff replaces everything, others change what they name") {
    TargetGroups state;
    TargetGroupDiff first;
    first.full = true;
    first.updated = {{group("a", 2), nullptr, false}, {group("b", 1), nullptr, false}};
    state.apply(first);
    CHECK(state.group_count() == 2);
    CHECK(state.target_count() == 3);

    TargetGroupDiff change;
    const TargetGroupPtr larger = group("a", 5);
    change.updated = {{larger, state.find("pod/n/a"), false}};
    change.removed = {state.find("pod/n/b")};
    state.apply(change);
    CHECK(state.find("pod/n/a") == larger);
    CHECK(state.find("pod/n/b") == nullptr);
    CHECK(state.target_count() == 5);

    TargetGroupDiff empty;
    empty.full = true;
    state.apply(empty);
    CHECK(state.group_count() == 0);
    CHECK(state.target_count() == 0);
}

TEST_CASE("TargetGroups: the removal of a source that is not there changes nothing") {
    TargetGroups state;
    TargetGroupDiff diff;
    diff.removed = {group("a", 1)};
    state.apply(diff);
    CHECK(state.target_count() == 0);
}

TEST_CASE("TargetGroups: single changes") {
    TargetGroups state;
    const TargetGroupPtr small = group("a", 1);
    state.apply({small, nullptr, false});
    state.apply({group("a", 3), small, false});
    CHECK(state.target_count() == 3);
    state.apply({nullptr, state.find("pod/n/a"), true});
    CHECK(state.group_count() == 0);
    CHECK(state.target_count() == 0);
}
