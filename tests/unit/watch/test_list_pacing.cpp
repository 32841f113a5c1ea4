#include "k8s_sd/detail/watch/pacing.hpp"

#include <catch2/catch_test_macros.hpp>
#include <deque>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;

ListPacing list_pacing(Duration max = 30s) {
    static std::deque<WatchOptions> all;  // they outlive the pacings
    WatchOptions& options = all.emplace_back();
    options.backoff_min = 1s;
    options.backoff_max = max;
    options.poll_interval = 20s;
    return {options, 1};
}

constexpr TimePoint list_end{24h};

/// A pacing whose last list was complete at `list_end`.
ListPacing pacing_after_list() {
    ListPacing pacing = list_pacing();
    pacing.on_list(list_end);
    return pacing;
}

TEST_CASE("ListPacing: the first list in place of a watch is immediate, the next ones wait for a "
          "doubling pause") {
    ListPacing pacing = pacing_after_list();
    CHECK(pacing.before_list(list_end) == 0s);
    for (const Duration least : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
        const Duration pause = pacing.before_list(list_end);
        CHECK(pause >= least);
        CHECK(pause <= 2 * least);
    }
}

TEST_CASE("ListPacing: five minutes after the last list, or after a long watch, a list is "
          "immediate again") {
    ListPacing pacing = pacing_after_list();
    pacing.before_list(list_end);
    pacing.before_list(list_end);
    SECTION("not sooner") { CHECK(pacing.before_list(list_end + 5min - 1ns) >= 2s); }
    SECTION("five minutes") {
        CHECK(pacing.before_list(list_end + 5min) == 0s);
        CHECK(pacing.before_list(list_end + 5min - 1ns) <= 2s);
    }
    SECTION("a long watch") {
        pacing.on_long_watch();
        CHECK(pacing.before_list(list_end + 1s) == 0s);
        CHECK(pacing.before_list(list_end + 1s) <= 2s);
    }
}

TEST_CASE("ListPacing: a list itself does not reset the pause before the next one") {
    ListPacing pacing = pacing_after_list();
    pacing.before_list(list_end);
    pacing.before_list(list_end);
    pacing.on_list(list_end + 1s);
    CHECK(pacing.before_list(list_end + 1s) >= 2s);
}

TEST_CASE("ListPacing: the forms of a list follow within 8 s, and no later than the longest "
          "backoff allows") {
    ListPacing pacing = list_pacing(), impatient = list_pacing(2s);
    for (int i = 0; i < 10; ++i) {
        CHECK(pacing.before_form() <= 8s);
        CHECK(impatient.before_form() <= 4s);
    }
    CHECK(pacing.before_form() >= 4s);
    pacing.on_long_watch();
    CHECK(pacing.before_form() <= 2s);
}

TEST_CASE("ListPacing: one repetition is immediate until a list is complete") {
    ListPacing pacing = list_pacing();
    CHECK(pacing.take_repetition());
    CHECK_FALSE(pacing.take_repetition());
    CHECK_FALSE(pacing.take_repetition());
    pacing.on_list(list_end);
    CHECK(pacing.take_repetition());
}

TEST_CASE("ListPacing: a poll waits for its interval since the last list, and not without one") {
    CHECK(list_pacing().before_poll(list_end) == 0s);
    const ListPacing pacing = pacing_after_list();
    CHECK(pacing.before_poll(list_end + 5s) == 15s);
    CHECK(pacing.before_poll(list_end + 20s) == 0s);
    CHECK(pacing.before_poll(list_end + 25s) <= 0s);
}

TEST_CASE("ListPacing: a list makes up for watches at their limit, and then once a minute") {
    const ListPacing pacing = pacing_after_list();
    CHECK_FALSE(pacing.is_due(2, 3, list_end + 1h));
    CHECK(pacing.is_due(3, 3, list_end));
    CHECK_FALSE(pacing.is_due(4, 3, list_end + 59s));
    CHECK(pacing.is_due(4, 3, list_end + 1min));
    CHECK(list_pacing().is_old(list_end));
    CHECK_FALSE(pacing.is_old(list_end + 59s));
    CHECK(pacing.is_old(list_end + 1min));
}

}  // namespace
}  // namespace k8s_sd::detail
