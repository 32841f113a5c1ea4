#include "k8s_sd/detail/discovery/diff_parts.hpp"
#include "k8s_sd/detail/labels/group_builder.hpp"
#include "support/allocations.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;

namespace {

TargetGroupPtr group(const std::string& name) {
    detail::GroupBuilder builder;
    builder.begin("pod/", "n", name);
    builder.begin_target();
    return builder.finish();
}

std::shared_ptr<TargetGroupDiff> diff_of(std::size_t updated, std::size_t removed) {
    auto diff = std::make_shared<TargetGroupDiff>();
    for (std::size_t i = 0; i < updated; ++i) {
        diff->updated.push_back({group("u" + std::to_string(i)), nullptr, i % 2 == 0});
    }
    for (std::size_t i = 0; i < removed; ++i) {
        diff->removed.push_back(group("r" + std::to_string(i)));
    }
    return diff;
}

std::string text_of(const TargetGroupDiff& diff) {
    std::string text = diff.full ? "full" : "";
    for (const GroupChange& change : diff.updated) {
        text += " ~" + std::string(change.group->source().substr(6)) + (change.replaced ? "!" : "");
    }
    for (const TargetGroupPtr& removed : diff.removed) {
        text += " -" + std::string(removed->source().substr(6));
    }
    if (diff.unconfirmed) text += " unconfirmed";
    if (diff.confirms) text += " confirms";
    return text + (diff.more ? " more" : "");
}

std::vector<std::string> parts_of(const std::shared_ptr<TargetGroupDiff>& diff, std::size_t limit) {
    detail::DiffParts parts;
    parts.begin(diff);
    std::vector<std::string> texts;
    while (!parts.empty()) texts.push_back(text_of(*parts.take(limit).part));
    return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("DiffParts: a diff within the limit is delivered as it is") {
    const auto diff = diff_of(2, 1);
    for (const std::size_t limit : {0U, 3U, 9U}) {
        detail::DiffParts parts;
        CHECK(parts.empty());
        parts.begin(diff);
        CHECK_FALSE(parts.empty());
        const detail::DiffParts::Taken taken = parts.take(limit);
        CHECK(taken.part == diff);
        CHECK(taken.whole == nullptr);
        CHECK(parts.empty());
    }
    CHECK(parts_of(diff_of(0, 0), 1) == Texts{""});
}

TEST_CASE("DiffParts: updated groups come first, removed ones follow") {
    CHECK(parts_of(diff_of(3, 2), 1) ==
          Texts{" ~u0! more", " ~u1 more", " ~u2! more", " -r0 more", " -r1"});
    CHECK(parts_of(diff_of(3, 2), 2) == Texts{" ~u0! ~u1 more", " ~u2! -r0 more", " -r1"});
    CHECK(parts_of(diff_of(0, 3), 2) == Texts{" -r0 -r1 more", " -r2"});
    CHECK(parts_of(diff_of(4, 0), 2) == Texts{" ~u0! ~u1 more", " ~u2! ~u3"});
}

TEST_CASE("DiffParts: the host releases the groups of a diff of its own part by part") {
    const auto diff = diff_of(2, 1);
    const TargetGroupPtr first = diff->updated[0].group;
    const TargetGroupPtr last = diff->removed[0];
    detail::DiffParts parts;
    parts.begin_own(diff);
    CHECK(text_of(*parts.take(1).part) == " ~u0! more");
    CHECK(first->use_count() == 1);
    CHECK(text_of(*parts.take(1).part) == " ~u1 more");
    CHECK(last->use_count() == 2);
    CHECK(text_of(*parts.take(1).part) == " -r0");
    CHECK(last->use_count() == 1);
}

TEST_CASE("DiffParts: only the first part is full, only the last one confirms") {
    const auto state = diff_of(3, 0);
    state->full = state->unconfirmed = true;
    CHECK(parts_of(state, 2) == Texts{"full ~u0! ~u1 unconfirmed more", " ~u2! unconfirmed"});
    const auto confirmation = diff_of(1, 1);
    confirmation->confirms = true;
    CHECK(parts_of(confirmation, 1) == Texts{" ~u0! more", " -r0 confirms"});
}

TEST_CASE("DiffParts: the whole diff is handed over with the last of several parts") {
    const auto diff = diff_of(2, 1);
    detail::DiffParts parts;
    parts.begin(diff);
    CHECK(parts.take(2).whole == nullptr);
    CHECK(parts.take(2).whole == diff);
}

TEST_CASE("DiffJoiner: the parts of a diff are the diff again, and nothing keeps it afterwards") {
    const auto diff = diff_of(4, 3);
    diff->full = true;
    diff->unconfirmed = true;
    const unsigned uses = diff->removed.front()->use_count();
    for (const std::size_t limit : {1U, 2U, 3U, 7U, 8U}) {
        DiffJoiner joiner;
        for (int round = 0; round < 2; ++round) {
            detail::DiffParts parts;
            parts.begin(diff);
            std::string whole;
            while (!parts.empty()) {
                CHECK(whole.empty());
                joiner.add(*parts.take(limit).part,
                           [&](const TargetGroupDiff& joined) { whole = text_of(joined); });
            }
            CHECK(whole == text_of(*diff));
            CHECK(diff->removed.front()->use_count() == uses);
        }
    }
}

TEST_CASE("DiffJoiner: a new state drops the parts of a diff whose rest never came") {
    DiffJoiner joiner;
    std::string whole;
    const auto note = [&](const TargetGroupDiff& joined) { whole = text_of(joined); };
    detail::DiffParts parts;
    parts.begin(diff_of(3, 0));
    joiner.add(*parts.take(2).part, note);
    CHECK(whole.empty());
    const auto state = diff_of(1, 0);
    state->full = true;
    joiner.add(*state, note);
    CHECK(whole == "full ~u0!");
}

namespace {

/// A host that may lack memory.
struct DiffHost {
    void add(const TargetGroupDiff& diff) {
        joiner.add(diff, [&](const TargetGroupDiff& whole) {
            if (fails) throw std::bad_alloc();
            applied = text_of(whole);
        });
    }
    void miss(const TargetGroupDiff& diff) {
        fails = true;
        CHECK_THROWS_AS(add(diff), std::bad_alloc);
        fails = false;
    }

    DiffJoiner joiner;
    bool fails = false;
    std::string applied;
};

TargetGroupDiff update(TargetGroupPtr to, TargetGroupPtr from, bool replaced = false) {
    TargetGroupDiff diff;
    diff.updated.push_back({std::move(to), std::move(from), replaced});
    return diff;
}
TargetGroupDiff removal(TargetGroupPtr of) {
    TargetGroupDiff diff;
    diff.removed.push_back(std::move(of));
    return diff;
}

}  // namespace

TEST_CASE("DiffJoiner: an object replaced in a missed diff is still replaced in the sum") {
    DiffHost host;
    const TargetGroupPtr first = group("a"), second = group("a"), third = group("a");
    host.miss(update(second, first, true));
    host.add(update(third, second));
    CHECK(host.applied == " ~a!");
    host.add(update(first, third));
    CHECK(host.applied == " ~a");
}

TEST_CASE("DiffJoiner: a group added in a missed diff and removed in the next one never was") {
    DiffHost host;
    const TargetGroupPtr added = group("a");
    host.miss(update(added, nullptr));
    host.add(removal(added));
    CHECK(host.applied.empty());
}

TEST_CASE("DiffJoiner: a group that missed diffs change is removed once, in its last known state") {
    DiffHost host;
    const TargetGroupPtr first = group("a"), second = group("a"), third = group("a");
    host.miss(removal(first));
    host.miss(update(second, nullptr));
    host.miss(update(third, second));
    host.joiner.add(removal(third), [&](const TargetGroupDiff& diff) {
        CHECK(diff.updated.empty());
        REQUIRE(diff.removed.size() == 1);
        CHECK(diff.removed.front() == first);
    });
}

TEST_CASE("DiffJoiner: no diff is lost if apply() and all allocations after it fail") {
    DiffHost host;
    const TargetGroupDiff first = update(group("a"), nullptr), second = update(group("b"), nullptr);
    const auto run_out = [](const TargetGroupDiff&) {
        test::allocations_left = 0;
        throw std::bad_alloc();
    };
    CHECK_THROWS_AS(host.joiner.add(first, run_out), std::bad_alloc);
    test::allocations_left = -1;
    host.add(second);
    CHECK(host.applied == " ~a ~b");
}

TEST_CASE("DiffJoiner: no diff is lost if there is no memory for its sum with a missed one") {
    const TargetGroupDiff second = update(group("b"), nullptr), third = update(group("c"), nullptr);
    for (long allocations = 2;; ++allocations) {  // two are for the second diff
        DiffHost host;
        host.miss(update(group("a"), nullptr));
        bool enough = true;
        test::allocations_left = allocations;
        try {
            host.joiner.add(second, [](const TargetGroupDiff&) {});
        } catch (const std::bad_alloc&) {
            enough = false;
        }
        test::allocations_left = -1;
        if (enough) break;
        host.add(third);
        CHECK(host.applied == " ~a ~b ~c");
    }
}
