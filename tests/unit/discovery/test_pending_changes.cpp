#include "k8s_sd/detail/discovery/pending_changes.hpp"
#include "k8s_sd/detail/labels/group_builder.hpp"
#include "k8s_sd/detail/labels/label_factory.hpp"

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace k8s_sd;
using k8s_sd::detail::PendingChanges;

namespace {

TargetGroupPtr group_of(const std::string& name, const std::string& address) {
    detail::LabelFactory factory;
    detail::GroupBuilder builder;
    builder.begin("pod/", "ns", name);
    builder.begin_target().add(factory.block().add("__address__", address).make());
    return builder.finish();
}

}  // namespace

TEST_CASE("PendingChanges: a change is taken once") {
    PendingChanges pending;
    CHECK(pending.empty());
    const auto group = group_of("a", "1");
    pending.add({group, nullptr, false});
    CHECK_FALSE(pending.empty());
    const TargetGroupDiff diff = pending.take();
    REQUIRE(diff.updated.size() == 1);
    CHECK(diff.updated[0].group == group);
    CHECK(diff.updated[0].previous == nullptr);
    CHECK(diff.removed.empty());
    CHECK_FALSE(diff.full);
    CHECK(pending.empty());
    CHECK(pending.take().empty());
}

TEST_CASE("PendingChanges: what was added and is gone again was never there") {
    PendingChanges pending;
    const auto group = group_of("a", "1");
    pending.add({group, nullptr, false});
    pending.add({nullptr, group, false});
    CHECK(pending.empty());
}

TEST_CASE("PendingChanges: of several changes of a source the host hears the sum") {
    PendingChanges pending;
    const auto one = group_of("a", "1"), two = group_of("a", "2"), three = group_of("a", "3");
    pending.add({two, one, false});
    pending.add({three, two, false});
    const TargetGroupDiff diff = pending.take();
    REQUIRE(diff.updated.size() == 1);
    CHECK(diff.updated[0].group == three);
    CHECK(diff.updated[0].previous == one);
}

TEST_CASE(
    "PendingChanges: what has changed back is no change, even as another group of equal content") {
    PendingChanges pending;
    const auto one = group_of("a", "1"), two = group_of("a", "2");
    pending.add({two, one, false});
    pending.add({group_of("a", "1"), two, false});
    CHECK(pending.empty());
}

TEST_CASE(
    "PendingChanges: what was removed and is back equal is no change, and a change if it differs") {
    PendingChanges pending;
    const auto one = group_of("a", "1");
    pending.add({nullptr, one, false});
    pending.add({group_of("a", "1"), nullptr, false});
    CHECK(pending.empty());
    pending.add({nullptr, one, false});
    pending.add({group_of("a", "2"), nullptr, false});
    const TargetGroupDiff diff = pending.take();
    REQUIRE(diff.updated.size() == 1);
    CHECK(diff.updated[0].previous == one);
}

TEST_CASE("PendingChanges: a removal names what the host had") {
    PendingChanges pending;
    const auto one = group_of("a", "1"), two = group_of("a", "2");
    pending.add({two, one, false});
    pending.add({nullptr, two, false});
    const TargetGroupDiff diff = pending.take();
    CHECK(diff.updated.empty());
    CHECK(diff.removed == std::vector<TargetGroupPtr>{one});
}

TEST_CASE("PendingChanges: a replaced object is a change although its targets look the same") {
    PendingChanges pending;
    const auto one = group_of("a", "1"), two = group_of("a", "2");
    pending.add({group_of("a", "1"), one, true});
    TargetGroupDiff diff = pending.take();
    REQUIRE(diff.updated.size() == 1);
    CHECK(diff.updated[0].replaced);
    pending.add({two, one, true});
    pending.add({group_of("a", "1"), two, false});
    diff = pending.take();
    REQUIRE(diff.updated.size() == 1);
    CHECK(diff.updated[0].replaced);
    CHECK(diff.updated[0].previous == one);
}

TEST_CASE("PendingChanges: changes dropped by clear() are not delivered") {
    PendingChanges pending;
    pending.add({group_of("a", "1"), nullptr, false});
    pending.clear();
    CHECK(pending.empty());
    CHECK(pending.take().empty());
}

TEST_CASE(
    "PendingChanges: applying the diffs gives the current state, whatever happened in between") {
    std::mt19937 random(7);
    std::map<std::string, TargetGroupPtr> current, host;
    PendingChanges pending;
    for (int round = 0; round < 300; ++round) {
        for (auto n = random() % 8; n > 0; --n) {
            const std::string name(1, static_cast<char>('a' + random() % 4));
            const std::string source = "pod/ns/" + name;
            TargetGroupPtr next =
                random() % 3 == 0 ? nullptr : group_of(name, std::to_string(random() % 2));
            TargetGroupPtr& now = current[source];
            if (next == now || (next && now && *next == *now)) continue;  // no change
            pending.add({next, now, false});
            now = next;
        }
        const TargetGroupDiff diff = pending.take();
        for (const GroupChange& change : diff.updated) {
            const std::string source(change.group->source());
            REQUIRE(host.contains(source) == (change.previous != nullptr));
            if (change.previous) CHECK(*host[source] == *change.previous);
            if (change.previous) CHECK_FALSE(*host[source] == *change.group);
            host[source] = change.group;
        }
        for (const TargetGroupPtr& gone : diff.removed) {
            CHECK(host.erase(std::string(gone->source())) == 1);
        }
        for (const auto& [source, group] : current) {
            REQUIRE(host.contains(source) == (group != nullptr));
            if (group) CHECK(*host[source] == *group);
        }
    }
}

TEST_CASE("PendingChanges: they can be read for several hosts before they are dropped") {
    PendingChanges pending;
    const auto one = group_of("a", "1"), two = group_of("a", "2"), other = group_of("b", "1");
    pending.add({two, one, false});
    pending.add({nullptr, other, false});
    for (int host = 0; host < 2; ++host) {
        const TargetGroupDiff diff = pending.get();
        REQUIRE(diff.updated.size() == 1);
        CHECK(diff.updated[0].group == two);
        CHECK(diff.updated[0].previous == one);
        CHECK(diff.removed == std::vector<TargetGroupPtr>{other});
    }
    CHECK_FALSE(pending.empty());
}

TEST_CASE("PendingChanges: removing everything from a host removes what it has received") {
    const auto unchanged = group_of("unchanged", "1"), old = group_of("changed", "1"),
               changed = group_of("changed", "2"), came = group_of("came", "1"),
               gone = group_of("gone", "1");
    TargetGroups newest;
    for (const auto& group : {unchanged, changed, came}) newest.apply({group, nullptr, false});
    PendingChanges pending;
    pending.add({changed, old, false});
    pending.add({came, nullptr, false});
    pending.add({nullptr, gone, true});
    const TargetGroupDiff diff = pending.get_removal(newest);
    CHECK(diff.updated.empty());
    CHECK(std::set<TargetGroupPtr>(diff.removed.begin(), diff.removed.end()) ==
          std::set<TargetGroupPtr>{unchanged, old, gone});
    CHECK(diff.removed.size() == 3);
}
