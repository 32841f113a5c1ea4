#include "k8s_sd/detail/base/coalesced_changes.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using k8s_sd::detail::CoalescedChanges;

namespace {

/// A named value; the key of its changes is a view of its name.
struct NamedValue {
    std::string name;
    int value = 0;
};
using NamedValuePtr = std::shared_ptr<const NamedValue>;

struct ValueRules {
    struct Change {
        NamedValuePtr before, after;
    };
    using Key = std::string_view;
    using Hash = std::hash<std::string_view>;
    using Equal = std::equal_to<>;
    static Key key_of(const Change& change) {
        return (change.after ? change.after : change.before)->name;
    }
    static Change sum_of(const Change& earlier, const Change& later) {
        return {earlier.before, later.after};
    }
};
using ValueChanges = CoalescedChanges<ValueRules>;

NamedValuePtr named(const std::string& name, int value) {
    // Longer than the buffer inside a std::string, so that a dangling key is an invalid access.
    return std::make_shared<const NamedValue>(
        NamedValue{name + " with a name that is on the heap", value});
}

bool values_differ(const ValueRules::Change& change, bool /*is_sum*/) {
    if (!change.before || !change.after) return change.before != change.after;
    return change.before->value != change.after->value;
}

bool sums_differ(const ValueRules::Change& change, bool is_sum) {
    return !is_sum || values_differ(change, is_sum);
}

}  // namespace

TEST_CASE("CoalescedChanges: a change is taken once") {
    ValueChanges changes;
    CHECK(changes.empty());
    const auto one = named("a", 1);
    changes.add({nullptr, one}, values_differ);
    CHECK_FALSE(changes.empty());
    CHECK(changes.contains(one->name));
    const auto taken = changes.take();
    REQUIRE(taken.size() == 1);
    CHECK(taken[0].before == nullptr);
    CHECK(taken[0].after == one);
    CHECK(changes.empty());
    CHECK(changes.take().empty());
}

TEST_CASE("CoalescedChanges: several changes of a key are one change from first to last") {
    ValueChanges changes;
    const auto one = named("a", 1), two = named("a", 2), three = named("a", 3);
    changes.add({one, two}, values_differ);
    changes.add({two, three}, values_differ);
    const auto taken = changes.take();
    REQUIRE(taken.size() == 1);
    CHECK(taken[0].before == one);
    CHECK(taken[0].after == three);
}

TEST_CASE("CoalescedChanges: a reverted change disappears") {
    ValueChanges changes;
    const auto one = named("a", 1), two = named("a", 2);
    SECTION("an addition") {
        changes.add({nullptr, one}, values_differ);
        changes.add({one, nullptr}, values_differ);
    }
    SECTION("an update, by an equal object") {
        changes.add({one, two}, values_differ);
        changes.add({two, named("a", 1)}, values_differ);
    }
    SECTION("a removal, by an equal object") {
        changes.add({one, nullptr}, values_differ);
        changes.add({nullptr, named("a", 1)}, values_differ);
    }
    CHECK(changes.empty());
}

TEST_CASE("CoalescedChanges: the predicate learns whether a change is a sum") {
    ValueChanges changes;
    const auto one = named("a", 1), same = named("a", 1);
    SECTION("a first change without effect is kept if the predicate accepts it") {
        changes.add({one, same}, sums_differ);
        CHECK_FALSE(changes.empty());
        changes.add({same, one}, sums_differ);
        CHECK(changes.empty());
    }
    SECTION("and dropped otherwise") {
        changes.add({one, same}, values_differ);
        CHECK(changes.empty());
    }
}

TEST_CASE("CoalescedChanges: a key stays valid after the object that supplied it") {
    ValueChanges changes;
    changes.add({nullptr, named("a", 1)}, values_differ);
    // The sum owns neither object of the first change.
    changes.add({named("a", 1), named("a", 2)}, values_differ);
    changes.add({named("b", 1), nullptr}, values_differ);
    CHECK(changes.contains(named("a", 0)->name));
    CHECK(changes.contains(named("b", 0)->name));
    CHECK_FALSE(changes.contains(named("c", 0)->name));
}

TEST_CASE("CoalescedChanges: applied to the delivered state, the changes give the present state") {
    std::mt19937 random(1);
    ValueChanges changes;
    std::map<std::string, NamedValuePtr> present, delivered;
    for (int round = 0; round < 2000; ++round) {
        const NamedValuePtr next = named(std::string(1, static_cast<char>('a' + random() % 5)),
                                         static_cast<int>(random() % 3));
        NamedValuePtr& place = present[next->name];
        const NamedValuePtr after = random() % 3 == 0 ? nullptr : next;
        if (place || after) changes.add({place, after}, values_differ);
        place = after;
        if (random() % 7 != 0) continue;
        for (const auto& change : changes.take()) {
            NamedValuePtr& old = delivered[(change.after ? change.after : change.before)->name];
            CHECK((old ? old->value : -1) == (change.before ? change.before->value : -1));
            old = change.after;
        }
        for (const auto& [name, value] : present) {
            const NamedValuePtr& known = delivered[name];
            CHECK((known ? known->value : -1) == (value ? value->value : -1));
        }
    }
}
