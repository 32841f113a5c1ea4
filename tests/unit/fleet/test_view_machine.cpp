#include "k8s_sd/detail/fleet/view_machine.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;

/// A machine, the time, and the reported members: "a b" are active, "(c)" joins, "-d" leaves.
struct Fleet {
    explicit Fleet(FleetRules r = {}, std::string self = "a", FleetViewPtr known = nullptr)
        : rules(r), machine(r, std::move(self), now) {
        if (known) machine.remember(std::move(known), now);
    }

    void see(const std::string& text) {
        std::vector<FleetMember> members;
        std::string word;
        for (const char c : text + " ") {
            if (c != ' ') {
                word += c;
            } else if (!word.empty()) {
                members.push_back(member(word));
                word.clear();
            }
        }
        machine.see(members, now);
    }
    static FleetMember member(const std::string& word) {
        if (word[0] == '(') return {word.substr(1, word.size() - 2), MemberState::joining};
        if (word[0] == '-') return {word.substr(1), MemberState::leaving};
        return {word, MemberState::active};
    }
    void lose_sight() { machine.lose_sight(now); }
    /// Advances like the machine's owner, at each next().
    void pass(Duration time) {
        const TimePoint end = now + time;
        while (machine.next() && *machine.next() <= end) {
            REQUIRE(*machine.next() > now);
            now = *machine.next();
            machine.advance(now);
        }
        now = end;
        machine.advance(now);
    }
    std::string view() const {
        if (!machine.view()) return "none";
        std::string text;
        for (const std::string& name : machine.view()->members()) {
            text += (text.empty() ? "" : " ") + name;
        }
        return text;
    }
    std::string hold() const { return std::string(to_string(machine.hold())); }

    FleetRules rules;
    TimePoint now{1h};
    ViewMachine machine;
};

TEST_CASE("ViewMachine: the first view comes at once, and is of the active members") {
    Fleet fleet;
    CHECK(fleet.view() == "none");
    CHECK(fleet.hold() == "unknown");
    fleet.see("b a (c) -d");
    CHECK(fleet.view() == "a b");
    CHECK(fleet.hold() == "none");
    CHECK_FALSE(fleet.machine.next());
    CHECK(fleet.machine.members().size() == 4);
}

TEST_CASE("ViewMachine: without an active member there is no view") {
    Fleet fleet;
    fleet.see("(a) (b)");
    CHECK(fleet.view() == "none");
    CHECK(fleet.hold() == "no_active_member");
    fleet.pass(10min);
    fleet.see("(a) b");
    CHECK(fleet.view() == "b");
}

TEST_CASE("ViewMachine: a fleet waits for its size, but not without limit") {
    Fleet fleet({.wait_for_size = 3, .wait_timeout = 60s});
    fleet.see("a b");
    CHECK(fleet.hold() == "wait_for_size");
    fleet.pass(59s);
    CHECK(fleet.view() == "none");
    fleet.pass(1s);
    CHECK(fleet.view() == "a b");

    Fleet patient({.wait_for_size = 3, .wait_timeout = 0s});
    patient.see("a b");
    patient.pass(24h);
    CHECK(patient.view() == "none");
    patient.see("a b c");
    CHECK(patient.view() == "a b c");
}

TEST_CASE("ViewMachine: a member that joins counts after the debounce") {
    Fleet fleet;
    fleet.see("a b");
    fleet.see("a b c");
    CHECK(fleet.hold() == "debounce");
    fleet.pass(1999ms);
    CHECK(fleet.view() == "a b");
    fleet.pass(1ms);
    CHECK(fleet.view() == "a b c");
    CHECK(fleet.hold() == "none");
    CHECK_FALSE(fleet.machine.next());
}

TEST_CASE("ViewMachine: changes that follow each other are one, up to a limit") {
    Fleet fleet;
    fleet.see("a");
    std::string all = "a";
    for (int i = 0; i < 14; ++i) {
        all += " m" + std::to_string(i);
        fleet.see(all);
        fleet.pass(1s);
        REQUIRE(fleet.view() == "a");
    }
    fleet.see(all + " z");
    fleet.pass(1s);
    CHECK(fleet.machine.view()->size() == 16);
}

TEST_CASE("ViewMachine: a change that is taken back within the debounce is none") {
    Fleet fleet;
    fleet.see("a b");
    const FleetViewPtr before = fleet.machine.view();
    fleet.see("a b c");
    fleet.pass(1s);
    fleet.see("a b");
    fleet.pass(1h);
    CHECK(fleet.machine.view() == before);
}

TEST_CASE("ViewMachine: who says goodbye is not waited for") {
    Fleet fleet;
    fleet.see("a b c");
    fleet.see("a b -c");
    fleet.pass(2s);
    CHECK(fleet.view() == "a b");
}

TEST_CASE("ViewMachine: who said goodbye and is gone within the debounce is not waited for") {
    Fleet fleet;
    fleet.see("a b c");
    fleet.see("a b -c");
    fleet.pass(1s);
    fleet.see("a b");
    fleet.pass(1s);
    CHECK(fleet.view() == "a b");
}

TEST_CASE("ViewMachine: who vanishes keeps its share for the hold-down") {
    Fleet fleet;
    fleet.see("a b c");
    for (const char* text : {"a b", "a b (c)"}) {
        fleet.see(text);
        CHECK(fleet.hold() == "hold_down");
        fleet.pass(14s);
        CHECK(fleet.view() == "a b c");
        fleet.see("a b c");
        CHECK(fleet.hold() == "none");
        fleet.pass(1h);
        CHECK(fleet.view() == "a b c");
    }
    fleet.see("a b");
    fleet.pass(16999ms);
    CHECK(fleet.view() == "a b c");
    fleet.pass(1ms);
    CHECK(fleet.view() == "a b");
}

TEST_CASE("ViewMachine: the hold-down of one member does not delay another one") {
    Fleet fleet;
    fleet.see("a b c d e");
    fleet.see("a b c d");
    fleet.see("a b c d (e) f");
    fleet.pass(2s);
    CHECK(fleet.view() == "a b c d e f");
    CHECK(fleet.hold() == "hold_down");
    fleet.pass(15s);
    CHECK(fleet.view() == "a b c d f");
    CHECK(fleet.hold() == "none");
}

TEST_CASE("ViewMachine: a view stays while the members cannot be seen") {
    Fleet fleet;
    fleet.see("a b c");
    fleet.see("a b");
    fleet.pass(10s);
    fleet.lose_sight();
    CHECK(fleet.hold() == "away");
    fleet.pass(24h);
    CHECK(fleet.view() == "a b c");

    SECTION("and is right when they are seen again") {
        fleet.see("a b c");
        CHECK(fleet.hold() == "none");
        fleet.pass(1h);
        CHECK(fleet.view() == "a b c");
    }
    SECTION("and every wait begins again") {
        fleet.see("a b");
        fleet.pass(16s);
        CHECK(fleet.view() == "a b c");
        fleet.pass(1s);
        CHECK(fleet.view() == "a b");
    }
}

TEST_CASE("ViewMachine: an empty list of members has no effect at once") {
    Fleet fleet;
    fleet.see("a b");
    fleet.see("-a -b");
    fleet.pass(59s);
    CHECK(fleet.hold() == "empty");
    CHECK(is_alarm(fleet.machine.hold()));
    CHECK(fleet.view() == "a b");
    fleet.pass(1s);
    CHECK(fleet.view().empty());
    CHECK(fleet.hold() == "none");
    fleet.see("c");
    fleet.pass(2s);
    CHECK(fleet.view() == "c");
}

TEST_CASE("ViewMachine: that this member is not there is not believed at once") {
    Fleet fleet({}, "b");
    fleet.see("a b c");
    fleet.see("a c");
    fleet.pass(15s);
    CHECK(fleet.hold() == "self_missing");
    fleet.pass(59s);
    CHECK(fleet.view() == "a b c");
    fleet.pass(1s);
    CHECK(fleet.view() == "a c");
}

TEST_CASE("ViewMachine: a terminating or unready member treats itself as such") {
    Fleet leaving({}, "b");
    leaving.see("a b c");
    leaving.see("a -b c");
    leaving.pass(2s);
    CHECK(leaving.view() == "a c");

    Fleet ill({}, "b");
    ill.see("a b c");
    ill.see("a (b) c");
    ill.pass(17s);
    CHECK(ill.view() == "a c");
}

TEST_CASE("ViewMachine: that more than half have vanished is not believed at once") {
    Fleet fleet;
    fleet.see("a b c d e");
    fleet.see("a b");
    fleet.pass(16s);
    CHECK(fleet.hold() == "half_missing");
    fleet.pass(58s);
    CHECK(fleet.view() == "a b c d e");
    fleet.pass(1s);
    CHECK(fleet.view() == "a b");
}

TEST_CASE("ViewMachine: what is doubted and does not last leaves nothing") {
    Fleet fleet;
    fleet.see("a b c d e");
    fleet.see("a b");
    fleet.pass(50s);
    fleet.see("a b c d e");
    fleet.pass(1h);
    CHECK(fleet.view() == "a b c d e");
    fleet.see("a b");
    fleet.pass(60s);
    CHECK(fleet.view() == "a b c d e");
}

TEST_CASE("ViewMachine: many that say goodbye are believed") {
    Fleet fleet;
    fleet.see("a b c d e");
    fleet.see("a -b -c -d -e");
    fleet.pass(2s);
    CHECK(fleet.view() == "a");
}

TEST_CASE("ViewMachine: a pod that takes the place of another one counts, not the one before") {
    Fleet fleet;
    fleet.see("a -b b");
    CHECK(fleet.view() == "a b");
    CHECK(fleet.machine.members().size() == 2);
    fleet.see("(b) a -b");
    fleet.pass(17s);
    CHECK(fleet.view() == "a");
}

TEST_CASE("ViewMachine: a member never seen raises an alarm and delays no change") {
    Fleet fleet({}, "stranger");
    fleet.see("a b");
    CHECK(fleet.view() == "a b");
    CHECK(fleet.hold() == "none");
    fleet.pass(1min);
    CHECK(fleet.hold() == "self_missing");
    fleet.see("a b c");
    fleet.pass(2s);
    CHECK(fleet.view() == "a b c");
    fleet.see("a b c (stranger)");
    CHECK(fleet.hold() == "none");
}

FleetViewPtr view_of(std::vector<std::string> names) {
    return std::make_shared<const FleetView>(std::move(names));
}

TEST_CASE("ViewMachine: the view of before a restart serves until the members are seen") {
    Fleet fleet({}, "a", view_of({"a", "b"}));
    CHECK(fleet.view() == "a b");
    CHECK(fleet.hold() == "away");
    CHECK_FALSE(fleet.machine.in_sight());
    CHECK_FALSE(fleet.machine.next());
    fleet.pass(1h);
    CHECK(fleet.view() == "a b");
    fleet.see("(a) b c");
    CHECK(fleet.view() == "a b");
    fleet.pass(17s);
    CHECK(fleet.view() == "b c");
}

TEST_CASE("ViewMachine: a view of before a restart that is right stays the same") {
    const auto known = view_of({"a", "b", "c"});
    Fleet fleet({}, "a", known);
    fleet.see("a b c");
    CHECK(fleet.machine.view() == known);
    CHECK(fleet.hold() == "none");
    CHECK_FALSE(fleet.machine.next());
}

TEST_CASE("ViewMachine: a program that restarts keeps its share until it is ready again") {
    const auto known = view_of({"a", "b", "c"});
    Fleet fleet({}, "a", known);
    fleet.see("(a) b c");
    CHECK(fleet.hold() == "hold_down");
    fleet.pass(14s);
    fleet.see("a b c");
    fleet.pass(1h);
    CHECK(fleet.machine.view() == known);
}

TEST_CASE("ViewMachine: who is of the view of before and is not seen then, has vanished then") {
    Fleet fleet({}, "a", view_of({"a", "b", "c"}));
    fleet.pass(1h);
    fleet.see("a b");
    CHECK(fleet.hold() == "hold_down");
    fleet.pass(16999ms);
    CHECK(fleet.view() == "a b c");
    fleet.pass(1ms);
    CHECK(fleet.view() == "a b");

    Fleet polite({}, "a", view_of({"a", "b", "c"}));
    polite.see("a b -c");
    polite.pass(2s);
    CHECK(polite.view() == "a b");
}

TEST_CASE("ViewMachine: what is unlikely after the view of before is not believed at once") {
    const auto held = [](const std::string& seen) {
        Fleet fleet({}, "a", view_of({"a", "b", "c", "d", "e"}));
        fleet.see(seen);
        fleet.pass(15s);
        const std::string hold = fleet.hold();
        fleet.pass(59s);
        CHECK(fleet.view() == "a b c d e");
        fleet.pass(1s);
        CHECK(fleet.view() != "a b c d e");
        return hold;
    };
    CHECK(held("a b") == "half_missing");
    CHECK(held("") == "empty");
    CHECK(held("b c d e") == "self_missing");
}

TEST_CASE("ViewMachine: who was no member before a restart becomes one as always") {
    Fleet fleet({}, "a", view_of({"b", "c"}));
    fleet.see("(a) b c");
    CHECK(fleet.hold() == "none");
    fleet.see("a b c");
    fleet.pass(1999ms);
    CHECK(fleet.view() == "b c");
    fleet.pass(1ms);
    CHECK(fleet.view() == "a b c");

    Fleet stranger({}, "a", view_of({"b", "c"}));
    stranger.see("b c");
    stranger.pass(60s);
    CHECK(stranger.hold() == "self_missing");
    CHECK(stranger.view() == "b c");
}

TEST_CASE("ViewMachine: a fleet that had a view before a restart does not wait for its size") {
    Fleet fleet({.wait_for_size = 3}, "a", view_of({"a", "b", "c"}));
    fleet.see("a b");
    CHECK(fleet.view() == "a b c");
    fleet.pass(17s);
    CHECK(fleet.view() == "a b");
}

TEST_CASE("ViewMachine: a view of before that comes late says nothing") {
    Fleet seen;
    seen.see("a b");
    seen.machine.remember(view_of({"a", "b", "c"}), seen.now);
    CHECK(seen.view() == "a b");
    seen.lose_sight();
    seen.machine.remember(view_of({"a", "b", "c"}), seen.now);
    CHECK(seen.view() == "a b");

    Fleet alone;
    alone.see("(a) (b)");
    alone.machine.remember(view_of({"a", "b"}), alone.now);
    CHECK(alone.view() == "none");
    alone.lose_sight();
    alone.machine.remember(view_of({"a", "b"}), alone.now);
    CHECK(alone.view() == "a b");
    CHECK(alone.hold() == "away");
}

}  // namespace
}  // namespace k8s_sd::detail
