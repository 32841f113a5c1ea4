#include "k8s_sd/detail/cache/cache_collection.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;
using k8s_sd::TimePoint;
using Policy = k8s_sd::detail::CollectionPolicy;
using Occasion = Policy::Occasion;
using Facts = Policy::Facts;
using State = Policy::State;

namespace {

constexpr std::size_t threshold = 4;
constexpr TimePoint now{1h};
constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

std::string_view words(Policy::Action action) {
    switch (action) {
        case Policy::Action::none: return "nothing";
        case Policy::Action::join: return "join";
        case Policy::Action::leave: return "leave";
        case Policy::Action::refuse: return "refuse";
        case Policy::Action::probe: return "probe";
        case Policy::Action::retry: return "retry";
        case Policy::Action::end: return "end";
    }
    return {};
}

struct Row {
    std::string_view when;
    State state;
    Facts facts;
    std::string_view action;
};

Facts at(Occasion occasion, Facts facts = {}) {
    facts.occasion = occasion;
    facts.now = now;
    return facts;
}
Facts change(Facts facts = {}) { return at(Occasion::change, facts); }
Facts check(Facts facts = {}) { return at(Occasion::check, facts); }
Facts refusal(Facts facts = {}) { return at(Occasion::refusal, facts); }

// Far more objects than half the threshold, all of them in the collection.
Facts served(Facts facts = {}) {
    facts.watched = 100;
    return facts;
}

void decide(const std::vector<Row>& rows, std::size_t limit = threshold) {
    for (const Row& row : rows) {
        INFO(row.when);
        CHECK(words(Policy(limit).next(row.state, row.facts)) == row.action);
    }
}

Policy::Joining joining(bool slow = false) { return {.slow = slow}; }
Policy::Leaving leaving(TimePoint until = TimePoint::min()) { return {.refused_until = until}; }
Policy::Refused refused(TimePoint until = now + 5min) { return {.until = until}; }
Policy::Refused relieved() {
    Policy::Refused state = refused();
    state.single_allowed = true;
    return state;
}

}  // namespace

TEST_CASE("CollectionPolicy: where objects have watches of their own, it joins when there are more "
          "than the threshold") {
    const State none = Policy::None{};
    decide({
        {"there is nothing", none, change(), "nothing"},
        {"as many as the threshold are watched", none, change({.single = 4, .watched = 4}),
         "nothing"},
        {"one more is watched", none, change({.single = 5, .watched = 5}), "join"},
        {"one more needs a watch", none, change({.single = 4, .watched = 4, .unserved = 1}),
         "join"},
        {"all come in one go", none, change({.unserved = 5}), "join"},
        {"as many as the threshold come in one go", none, change({.unserved = 4}), "nothing"},
        {"the others are in an older collection", none, change({.single = 4, .watched = 100}),
         "nothing"},
    });
}

TEST_CASE("CollectionPolicy: while it joins, objects that come and go change nothing") {
    decide({
        {"many more come", joining(), change({.single = 50, .watched = 60, .unserved = 50}),
         "nothing"},
        {"few are left", joining(), change({.watched = 1}), "nothing"},
        {"none is left", joining(), change({.gone = true}), "end"},
        {"it is slow, and single watches work", joining(true), change({.single_works = true}),
         "nothing"},
        {"there is one to probe", joining(), change({.can_probe = true}), "nothing"},
    });
}

TEST_CASE("CollectionPolicy: a collection that cannot be listed is given up when single watches "
          "work") {
    decide({
        {"it has just begun", joining(), check(), "nothing"},
        {"it has just begun, and single watches work", joining(), check({.single_works = true}),
         "nothing"},
        {"it is slow, and single watches work", joining(true), check({.single_works = true}),
         "refuse"},
        {"it is slow, and no single watch works", joining(true), check(), "nothing"},
        {"it is unknown whether single watches work", joining(), check({.can_probe = true}),
         "probe"},
        {"it is slow, and that is unknown", joining(true), check({.can_probe = true}), "probe"},
        {"it is slow, single watches work, and others could be tried", joining(true),
         check({.single_works = true, .can_probe = true}), "refuse"},
        {"it is slow, and unwanted by now", joining(true),
         check({.gone = true, .single_works = true}), "end"},
        {"the server refuses it", joining(), refusal(), "refuse"},
        {"the server refuses it, and single watches could be tried", joining(),
         refusal({.can_probe = true}), "refuse"},
    });
}

TEST_CASE("CollectionPolicy: a collection that serves is joined again for many, and left for few") {
    const State serving = Policy::Serving{};
    decide({
        {"it serves all", serving, change(served()), "nothing"},
        {"as many as the threshold have watches of their own", serving,
         change(served({.single = 4})), "nothing"},
        {"more have, or need one", serving, change(served({.single = 3, .unserved = 2})), "join"},
        {"three are left: more than half the threshold", serving, change({.watched = 3}),
         "nothing"},
        {"two are left", serving, change({.watched = 2}), "leave"},
        {"two are left, and one comes", serving, change({.watched = 2, .unserved = 1}), "nothing"},
        {"none is left", serving, change({.gone = true}), "end"},
        {"none is left in it, and there are many others", serving,
         change({.gone = true, .single = 9, .watched = 9}), "end"},
        {"the server refuses it", serving, refusal(served({.can_probe = true})), "refuse"},
        {"the server refuses it, and few are left", serving, refusal({.watched = 1}), "refuse"},
    });
}

TEST_CASE("CollectionPolicy: while it leaves, objects that come and go change nothing") {
    decide({
        {"it goes on", leaving(), change({.single = 1, .watched = 2}), "nothing"},
        {"many come", leaving(), change({.single = 9, .watched = 9, .unserved = 9}), "nothing"},
        {"all have changed over", leaving(), change({.gone = true, .single = 2}), "end"},
        {"the server refuses it", leaving(), refusal(served({.can_probe = true})), "refuse"},
        {"the server refuses it again, later", leaving(now + 9min), refusal(served()), "refuse"},
        {"its refusal is noted", leaving(now + 10min), refusal(served({.can_probe = true})),
         "nothing"},
    });
}

TEST_CASE("CollectionPolicy: a collection that is refused is tried again after ten minutes") {
    CHECK(Policy::refused_until(now) == now + 10min);
    const Facts many = {.gone = true, .single = 50, .watched = 50, .unserved = 5};
    decide({
        {"many objects have watches of their own", refused(), change(many), "nothing"},
        {"a moment is left", refused(now + 1ns), change(many), "nothing"},
        {"the time has come", refused(now), change(many), "retry"},
        {"the time has come, and there is little to serve", refused(now), change({.gone = true}),
         "retry"},
        {"the time has come for one that serves", refused(now), change(served()), "retry"},
    });
}

TEST_CASE("CollectionPolicy: a refused collection serves what it has until single watches work") {
    decide({
        {"nothing happens", refused(), change(served()), "nothing"},
        {"many need a watch", refused(), change(served({.single = 9, .unserved = 9})), "nothing"},
        {"it is refused again", refused(now + 9min), refusal(served({.can_probe = true})),
         "refuse"},
        {"that is noted, and no single watch is tried yet", refused(now + 10min),
         refusal(served({.can_probe = true})), "probe"},
        {"that is noted, and one is tried", refused(now + 10min), refusal(served()), "nothing"},
        {"one could be tried, but the server has not refused again", refused(now + 10min),
         change(served({.can_probe = true})), "nothing"},
        {"one works", relieved(), change(served()), "leave"},
        {"one works, and none is left in the collection", relieved(), change({.gone = true}),
         "nothing"},
        {"few are left", refused(), change({.watched = 2}), "leave"},
        {"none is left in the collection", refused(), change({.gone = true}), "nothing"},
    });
}

TEST_CASE("CollectionPolicy: without a threshold there is never a collection") {
    CHECK_FALSE(Policy(0).enabled());
    CHECK(Policy(1).enabled());
    decide(
        {{"there are many", Policy::None{}, change({.single = 1000, .unserved = 1000}), "nothing"}},
        0);
    CHECK(Policy(0).room(Policy::None{}, 1000, now) == unlimited);
}

TEST_CASE("CollectionPolicy: what exceeds the threshold waits for a collection that is on the "
          "way, and for none that is refused") {
    const Policy policy(threshold);
    for (const State& state : {State(Policy::None{}), State(joining()), State(Policy::Serving{}),
                               State(leaving()), State(leaving(now))}) {
        INFO(state.index());
        CHECK(policy.room(state, 0, now) == 4);
        CHECK(policy.room(state, 3, now) == 1);
        CHECK(policy.room(state, 4, now) == 0);
        CHECK(policy.room(state, 50, now) == 0);
        CHECK_FALSE(Policy::is_refused(state, now));
    }
    for (const State& state : {State(refused()), State(leaving(now + 1min))}) {
        INFO(state.index());
        CHECK(policy.room(state, 50, now) == unlimited);
        CHECK(Policy::is_refused(state, now));
        CHECK_FALSE(Policy::is_refused(state, now + 5min));
    }
}
