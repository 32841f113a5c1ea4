#include "k8s_sd/fleet/group_share.hpp"
#include "support/groups.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace k8s_sd {
namespace {

using namespace std::chrono_literals;

TargetGroupPtr group_of(const std::string& name, const std::string& address = "h:1") {
    return test::make_group(name, {{{"__address__", address}}});
}
std::string source_of(const std::string& name) { return "pod/ns/" + name; }
std::string name_of(const TargetGroup& group) {
    return std::string(group.source().substr(source_of("").size()));
}

FleetViewPtr group_view(std::vector<std::string> members) {
    return std::make_shared<const FleetView>(std::move(members));
}

/// "full +a -b", by name.
std::string words_of(const TargetGroupDiff& diff) {
    std::vector<std::string> words;
    for (const GroupChange& c : diff.updated) words.push_back("+" + name_of(*c.group));
    for (const TargetGroupPtr& group : diff.removed) words.push_back("-" + name_of(*group));
    std::sort(words.begin(), words.end());
    std::string text = diff.full ? "full" : "";
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
}

/// The name of a group that moves from a to b when b joins.
std::string moving_name() {
    const FleetViewPtr two = group_view({"a", "b"});
    for (int i = 0;; ++i) {
        const std::string name = "p" + std::to_string(i);
        if (two->owners(share_key("job", source_of(name))).front() == "b") return name;
    }
}

struct GroupMember {
    explicit GroupMember(std::string n) : name(std::move(n)) {}
    std::string learn(const FleetViewPtr& view) {
        return words_of(share.share(FleetShare(view, name), now));
    }
    std::string pass(Duration time) { return words_of(share.finish_handovers(now += time)); }

    std::string name;
    TimePoint now{1h};
    GroupShare share{"job"};
};

TEST_CASE("GroupShare: nothing is owned before the members are known, and all of it by one") {
    GroupMember a("a");
    CHECK(words_of(a.share.apply(test::full_diff({group_of("x"), group_of("y")}))) == "full");
    CHECK(a.share.others_count() == 2);
    CHECK(a.learn(group_view({"a"})) == "+x +y");
    CHECK(a.share.others_count() == 0);
    CHECK(words_of(a.share.apply(
              test::change({{group_of("z"), nullptr, false}}, {group_of("x")}))) == "+z -x");
    CHECK(a.share.groups().group_count() == 2);
}

TEST_CASE("GroupShare: a group goes to its new owner at once, and leaves the other one later") {
    const std::string name = moving_name();
    GroupMember a("a");
    GroupMember b("b");
    for (GroupMember* member : {&a, &b}) {
        member->learn(group_view({"a"}));
        member->share.apply(test::full_diff({group_of(name)}));
    }
    CHECK(b.learn(group_view({"a", "b"})) == "+" + name);
    CHECK(a.learn(group_view({"a", "b"})).empty());
    CHECK(a.share.moving_count() == 1);
    CHECK(a.share.next_handover() == a.now + 30s);
    // Concurrent changes are delivered to both.
    const auto changed = test::change({{group_of(name, "h:2"), group_of(name), false}});
    CHECK(words_of(a.share.apply(changed)) == "+" + name);
    CHECK(a.pass(29s).empty());
    CHECK(a.pass(1s) == "-" + name);
    CHECK_FALSE(a.share.next_handover());
    CHECK(a.share.others_count() == 1);
    CHECK(words_of(a.share.apply(changed)).empty());
}

TEST_CASE("GroupShare: where objects are divided, one that takes the place of another can go") {
    const FleetViewPtr two = group_view({"a", "b"});
    std::uint64_t mine = 1;
    while (!two->owns("a", mine)) ++mine;
    std::uint64_t others = 1;
    while (two->owns("a", others)) ++others;
    const auto keyed = [](std::uint64_t key) {
        return test::make_group("x", {{{"__address__", "h:1"}}}, {}, key);
    };
    CHECK(*keyed(mine) != *keyed(others));
    GroupMember a("a");
    a.learn(two);
    CHECK(words_of(a.share.apply(test::full_diff({keyed(mine)}))) == "full +x");
    CHECK(words_of(a.share.apply(test::change({{keyed(others), keyed(mine), true}}))) == "-x");
    CHECK(a.share.groups().group_count() == 0);
    CHECK(a.share.others_count() == 1);
    const TargetGroupDiff back = a.share.apply(test::change({{keyed(mine), keyed(others), true}}));
    CHECK(words_of(back) == "+x");
    CHECK_FALSE(back.updated.front().previous);
}

TEST_CASE("GroupShare: a moving group stays when a new state with it comes in parts") {
    const std::string name = moving_name();
    GroupMember a("a");
    a.learn(group_view({"a"}));
    a.share.apply(test::full_diff({group_of(name)}));
    a.learn(group_view({"a", "b"}));
    TargetGroupDiff part = test::full_diff({group_of("other")});
    part.more = true;
    const TargetGroupDiff begun = a.share.apply(part);
    CHECK(words_of(begun).empty());
    CHECK(begun.more);
    const TargetGroupDiff all = a.share.apply(test::change({{group_of(name), nullptr, false}}));
    CHECK(all.full);
    CHECK_FALSE(all.more);
    CHECK(a.share.moving_count() == 1);
    CHECK(a.share.groups().find(source_of(name)));
    CHECK(a.pass(30s) == "-" + name);
}

TEST_CASE("GroupShare: a group that comes back, or goes, is handed over no longer") {
    const std::string name = moving_name();
    GroupMember a("a");
    a.learn(group_view({"a"}));
    a.share.apply(test::full_diff({group_of(name)}));
    a.learn(group_view({"a", "b"}));
    SECTION("it comes back") {
        CHECK(a.learn(group_view({"a"})).empty());
        CHECK(a.pass(1h).empty());
        CHECK(a.share.groups().group_count() == 1);
    }
    SECTION("it goes") {
        CHECK(words_of(a.share.apply(test::change({}, {group_of(name)}))) == "-" + name);
        CHECK(a.pass(1h).empty());
    }
    SECTION("it is not in a full diff") {
        CHECK(words_of(a.share.apply(test::full_diff({}))) == "full");
        CHECK(a.pass(1h).empty());
    }
    SECTION("it is in a full diff, and moves on") {
        CHECK(words_of(a.share.apply(test::full_diff({group_of(name)}))) == "full +" + name);
        CHECK(a.pass(30s) == "-" + name);
    }
    CHECK(a.share.moving_count() == 0);
}

TEST_CASE("GroupShare: after any changes the diffs make what each member owns") {
    for (std::uint32_t seed = 0; seed < 100; ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        const auto pick = [&](std::uint32_t end) {
            return std::uniform_int_distribution<std::uint32_t>(0, end - 1)(random);
        };
        const std::vector<std::string> names{"a", "b", "c"};
        std::list<GroupMember> members;
        std::map<std::string, TargetGroups> received;
        for (const std::string& name : names) members.emplace_back(name);
        std::set<std::string> all;
        FleetViewPtr view = group_view({"a"});
        for (int step = 0; step < 80; ++step) {
            const std::string name = "p" + std::to_string(pick(20));
            const bool comes = all.insert(name).second;
            if (!comes) all.erase(name);
            const TargetGroupDiff diff = comes ? test::change({{group_of(name), nullptr, false}})
                                               : test::change({}, {group_of(name)});
            if (pick(10) == 0) view = group_view({names[pick(3)], names[pick(3)]});
            for (GroupMember& member : members) {
                TargetGroups& groups = received[member.name];
                groups.apply(member.share.apply(diff));
                groups.apply(member.share.share(FleetShare(view, member.name), member.now));
                member.now += std::chrono::seconds(pick(20));
                groups.apply(member.share.finish_handovers(member.now));
                CHECK(groups.group_count() == member.share.groups().group_count());
            }
        }
        for (GroupMember& member : members) {
            TargetGroups& groups = received[member.name];
            groups.apply(member.share.finish_handovers(member.now + 1min));
            std::size_t owned = 0;
            for (const std::string& name : all) {
                const bool owns = view->owns(member.name, share_key("job", source_of(name)));
                owned += owns ? 1 : 0;
                CHECK((groups.find(source_of(name)) != nullptr) == owns);
            }
            CHECK(groups.group_count() == owned);
        }
    }
}

}  // namespace
}  // namespace k8s_sd
