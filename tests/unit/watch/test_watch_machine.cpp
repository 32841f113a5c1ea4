#include "k8s_sd/detail/watch/watch_machine.hpp"

#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using k8s_sd::Duration;
using k8s_sd::WatchOptions;
using Machine = k8s_sd::detail::WatchMachine;

namespace {

WatchOptions options(unsigned page_size = 500) {
    WatchOptions o;
    o.page_size = page_size;
    o.backoff_min = 1s;
    o.backoff_max = 30s;
    return o;
}

/// "list", "list rv=5", "list continue=t limit=500", "watch 5", "sleep".
std::string words(const Machine::Step& step) {
    if (const auto* list = std::get_if<Machine::List>(&step)) {
        std::string text = "list";
        if (!list->resource_version.empty()) text += " rv=" + list->resource_version;
        if (!list->continue_token.empty()) text += " continue=" + list->continue_token;
        if (list->limit != 0) text += " limit=" + std::to_string(list->limit);
        return text;
    }
    if (const auto* watch = std::get_if<Machine::Watch>(&step))
        return "watch " + watch->resource_version;
    return "sleep";
}
Duration delay(const Machine::Step& step) { return std::get<Machine::Sleep>(step).delay; }
bool is_sleep(const Machine::Step& step) { return std::holds_alternative<Machine::Sleep>(step); }

/// A machine and the words of its steps.
struct Subject {
    explicit Subject(WatchOptions o = options(), std::uint64_t seed = 1) : machine(o, seed) {
        step = machine.start();
    }
    std::string next(const Machine::Outcome& outcome) {
        return words(step = machine.next(outcome));
    }
    std::string listed(std::string version) {
        return next(Machine::PageListed{std::move(version), ""});
    }
    std::string page(std::string token) {
        return next(Machine::PageListed{"ignored", std::move(token)});
    }
    std::string malformed() { return next(Machine::Malformed{}); }
    std::string slept() { return next(Machine::Slept{}); }
    /// A watch that brought nothing.
    std::string short_watch(bool clean = true) { return next(Machine::WatchEnded{false, clean}); }

    Machine machine;
    Machine::Step step;
};

/// A machine that watches from a version.
Subject watching(const std::string& version = "5") {
    Subject s;
    REQUIRE(s.listed(version) == "watch " + version);
    return s;
}

const Machine::Failed failed{};

}  // namespace

TEST_CASE("WatchMachine: it starts with the first page of the most recent state") {
    CHECK(words(Subject().step) == "list limit=500");
    CHECK(words(Subject(options(0)).step) == "list");
}

TEST_CASE("WatchMachine: pages are listed one after the other, then it watches from the last one's "
          "version") {
    Subject s;
    CHECK(s.next(Machine::PageListed{"7", "a"}) == "list continue=a limit=500");
    CHECK(s.next(Machine::PageListed{"7", "b"}) == "list continue=b limit=500");
    CHECK(s.next(Machine::PageListed{"8", ""}) == "watch 8");
    CHECK(s.machine.resource_version() == "8");
}

TEST_CASE("WatchMachine: a watch that ended is opened again from the last version seen") {
    Subject s = watching("5");
    s.machine.on_progress("6");
    s.machine.on_progress("9");
    CHECK(s.next(Machine::WatchEnded{true, true}) == "sleep");
    CHECK(s.slept() == "watch 9");
}

TEST_CASE("WatchMachine: an event without a version moves nothing") {
    Subject s = watching("5");
    s.machine.on_progress("");
    CHECK(s.machine.resource_version() == "5");
}

TEST_CASE(
    "WatchMachine: after a clean end with progress it waits at most 100 ms, spread by the seed") {
    Duration least = 1h, most = 0s;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Subject s(options(), seed);
        s.listed("5");
        s.next(Machine::WatchEnded{true, true});
        least = std::min(least, delay(s.step));
        most = std::max(most, delay(s.step));
    }
    CHECK(most <= 100ms);
    CHECK(most > 80ms);
    CHECK(least < 20ms);
}

TEST_CASE(
    "WatchMachine: after a broken connection with progress it waits as after a first failure") {
    Subject s = watching();
    for (int i = 0; i < 20; ++i) {
        CHECK(s.next(Machine::WatchEnded{true, false}) == "sleep");
        CHECK((delay(s.step) >= 1s && delay(s.step) <= 2s));
        CHECK(s.slept() == "watch 5");
    }
}

TEST_CASE("WatchMachine: an expired version is listed again at once the first time, and the list "
          "is not older") {
    Subject s = watching("5");
    CHECK(s.next(Machine::Expired{}) == "list rv=5");
    CHECK(s.listed("9") == "watch 9");
}

TEST_CASE("WatchMachine: versions that expire without progress are listed with growing delays") {
    Subject s = watching("5");
    CHECK(s.next(Machine::Expired{}) == "list rv=5");
    Duration least = 1s;
    for (int i = 0; i < 4; ++i) {
        CHECK(s.listed("6") == "watch 6");
        CHECK(s.next(Machine::Expired{}) == "sleep");
        CHECK((delay(s.step) >= least && delay(s.step) <= 2 * least));
        CHECK(s.slept() == "list rv=6");
        least *= 2;
    }
}

TEST_CASE("WatchMachine: after progress an expired version is listed at once again") {
    Subject s = watching("5");
    CHECK(s.next(Machine::Expired{}) == "list rv=5");
    CHECK(s.listed("6") == "watch 6");
    s.machine.on_progress("7");
    CHECK(s.next(Machine::Expired{}) == "list rv=7");
}

TEST_CASE("WatchMachine: a list whose own version has expired is asked for without a version") {
    Subject s = watching("5");
    CHECK(s.next(Machine::Expired{}) == "list rv=5");
    CHECK(s.next(Machine::Expired{}) == "list");
    CHECK(s.next(Machine::Expired{}) == "sleep");  // 410 to a list of the most recent state: absurd
    CHECK(delay(s.step) >= 1s);
    CHECK(s.slept() == "list limit=500");
    CHECK(s.listed("3") == "watch 3");
}

TEST_CASE("WatchMachine: an expired continue token makes it list everything in one page") {
    Subject s;
    CHECK(s.page("a") == "list continue=a limit=500");
    CHECK(s.next(Machine::Expired{}) == "list");
    CHECK(s.listed("9") == "watch 9");
    CHECK(s.next(Machine::Expired{}) == "sleep");  // no progress since the first expiration
    CHECK(s.slept() == "list rv=9");
}

TEST_CASE("WatchMachine: a server whose continue tokens always expire is not asked without delay") {
    Subject s;
    int lists_at_once = 0;
    for (int i = 0; i < 10; ++i) {
        s.page("token");
        if (s.next(Machine::Expired{}) != "sleep") {
            ++lists_at_once;
            CHECK(words(s.step) == "list");
        } else {
            CHECK(s.slept() == "list limit=500");
        }
    }
    CHECK(lists_at_once == 1);
}

TEST_CASE("WatchMachine: failures keep the version and grow the delay until something comes") {
    Subject s = watching("5");
    Duration least = 1s;
    for (int i = 0; i < 8; ++i) {
        CHECK(s.next(failed) == "sleep");
        CHECK(delay(s.step) >= std::min<Duration>(least, 30s));
        CHECK(delay(s.step) <= std::min<Duration>(2 * least, 30s));
        CHECK(s.slept() == "watch 5");
        least *= 2;
    }
    s.machine.on_progress("6");
    s.next(failed);
    CHECK(delay(s.step) <= 2s);
    CHECK(s.slept() == "watch 6");
}

TEST_CASE("WatchMachine: a failed list goes on with the page that failed") {
    Subject s;
    CHECK(s.next(failed) == "sleep");
    CHECK(s.slept() == "list limit=500");
    s.page("a");
    CHECK(s.next(failed) == "sleep");
    CHECK(s.slept() == "list continue=a limit=500");
    CHECK(s.listed("4") == "watch 4");
}

TEST_CASE("WatchMachine: a relist that failed is a relist again") {
    Subject s = watching("5");
    s.next(Machine::Expired{});
    CHECK(s.next(failed) == "sleep");
    CHECK(s.slept() == "list rv=5");
}

TEST_CASE("WatchMachine: Retry-After is a lower bound, and so is the backoff") {
    Subject s = watching();
    s.next(Machine::Failed{10s});
    CHECK(delay(s.step) == 10s);
    CHECK(s.slept() == "watch 5");
    s.next(Machine::Failed{100min});
    CHECK(delay(s.step) == 100min);
    for (int i = 0; i < 8; ++i) s.next(failed);
    s.next(Machine::Failed{1s});
    CHECK(delay(s.step) == 30s);
    s.next(Machine::Failed{0s});
    CHECK(delay(s.step) == 30s);
}

TEST_CASE("WatchMachine: new credentials are tried at once for the same step") {
    Subject s;
    CHECK(s.next(Machine::NewCredentials{}) == "list limit=500");
    s.page("a");
    CHECK(s.next(Machine::NewCredentials{}) == "list continue=a limit=500");
    s.listed("5");
    CHECK(s.next(Machine::NewCredentials{}) == "watch 5");
    s.next(Machine::Expired{});
    CHECK(s.next(Machine::NewCredentials{}) == "list rv=5");
}

TEST_CASE("WatchMachine: the fifth short watch in a row makes it list again") {
    Subject s = watching("5");
    Duration least = 1s;
    for (int i = 0; i < 4; ++i) {
        CHECK(s.short_watch() == "sleep");
        CHECK(delay(s.step) >= least);
        CHECK(s.slept() == "watch 5");
        least *= 2;
    }
    CHECK(s.short_watch() == "sleep");
    CHECK(delay(s.step) >= 16s);
    CHECK(s.slept() == "list rv=5");
    CHECK(s.listed("6") == "watch 6");
    CHECK(s.short_watch() == "sleep");
    CHECK(s.slept() == "watch 6");
}

TEST_CASE("WatchMachine: progress starts the count of short watches afresh") {
    Subject s = watching("5");
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 4; ++i) {
            s.short_watch(false);
            CHECK(s.slept() == "watch 5");
        }
        CHECK(s.next(Machine::WatchEnded{true, true}) == "sleep");
        CHECK(s.slept() == "watch 5");
    }
}

TEST_CASE("WatchMachine: bytes that are no events three times in a row make it list again") {
    Subject s = watching("5");
    for (int i = 0; i < 2; ++i) {
        CHECK(s.malformed() == "sleep");
        CHECK(delay(s.step) >= 1s);
        CHECK(s.slept() == "watch 5");
    }
    CHECK(s.malformed() == "sleep");
    CHECK(s.slept() == "list rv=5");
    CHECK(s.listed("5") == "watch 5");
    CHECK(s.malformed() == "sleep");
    CHECK(s.slept() == "watch 5");
}

TEST_CASE("WatchMachine: an event between malformed bytes starts their count afresh") {
    Subject s = watching("5");
    for (int i = 0; i < 6; ++i) {
        s.machine.on_progress("5");
        CHECK(s.malformed() == "sleep");
        CHECK((delay(s.step) >= 1s && delay(s.step) <= 2s));
        CHECK(s.slept() == "watch 5");
    }
}

TEST_CASE("WatchMachine: a version from the server's future makes it list the most recent state at "
          "once") {
    Subject s = watching("500");
    CHECK(s.next(Machine::VersionTooLarge{}) == "list limit=500");
    CHECK(s.listed("7") == "watch 7");
    CHECK(s.next(Machine::Expired{}) == "sleep");  // no progress in between
    CHECK(s.slept() == "list rv=7");
}

TEST_CASE(
    "WatchMachine: a relist whose version is from the future is asked for without a version") {
    Subject s = watching("500");
    CHECK(s.next(Machine::Expired{}) == "list rv=500");
    const std::string now = s.next(Machine::VersionTooLarge{});
    CHECK((now == "list limit=500" || (now == "sleep" && s.slept() == "list limit=500")));
}

TEST_CASE("WatchMachine: a server that finds every version too large is not asked without delay") {
    Subject s = watching("500");
    int lists_at_once = 0;
    Duration longest = 0s;
    for (int i = 0; i < 20; ++i) {
        if (s.next(Machine::VersionTooLarge{}) != "sleep") {
            ++lists_at_once;
        } else {
            longest = std::max(longest, delay(s.step));
            CHECK(s.slept() == "list limit=500");
        }
        if (i % 2 == 0) CHECK(s.listed("500") == "watch 500");
    }
    CHECK(lists_at_once == 1);
    CHECK(longest == 30s);
}

TEST_CASE("WatchMachine: a rejected version or token is forgotten, after a delay") {
    Subject s = watching("5");
    CHECK(s.next(Machine::Rejected{}) == "sleep");
    CHECK(delay(s.step) >= 1s);
    CHECK(s.slept() == "list limit=500");
    s.page("a");
    CHECK(s.next(Machine::Rejected{}) == "sleep");
    CHECK(s.slept() == "list limit=500");
    CHECK(s.listed("6") == "watch 6");
}

TEST_CASE("WatchMachine: equal seeds give equal delays") {
    const auto run = [](std::uint64_t seed) {
        Subject s(options(), seed);
        s.listed("5");
        std::vector<Duration> delays;
        for (int i = 0; i < 4; ++i) s.next(failed), delays.push_back(delay(s.step)), s.slept();
        return delays;
    };
    CHECK(run(1) == run(1));
    CHECK(run(1) != run(2));
}

TEST_CASE("WatchMachine: whatever happens, it asks the server at most twice without waiting or "
          "progress") {
    using Make = std::function<Machine::Outcome(std::mt19937&)>;
    const std::vector<Make> after_list{
        [](auto& r) {
            return Machine::PageListed{std::to_string(r() % 100), ""};
        },
        [](auto&) {
            return Machine::PageListed{"1", "token"};
        },
        [](auto&) { return Machine::Expired{}; },
        [](auto&) { return Machine::VersionTooLarge{}; },
        [](auto&) { return Machine::Rejected{}; },
        [](auto&) { return Machine::Failed{}; },
    };
    const std::vector<Make> after_watch{
        [](auto& r) {
            return Machine::WatchEnded{false, r() % 2 == 0};
        },
        [](auto&) { return Machine::Malformed{}; },
        [](auto&) { return Machine::Expired{}; },
        [](auto&) { return Machine::VersionTooLarge{}; },
        [](auto&) { return Machine::Rejected{}; },
        [](auto&) { return Machine::Failed{}; },
    };
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        Machine machine(options(), seed);
        Machine::Step step = machine.start();
        int without_wait = 0;  // steps that follow another one's failure at once
        for (int i = 0; i < 200; ++i) {
            if (is_sleep(step)) {
                without_wait = 0;
                step = machine.next(Machine::Slept{});
                CHECK_FALSE(is_sleep(step));
                continue;
            }
            const auto* list = std::get_if<Machine::List>(&step);
            if (list)
                CHECK_FALSE((!list->continue_token.empty() && !list->resource_version.empty()));
            const auto* watch = std::get_if<Machine::Watch>(&step);
            if (watch) CHECK_FALSE(watch->resource_version.empty());
            const auto& choice = list ? after_list : after_watch;
            const Machine::Outcome outcome = choice[random() % choice.size()](random);
            const bool good = std::holds_alternative<Machine::PageListed>(outcome);
            step = machine.next(outcome);
            if (!good && !is_sleep(step)) ++without_wait;
            CAPTURE(seed, i, words(step));
            // An expired watch lists, an expired relist or continue token lists everything.
            CHECK(without_wait <= 2);
        }
    }
}
