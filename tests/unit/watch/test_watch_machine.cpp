#include "k8s_sd/detail/watch/watch_machine.hpp"
#include "support/effort.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using k8s_sd::Duration;
using k8s_sd::ListReason;
using k8s_sd::TimePoint;
using k8s_sd::Waiting;
using k8s_sd::WatchOptions;
using Machine = k8s_sd::detail::WatchMachine;
using Cause = Machine::Cause;
using k8s_sd::detail::ListShape;
using k8s_sd::test::rounds;

namespace {

WatchOptions options(unsigned page_size = 500) {
    WatchOptions o;
    o.page_size = page_size;
    o.watch_list = false;
    o.backoff_min = 1s;
    o.backoff_max = 30s;
    return o;
}

/// "list", "list rv=5", "list continue=t limit=500", "streamed list rv=5", "probe", "watch 5",
/// "sleep".
std::string words(const Machine::Step& step) {
    if (const auto* list = std::get_if<Machine::List>(&step)) {
        std::string text = list->streamed ? "streamed list" : "list";
        if (!list->resource_version.empty()) text += " rv=" + list->resource_version;
        if (!list->continue_token.empty()) text += " continue=" + list->continue_token;
        if (list->limit != 0) text += " limit=" + std::to_string(list->limit);
        if (list->other_encoding) text += " otherwise";
        return text;
    }
    if (const auto* watch = std::get_if<Machine::Watch>(&step))
        return "watch " + watch->resource_version;
    return std::holds_alternative<Machine::Probe>(step) ? "probe" : "sleep";
}

/// A machine, a text of its steps, and the time.
struct Subject {
    explicit Subject(WatchOptions o = options(), std::uint64_t seed = 1,
                     bool other_encoding = false)
        : settings(std::make_shared<const WatchOptions>(o)),
          machine(*settings, seed, other_encoding) {
        step = machine.start();
    }
    std::string next(const Machine::Outcome& outcome) {
        if (const auto* failed = std::get_if<Machine::Failed>(&outcome))
            if (failed->cause == Cause::silent) now += 10s;
        return words(step = machine.next(outcome, now));
    }
    std::string listed(std::string version) {
        return next(Machine::PageListed{std::move(version), "", 1});
    }
    std::string page(std::string token) {
        return next(Machine::PageListed{"7", std::move(token), 500});
    }
    std::string slept() {
        now += delay();
        return next(Machine::Slept{});
    }
    /// The outcome, the following pause if any, and the next step.
    std::string after(const Machine::Outcome& outcome) {
        const std::string word = next(outcome);
        return word == "sleep" ? slept() : word;
    }
    std::string failed(Cause cause = Cause::server) { return after(Machine::Failed{{}, cause}); }
    /// A watch that stays open, delivers a new version if one is given, and ends.
    void live(Duration life, const std::string& version = {}) {
        machine.on_watching(now);
        if (!version.empty()) machine.on_progress(version, now);
        now += life;
    }
    std::string ended(Duration life, const std::string& version = {}, bool clean = true) {
        live(life, version);
        return next(Machine::WatchEnded{clean, false});
    }
    std::string silent(Duration life, const std::string& version = {}) {
        live(life, version);
        return next(Machine::Silent{});
    }
    Duration delay() const { return std::get<Machine::Sleep>(step).delay; }
    Waiting waiting() const { return std::get<Machine::Sleep>(step).why; }
    ListReason reason() const { return std::get<Machine::List>(step).reason; }

    std::shared_ptr<const WatchOptions> settings;  ///< outlive the machine and its copies
    Machine machine;
    Machine::Step step;
    TimePoint now{24h};
};

/// A machine that has watched from a version for a while.
Subject watching(const std::string& version = "5", Duration since = 1min) {
    Subject s;
    REQUIRE(s.listed(version) == "watch " + version);
    s.now += since;
    return s;
}

}  // namespace

TEST_CASE("WatchMachine: it starts with the first page of the most recent state") {
    CHECK(words(Subject().step) == "list limit=500");
    CHECK(Subject().reason() == ListReason::first);
    CHECK(words(Subject(options(0)).step) == "list");
}

TEST_CASE("WatchMachine: it may start after a random delay, and from the server's cache") {
    WatchOptions jittered = options();
    jittered.start_jitter = 10s;
    std::set<Duration> delays;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Subject s(jittered, seed);
        CHECK(s.waiting() == Waiting::start);
        CHECK(s.delay() <= 10s);
        delays.insert(s.delay());
        CHECK(s.slept() == "list limit=500");
    }
    CHECK(delays.size() > 40);
    WatchOptions cached = options();
    cached.first_list_from_cache = true;
    Subject s(cached);
    CHECK(words(s.step) == "list rv=0 limit=500");
    CHECK(s.next(Machine::VersionTooLarge{}) == "list limit=500");
}

TEST_CASE("WatchMachine: pages are listed one after the other, then it watches from the version of "
          "the first") {
    Subject s;
    CHECK(s.next(Machine::PageListed{"7", "a", 500}) == "list continue=a limit=500");
    CHECK(s.next(Machine::PageListed{"8", "b", 500}) == "list continue=b limit=500");
    CHECK(s.next(Machine::PageListed{"9", "", 2}) == "watch 7");
    CHECK(s.machine.resource_version() == "7");
}

TEST_CASE("WatchMachine: a watch that ended is opened again from the last version seen") {
    Subject s = watching("5");
    s.machine.on_watching(s.now);
    s.machine.on_progress("6", s.now);
    s.machine.on_progress("9", s.now);
    s.machine.on_progress("", s.now);
    s.now += 5min;
    CHECK(s.after(Machine::WatchEnded{true, true}) == "watch 9");
}

TEST_CASE("WatchMachine: after a clean end it waits at most 100 ms, spread by the seed") {
    std::set<Duration> delays;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Subject s(options(), seed);
        s.listed("5");
        s.ended(10s);
        CHECK(s.delay() <= 100ms);
        CHECK(s.waiting() == Waiting::reopening);
        delays.insert(s.delay());
    }
    CHECK(delays.size() > 90);
}

TEST_CASE("WatchMachine: those who start apart come back apart when their server is lost") {
    WatchOptions many = options();
    many.start_jitter = 30s;
    std::set<Duration> ended;
    std::set<Duration> broken;
    Duration longest{};
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        for (const bool clean : {true, false}) {
            Subject s(many, seed);
            s.slept();
            s.listed("5");
            s.machine.on_watching(s.now);
            s.now += 1min;
            s.next(Machine::WatchEnded{clean, false});
            CHECK(s.waiting() == Waiting::reopening);
            CHECK(s.delay() <= (clean ? 5100ms : 7s));
            (clean ? ended : broken).insert(s.delay() / 1s * 1s);
            longest = std::max(longest, s.delay());
        }
        // Watches that end at their timeout are spread already, so this one is reopened at once.
        Subject s(many, seed);
        s.slept();
        s.listed("5");
        s.machine.on_watching(s.now);
        s.now += 5min;
        s.next(Machine::WatchEnded{true, true});
        CHECK(s.delay() <= 100ms);
    }
    CHECK(ended.size() >= 5);
    CHECK(broken.size() >= 5);
    CHECK(longest > 5s);
}

TEST_CASE("WatchMachine: watches that bring something and end at once are reopened ever more "
          "slowly") {
    Subject s = watching("5", 0s);
    const TimePoint begin = s.now;
    int watches = 0;
    for (; s.now < begin + 1min; ++watches) {
        const std::string version = std::to_string(6 + watches);
        s.ended(10ms, version);
        CHECK(s.delay() <= 10s);
        CHECK(s.slept() == "watch " + version);
    }
    CHECK(watches < 20);
    s.ended(2s, "700");
    CHECK(s.delay() <= 100ms);
    s.slept();
    s.ended(10ms, "800");
    CHECK(s.delay() <= 2s);
}

// --- probes after broken watches -------------------------------------------------------------

TEST_CASE("WatchMachine: after a broken connection it asks for the server's version before it "
          "watches") {
    Subject s = watching();
    for (int i = 0; i < 20; ++i) {
        CHECK(s.ended(1min, std::to_string(10 + i), false) == "sleep");
        CHECK((s.delay() >= 1s && s.delay() <= 2s));
        CHECK(s.slept() == "probe");
        CHECK(s.next(Machine::Probed{"100"}) == "watch " + std::to_string(10 + i));
    }
}

TEST_CASE("WatchMachine: another server is listed at once, whatever its version is") {
    const auto change = [](Subject& s) { return s.next(Machine::OtherServer{}); };
    Subject s = watching("500");
    CHECK(change(s) == "list limit=500");
    CHECK(s.reason() == ListReason::other_server);
    CHECK(s.machine.resource_version() == "");
    CHECK(s.failed() == "list limit=500");
    CHECK(s.reason() == ListReason::other_server);
    CHECK(s.listed("3") == "watch 3");

    // A suspicious list of the previous server says nothing about the first one of this server.
    Subject suspicious = watching("500");
    suspicious.next(Machine::Suspicious{});
    CHECK(suspicious.machine.confirming());
    change(suspicious);
    CHECK_FALSE(suspicious.machine.confirming());

    Subject probing = watching("500");
    probing.ended(1min, "501", false);
    CHECK(probing.slept() == "probe");
    CHECK(change(probing) == "list limit=500");
    CHECK(probing.listed("9") == "watch 9");
    CHECK(probing.ended(1min) == "sleep");
    CHECK(probing.slept() == "watch 9");

    Subject paging;
    CHECK(paging.page("t") == "list continue=t limit=500");
    CHECK(change(paging) == "list limit=500");
    CHECK(paging.listed("4") == "watch 4");
}

TEST_CASE("WatchMachine: a server that changes all the time is listed ever more seldom") {
    Subject s = watching("500");
    CHECK(s.next(Machine::OtherServer{}) == "list limit=500");
    s.listed("1");
    Duration last{};
    for (int i = 0; i < 5; ++i) {
        CHECK(s.next(Machine::OtherServer{}) == "sleep");
        CHECK(s.delay() > last);
        last = s.delay() / 2;
        CHECK(s.slept() == "list limit=500");
        s.listed("1");
    }
}

TEST_CASE("WatchMachine: a server whose version went back is listed at once") {
    Subject s = watching("500");
    s.ended(1min, "501", false);
    CHECK(s.slept() == "probe");
    CHECK(s.next(Machine::Probed{"499"}) == "list limit=500");
    CHECK(s.reason() == ListReason::version_went_back);
    CHECK(s.listed("499") == "watch 499");
    Subject opaque = watching("e5");
    opaque.ended(1min, "e6", false);
    opaque.slept();
    CHECK(opaque.next(Machine::Probed{"e1"}) == "watch e6");  // not comparable
}

TEST_CASE("WatchMachine: versions never go back but with a list") {
    Subject s = watching("1000");
    s.live(30s, "501");
    CHECK(s.machine.resource_version() == "1000");
    CHECK_FALSE(s.machine.streams().last().advanced);
    CHECK(s.next(Machine::WatchEnded{false, false}) == "sleep");
    CHECK(s.slept() == "probe");
    CHECK(s.next(Machine::Probed{"600"}) == "list limit=500");
    CHECK(s.reason() == ListReason::version_went_back);
    CHECK(s.listed("600") == "watch 600");
    CHECK(s.machine.greatest_version() == "600");
    s.live(30s, "601");
    CHECK(s.machine.resource_version() == "601");
}

TEST_CASE("WatchMachine: a version that is no number does not hide the greatest one") {
    Subject s = watching("1000");
    s.live(30s, "opaque");
    CHECK(s.machine.resource_version() == "opaque");
    CHECK(s.machine.greatest_version() == "1000");
    CHECK(s.after(Machine::WatchEnded{false, false}) == "probe");
    CHECK(s.next(Machine::Probed{"600"}) == "list limit=500");
}

TEST_CASE("WatchMachine: a bookmark from before the watch leads to a list of the most recent "
          "state, at once") {
    Subject s = watching("1000");
    CHECK(s.machine.is_before_watch("999"));
    CHECK_FALSE(s.machine.is_before_watch("1000"));
    CHECK_FALSE(s.machine.is_before_watch("opaque"));
    s.live(1min, "1200");
    CHECK_FALSE(s.machine.is_before_watch("1100"));  // of the same watch, in any order
    CHECK(s.next(Machine::WentBack{"503"}) == "list limit=500");
    CHECK(s.reason() == ListReason::version_went_back);
    CHECK(s.listed("505") == "watch 505");
    CHECK_FALSE(s.machine.is_before_watch("505"));
}

TEST_CASE(
    "WatchMachine: an object from before the watch leads to a probe and a list, once an hour") {
    Subject s = watching("1000", 10min);
    CHECK(s.machine.doubts_old_objects(s.now));
    CHECK(s.after(Machine::Doubted{}) == "probe");
    CHECK(s.machine.doubts_old_objects(s.now));  // no evidence yet
    CHECK(s.failed(Cause::network) == "probe");
    CHECK(s.next(Machine::Probed{"1001"}) == "list rv=1000");
    CHECK(s.reason() == ListReason::silence);
    CHECK(s.listed("1100") == "watch 1100");
    CHECK_FALSE(s.machine.doubts_old_objects(s.now));
    s.now += 1h;
    CHECK(s.machine.doubts_old_objects(s.now));
    CHECK(s.after(Machine::Doubted{}) == "probe");
    CHECK(s.next(Machine::Probed{"900"}) == "list limit=500");
    CHECK(s.reason() == ListReason::version_went_back);
}

TEST_CASE("WatchMachine: an outage ends with a probe and a watch, and without a list") {
    Subject s = watching("5");
    CHECK(s.ended(1min, "6", false) == "sleep");
    CHECK(s.slept() == "probe");
    for (int i = 0; i < 100; ++i) {
        CHECK(s.failed(Cause::unreachable) == "probe");
    }
    CHECK(s.next(Machine::Probed{"900"}) == "watch 6");
    Subject clean = watching("5");  // the watch ended normally, and then the server was unreachable
    clean.live(5min);
    CHECK(clean.after(Machine::WatchEnded{true, true}) == "watch 5");
    CHECK(clean.failed(Cause::network) == "probe");
}

TEST_CASE("WatchMachine: a server that answers no probe is watched all the same, with suspicion") {
    const Cause cause = GENERATE(Cause::network, Cause::server, Cause::busy, Cause::cut);
    Subject s = watching("5");
    CHECK_FALSE(s.machine.is_suspect());
    CHECK(s.failed(Cause::network) == "probe");
    CHECK(s.failed(cause) == "probe");
    CHECK(s.failed(cause) == "watch 5");
    CHECK(s.machine.is_suspect());
    CHECK(s.failed() == "probe");  // the watch does not work, either
    CHECK(s.failed(Cause::refused) == "watch 5");
    CHECK(s.machine.is_suspect());
    s.ended(1min, "6");
    CHECK(s.slept() == "probe");
    CHECK(s.next(Machine::Probed{"7"}) == "watch 6");
    CHECK_FALSE(s.machine.is_suspect());
}

// --- expired versions -----------------------------------------------------------------------

TEST_CASE("WatchMachine: an expired version is listed again at once, and the list is not older") {
    Subject s = watching("5");
    CHECK(s.next(Machine::Expired{}) == "list rv=5");
    CHECK(s.reason() == ListReason::expired);
    CHECK(s.listed("9") == "watch 9");
}

TEST_CASE("WatchMachine: versions that expire in a row are listed with growing delays, whatever "
          "came before") {
    const bool with_event = GENERATE(false, true);
    Subject s = watching("5");
    CHECK(s.next(Machine::Expired{}) == "list rv=5");
    Duration least = 1s;
    int version = 6;
    for (int i = 0; i < 5; ++i) {
        s.listed(std::to_string(version));
        s.live(10ms, with_event ? std::to_string(++version) : "");
        CHECK(s.next(Machine::Expired{}) == "sleep");
        CHECK((s.delay() >= least && s.delay() <= 2 * least));
        CHECK(s.slept() == "list rv=" + std::to_string(version));
        least *= 2;
    }
}

TEST_CASE("WatchMachine: after a minute of life an expired version is listed at once again") {
    Subject s = watching("5");
    CHECK(s.next(Machine::Expired{}) == "list rv=5");
    for (int i = 0; i < 10; ++i) {
        CHECK(s.listed("6") == "watch 6");
        s.live(1min);
        CHECK(s.next(Machine::Expired{}) == "list rv=6");
    }
}

TEST_CASE("WatchMachine: a list whose own version has expired is asked for without a version") {
    Subject s = watching("5");
    CHECK(s.next(Machine::Expired{}) == "list rv=5");
    CHECK(s.next(Machine::Expired{}) == "list limit=500");
    // 410 to a list of the most recent state is absurd
    CHECK(s.next(Machine::Expired{}) == "sleep");
    CHECK(s.delay() >= 1s);
    CHECK(s.slept() == "list limit=500");
    CHECK(s.listed("3") == "watch 3");
}

TEST_CASE("WatchMachine: a version from the server's future makes it list the most recent state at "
          "once") {
    Subject s = watching("500");
    CHECK(s.next(Machine::VersionTooLarge{}) == "list limit=500");
    CHECK(s.reason() == ListReason::version_too_large);
    CHECK(s.listed("7") == "watch 7");
    CHECK(s.next(Machine::Expired{}) == "sleep");
    CHECK(s.slept() == "list rv=7");
}

TEST_CASE("WatchMachine: a relist whose version is from the future is asked for without one") {
    Subject s = watching("500");
    CHECK(s.next(Machine::Expired{}) == "list rv=500");
    CHECK(s.next(Machine::VersionTooLarge{}) == "list limit=500");
    CHECK(s.next(Machine::VersionTooLarge{}) == "sleep");
}

// --- failing lists --------------------------------------------------------------------------

TEST_CASE("WatchMachine: an expired continue token makes it list everything in one piece, until "
          "that got through") {
    Subject s;
    CHECK(s.page("a") == "list continue=a limit=500");
    CHECK(s.next(Machine::Expired{}) == "list");
    CHECK(s.failed(Cause::unreachable) == "list");
    CHECK(s.machine.list_forms().better_shape() == ListShape::whole);
    CHECK(s.listed("9") == "watch 9");
}

TEST_CASE("WatchMachine: a page that fails twice gives way to a list in one piece") {
    const Cause cause =
        GENERATE(Cause::network, Cause::server, Cause::refused, Cause::cut, Cause::busy);
    Subject s;
    s.page("a");
    CHECK(s.failed(cause) == "list continue=a limit=500");
    CHECK(s.failed(cause) == "list");
    Subject silent;
    silent.page("a");
    CHECK(silent.failed(Cause::silent) == "list");
}

TEST_CASE("WatchMachine: a page that is not there says nothing about the API, whose first one is") {
    Subject s;
    CHECK(s.page("token") == "list continue=token limit=500");
    CHECK(s.next(Machine::Failed{{}, Cause::absent}) == "sleep");
    CHECK(s.delay() < 5s);
    CHECK(s.slept() == "list continue=token limit=500");
    CHECK(s.failed(Cause::absent) == "list");
}

TEST_CASE("WatchMachine: a rejected or repeated token makes it list everything in one piece") {
    const bool rejected = GENERATE(true, false);
    Subject s;
    s.page("a");
    CHECK(s.after(rejected ? Machine::Outcome(Machine::Rejected{})
                           : Machine::Outcome(Machine::BadPages{})) == "list");
    CHECK(s.listed("9") == "watch 9");
}

TEST_CASE("WatchMachine: a useless token or page leads to one piece in the same encoding") {
    for (const Machine::Outcome& outcome :
         std::initializer_list<Machine::Outcome>{Machine::Expired{}, Machine::VersionTooLarge{},
                                                 Machine::Rejected{}, Machine::BadPages{}}) {
        CAPTURE(outcome.index());
        Subject s(options(), 1, true);
        s.page("a");
        CHECK(s.after(outcome) == "list");
        CHECK_FALSE(s.machine.list_forms().usual_encoding_failed());
        CHECK(s.failed() == "list otherwise");
        CHECK(s.machine.list_forms().usual_encoding_failed());
    }
}

TEST_CASE("WatchMachine: what fails twice in one form is tried in the other") {
    Subject s = watching("5");
    CHECK(s.next(Machine::Expired{}) == "list rv=5");
    CHECK(s.failed(Cause::cut) == "list rv=5");
    // These failures say nothing about the form.
    CHECK(s.failed(Cause::unreachable) == "list rv=5");
    CHECK(s.failed(Cause::unsent) == "list rv=5");
    CHECK(s.failed(Cause::refused) == "list limit=500");
    s.page("a");
    CHECK(s.machine.list_forms().better_shape() == ListShape::pages);
    CHECK(s.listed("9") == "watch 7");
    s.now += 10min;
    s.machine.know({.shape = ListShape::pages});
    CHECK(s.next(Machine::Expired{}) == "list limit=500");  // remembered
    CHECK(s.failed(Cause::network) == "list limit=500");
    CHECK(s.failed(Cause::network) == "list");
    CHECK(s.failed(Cause::network) == "list limit=500");  // and so on
}

TEST_CASE("WatchMachine: until all forms have failed the next one follows within 8 s") {
    const Cause cause =
        GENERATE(Cause::network, Cause::server, Cause::refused, Cause::cut, Cause::silent);
    WatchOptions streaming = options();
    streaming.watch_list = true;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Subject s(streaming, seed, true);
        const TimePoint begin = s.now;
        std::vector<std::string> asked;
        TimePoint last{};
        while (s.machine.list_forms().in_first_round()) {
            asked.push_back(words(s.step));
            last = s.now;
            s.failed(cause);
        }
        if (cause != Cause::silent) asked.erase(asked.begin());  // the second try of the first form
        CHECK(asked == std::vector<std::string>{"streamed list", "list limit=500", "list otherwise",
                                                "list limit=500 otherwise", "list",
                                                "streamed list otherwise"});
        CHECK(last - begin <= 58s);
        CHECK(s.now - last >= 8s);  // from now on the server itself counts as failing
    }
}

TEST_CASE(
    "WatchMachine: what a server asks for is waited for, and another form is asked for then") {
    Subject s;
    CHECK(s.next(Machine::Failed{5s, Cause::busy}) == "sleep");
    CHECK(s.delay() >= 5s);
    CHECK(s.slept() == "list");
}

TEST_CASE("WatchMachine: a failed list goes on with the page that failed") {
    Subject s;
    CHECK(s.failed() == "list limit=500");
    s.page("a");
    CHECK(s.failed() == "list continue=a limit=500");
    CHECK(s.listed("4") == "watch 7");
}

TEST_CASE("WatchMachine: a list that has lost too much is confirmed by one of the most recent "
          "state") {
    Subject s = watching("5");
    s.next(Machine::Expired{});
    CHECK_FALSE(s.machine.confirming());
    CHECK(s.next(Machine::Suspicious{}) == "sleep");
    CHECK(s.delay() <= 2s);
    CHECK(s.machine.confirming());
    CHECK(s.slept() == "list limit=500");
    CHECK(s.reason() == ListReason::suspicious);
    CHECK(s.failed() == "list limit=500");
    CHECK(s.listed("9") == "watch 9");
    CHECK_FALSE(s.machine.confirming());
}

// --- failures -------------------------------------------------------------------------------

TEST_CASE("WatchMachine: failures keep the version and grow the delay until a watch works") {
    Subject s = watching("5", 0s);
    Duration least = 1s;
    for (int i = 0; i < 6; ++i) {
        CHECK(s.next(Machine::Failed{}) == "sleep");
        CHECK(s.waiting() == Waiting::backoff);
        CHECK(s.delay() >= least);
        CHECK(s.delay() <= 2 * least);
        s.now -= s.delay();  // as if no time passed
        CHECK(s.slept() == "watch 5");
        s.now = TimePoint(24h);
        least = std::min<Duration>(2 * least, 30s);
    }
    s.ended(31s, "6");
    s.slept();
    s.next(Machine::Failed{});
    CHECK(s.delay() <= 2s);
}

TEST_CASE("WatchMachine: one event is no proof that a watch works") {
    Subject s = watching("5", 0s);
    for (int i = 0; i < 5; ++i) s.failed();
    s.live(10ms, "6");
    s.next(Machine::Failed{});
    CHECK(s.delay() >= 16s);
}

TEST_CASE("WatchMachine: Retry-After is waited for with jitter, and the backoff grows only after "
          "ten refusals") {
    std::set<Duration> delays;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Subject s(options(), seed);
        s.next(Machine::Failed{10s, Cause::busy});
        CHECK(s.waiting() == Waiting::retry_after);
        CHECK((s.delay() >= 10s && s.delay() <= 20s));
        delays.insert(s.delay());
    }
    CHECK(delays.size() > 40);
    Subject s;
    for (int i = 0; i < 10; ++i) {
        s.next(Machine::Failed{1s, Cause::busy});
        CHECK(s.delay() <= 2s);
        s.slept();
    }
    Duration longest{};
    for (int i = 0; i < 10; ++i) {
        s.next(Machine::Failed{1s, Cause::busy});
        longest = std::max(longest, s.delay());
        s.slept();
    }
    CHECK(longest >= 30s);
    s.listed("5");
    s.next(Machine::Failed{1s, Cause::busy});
    CHECK(s.delay() <= 2s);
}

TEST_CASE("WatchMachine: Retry-After of zero is no invitation to hammer, and an hour is jittered "
          "by half a minute only") {
    Subject s;
    s.next(Machine::Failed{0s, Cause::busy});
    CHECK((s.delay() >= 1s && s.delay() <= 2s));
    s.slept();
    s.next(Machine::Failed{1h, Cause::busy});
    CHECK((s.delay() >= 1h && s.delay() <= 1h + 30s));
}

TEST_CASE("WatchMachine: only a server that is away is waited for until it works for another") {
    const auto until_recovery = [](Machine::Failed failure) {
        Subject s;
        s.next(failure);
        return std::get<Machine::Sleep>(s.step).until_recovery;
    };
    CHECK(until_recovery({{}, Cause::unreachable}));
    CHECK(until_recovery({{}, Cause::network}));
    CHECK_FALSE(until_recovery({{}, Cause::server}));
    CHECK_FALSE(until_recovery({{}, Cause::refused}));
    CHECK_FALSE(until_recovery({{}, Cause::cut}));
    CHECK_FALSE(until_recovery({5s, Cause::busy}));
}

TEST_CASE("WatchMachine: another encoding is asked for at once in the same step") {
    Subject s;
    CHECK(s.next(Machine::AskOtherwise{}) == "list limit=500");
    s.page("a");
    CHECK(s.next(Machine::AskOtherwise{}) == "list continue=a limit=500");
    s.listed("5");
    CHECK(s.next(Machine::AskOtherwise{}) == "watch 7");
}

TEST_CASE("WatchMachine: new credentials are tried at once for the same step") {
    Subject s;
    CHECK(s.next(Machine::NewCredentials{}) == "list limit=500");
    s.page("a");
    CHECK(s.next(Machine::NewCredentials{}) == "list continue=a limit=500");
    s.listed("5");
    CHECK(s.next(Machine::NewCredentials{}) == "watch 7");
    s.ended(1min, "8", false);
    s.slept();
    CHECK(s.next(Machine::NewCredentials{}) == "probe");
}

// --- failing watches, working lists ---------------------------------------------------------

TEST_CASE("WatchMachine: a watch that fails again and again is made up for by lists") {
    const Cause cause = GENERATE(Cause::server, Cause::network, Cause::busy, Cause::cut);
    Subject s = watching("5", 0s);
    const TimePoint begin = s.now;
    std::optional<TimePoint> first, second;
    int requests = 0;
    for (; !second && requests < 100; ++requests) {
        const std::string word = words(s.step);
        if (word == "probe") {
            s.after(Machine::Probed{"900"});
        } else if (word == "list rv=5") {
            CHECK(s.reason() == ListReason::failing_watch);
            (first ? second : first) = s.now;
            s.listed("5");
        } else {
            CHECK(word == "watch 5");
            s.failed(cause);
        }
    }
    REQUIRE(second);
    CHECK(*first - begin <= 4min);
    CHECK(*second - *first <= 4min);
    CHECK(requests < 60);
}

TEST_CASE("WatchMachine: where lists are allowed and watches are not, it polls") {
    Subject s = watching("5");
    s.live(1min);
    // a single failure is no pattern
    CHECK(s.after(Machine::Failed{{}, Cause::refused}) == "watch 5");
    CHECK(s.failed(Cause::refused) == "probe");
    CHECK(s.next(Machine::Probed{"900"}) == "list rv=5");  // the last one is long ago
    CHECK(s.reason() == ListReason::polling);
    for (int i = 0; i < 5; ++i) {
        CHECK(s.listed(std::to_string(10 + i)) == "watch " + std::to_string(10 + i));
        CHECK(s.next(Machine::Failed{{}, Cause::refused}) == "sleep");
        CHECK(s.waiting() == Waiting::poll);
        CHECK((s.delay() >= 60s && s.delay() <= 66s));
        CHECK(s.slept() == "list rv=" + std::to_string(10 + i));
        CHECK(s.reason() == ListReason::polling);
    }
}

TEST_CASE("WatchMachine: where neither is allowed, it lists nothing and keeps its version") {
    Subject s = watching("5");
    s.live(1min);
    CHECK(s.failed(Cause::refused) == "watch 5");
    for (int i = 0; i < 50; ++i) {
        CHECK(s.failed(Cause::refused) == "probe");
        CHECK(s.failed(Cause::refused) == "watch 5");
    }
}

TEST_CASE(
    "WatchMachine: an API that is not there is asked for after 5 s, and then ever more rarely") {
    Subject s;
    Duration least = 5s;
    for (int i = 0; i < 12; ++i) {
        // The cause of a failure does not affect the pace.
        CHECK(s.next(Machine::Failed{1h, Cause::absent}) == "sleep");
        CHECK((s.delay() >= least && s.delay() <= 2 * least));
        CHECK(s.waiting() == Waiting::backoff);
        least = std::min<Duration>(2 * least, 150s);
        CHECK(s.slept().starts_with("list"));
    }
    CHECK(s.listed("5") == "watch 5");
    CHECK(s.ended(1min) == "sleep");  // a watch that works
    CHECK(s.slept() == "watch 5");
    CHECK(s.next(Machine::Failed{{}, Cause::absent}) == "sleep");
    CHECK((s.delay() >= 5s && s.delay() <= 10s));
}

TEST_CASE("WatchMachine: one watch whose API is not there is no reason to list, a second one is") {
    Subject s = watching("5");
    CHECK(s.failed(Cause::absent) == "watch 5");
    CHECK(s.failed(Cause::absent) == "list limit=500");
    CHECK(s.reason() == ListReason::failing_watch);
    // If lists work and watches do not, the lists become rare.
    int lists = 1;
    const TimePoint begin = s.now;
    while (s.now < begin + 1h) {
        CHECK(s.listed("6") == "watch 6");
        CHECK(s.failed(Cause::absent) == "list limit=500");
        ++lists;
    }
    CHECK(lists >= 12);
    CHECK(lists <= 25);
}

TEST_CASE("WatchMachine: an API that moves to another version is listed anew, at once") {
    Subject s = watching("5");
    CHECK(s.next(Machine::Moved{}) == "list limit=500");
    CHECK(s.reason() == ListReason::first);
    CHECK(s.page("token") == "list continue=token limit=500");
    CHECK(s.next(Machine::Moved{}) == "list limit=500");
    CHECK(s.listed("7") == "watch 7");
    CHECK(s.ended(1min, "8", false) == "sleep");
    CHECK(s.slept() == "probe");
    CHECK(s.next(Machine::Moved{}) == "list limit=500");
}

TEST_CASE("WatchMachine: it polls without a watch permit") {
    Subject s = watching("5", 0s);
    CHECK(s.next(Machine::NoPermit{}) == "sleep");
    CHECK(s.waiting() == Waiting::poll);
    CHECK(s.slept() == "list rv=5");
    CHECK(s.listed("6") == "watch 6");
}

TEST_CASE("WatchMachine: a rejected version is forgotten once; the next time it polls") {
    Subject s = watching("5");
    CHECK(s.next(Machine::Rejected{}) == "sleep");
    CHECK(s.delay() >= 1s);
    CHECK(s.slept() == "list limit=500");
    CHECK(s.reason() == ListReason::rejected);
    CHECK(s.listed("6") == "watch 6");
    CHECK(s.next(Machine::Rejected{}) == "sleep");
    CHECK(s.waiting() == Waiting::poll);
    CHECK(s.slept() == "list rv=6");
}

TEST_CASE("WatchMachine: the fifth short watch in a row that brought nothing makes it list again") {
    Subject s = watching("5");
    for (int i = 0; i < 4; ++i) {
        CHECK(s.ended(10ms) == "sleep");
        CHECK(s.delay() >= 1s);
        CHECK(s.slept() == "watch 5");
    }
    CHECK(s.ended(10ms) == "sleep");
    CHECK(s.slept() == "list rv=5");
    CHECK(s.reason() == ListReason::short_watches);
    for (int round = 0; round < 5; ++round) {  // and again and again
        CHECK(s.listed("6") == "watch 6");
        const TimePoint begin = s.now;
        while (s.ended(10ms) == "sleep" && s.slept() == "watch 6") CHECK(s.now < begin + 3min);
        CHECK(words(s.step) == "list rv=6");
    }
}

TEST_CASE("WatchMachine: a watch that brings news starts the count of short ones afresh") {
    Subject s = watching("5");
    std::string version = "5";
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 4; ++i) {
            s.ended(10ms, version);  // a known version is no progress
            CHECK(s.slept() == "watch " + version);
        }
        version = std::to_string(6 + round);
        s.ended(10ms, version);
        CHECK(s.slept() == "watch " + version);
    }
}

TEST_CASE("WatchMachine: a second silent watch in a row makes it list, each further one, too") {
    Subject s = watching("5");
    CHECK(s.silent(310s) == "sleep");
    CHECK(s.slept() == "probe");
    CHECK(s.next(Machine::Probed{"9"}) == "watch 5");
    for (int i = 0; i < 3; ++i) {
        CHECK(s.silent(310s) == "sleep");
        CHECK(s.slept() == "probe");
        CHECK(s.next(Machine::Probed{"9"}) == "list rv=5");
        CHECK(s.reason() == ListReason::silence);
        CHECK(s.listed("5") == "watch 5");
    }
    CHECK(s.silent(310s, "6") == "sleep");  // it delivered an event before
    CHECK(s.slept() == "probe");
    CHECK(s.next(Machine::Probed{"9"}) == "watch 6");
}

TEST_CASE("WatchMachine: one failed probe does not take away what silence has taught") {
    Subject s = watching("5");
    for (int i = 0; i < 2; ++i) {
        s.silent(310s);
        s.slept();
        if (i == 0) s.next(Machine::Probed{"9"});
    }
    CHECK(s.failed(Cause::unreachable) == "probe");
    CHECK(s.next(Machine::Probed{"9"}) == "list rv=5");
    CHECK(s.reason() == ListReason::silence);
}

TEST_CASE("WatchMachine: a server that takes no limit is listed in place of a probe") {
    Subject s = watching("5");
    for (int i = 0; i < 2; ++i) {
        s.silent(310s);
        s.slept();
        if (i == 0) s.next(Machine::Probed{"9"});
    }
    CHECK(s.next(Machine::Rejected{}) == "list rv=5");
}

TEST_CASE("WatchMachine: watches that live for half a minute, bring nothing and fail are made up "
          "for") {
    Subject s = watching("5", 0s);
    const TimePoint begin = s.now;
    std::string word = "watch 5";
    while (word != "list rv=5" && s.now < begin + 1h) {
        s.live(31s);
        word = s.failed();
        if (word == "probe") word = s.next(Machine::Probed{"9"});
    }
    CHECK(s.now - begin <= 17min);
}

TEST_CASE("WatchMachine: a quarter of an hour of watches that end early and bring nothing makes it "
          "list") {
    const bool clean = GENERATE(true, false);
    Subject s = watching("5", 0s);
    const TimePoint begin = s.now;
    std::string word;
    while (word != "list rv=5" && s.now < begin + 1h) {
        s.live(20s);
        word = s.after(Machine::WatchEnded{clean, false});
        if (word == "probe") word = s.next(Machine::Probed{"9"});
    }
    CHECK((s.now - begin >= 15min && s.now - begin <= 17min));
    CHECK(s.reason() == ListReason::silence);
}

TEST_CASE(
    "WatchMachine: watches that end early without events lead to a probe each quarter of an hour") {
    const bool bookmarks = GENERATE(false, true);
    Subject s = watching("5", 0s);
    if (bookmarks) s.machine.on_bookmark();
    int probes = 0;
    int lists = 0;
    const TimePoint begin = s.now;
    while (s.now < begin + 3h) {
        s.live(50s);
        std::string word = s.after(Machine::WatchEnded{true, false});
        if (word == "probe") {
            ++probes;
            word = s.next(Machine::Probed{"9"});
        }
        if (word == "list rv=5") {
            ++lists;
            CHECK(s.reason() == ListReason::silence);
            word = s.listed("5");
        }
        CHECK(word == "watch 5");
    }
    CHECK((probes >= 10 && probes <= 12));
    CHECK(lists == (bookmarks ? probes : 0));  // bookmarks were expected and are missing
    while (s.after(Machine::WatchEnded{true, false}) != "probe") s.live(50s);
    CHECK(s.next(Machine::Probed{"3"}) == "list limit=500");
    CHECK(s.reason() == ListReason::version_went_back);
}

TEST_CASE("WatchMachine: watches that end at their timeout may bring nothing without limit") {
    Subject s = watching("5", 0s);
    for (int i = 0; i < 100; ++i) {
        s.live(5min);
        CHECK(s.after(Machine::WatchEnded{true, true}) == "watch 5");
    }
}

TEST_CASE("WatchMachine: bytes that are no events three times in a row make it list again") {
    Subject s = watching("5");
    for (int i = 0; i < 2; ++i) {
        CHECK(s.next(Machine::Malformed{}) == "sleep");
        CHECK(s.delay() >= 1s);
        CHECK(s.slept() == "watch 5");
    }
    for (int round = 0; round < 5; ++round) {
        const TimePoint begin = s.now;
        while (s.after(Machine::Malformed{}) == "watch 5") CHECK(s.now < begin + 3min);
        CHECK(words(s.step) == "list rv=5");
        CHECK(s.reason() == ListReason::malformed);
        CHECK(s.listed("5") == "watch 5");
    }
}

TEST_CASE("WatchMachine: an event of another version between malformed bytes starts their count "
          "afresh") {
    Subject s = watching("5");
    for (int i = 0; i < 6; ++i) {
        s.live(10ms, std::to_string(6 + i));
        CHECK(s.after(Machine::Malformed{}) == "watch " + std::to_string(6 + i));
    }
}

TEST_CASE("WatchMachine: equal seeds give equal delays") {
    const auto run = [](std::uint64_t seed) {
        Subject s(options(), seed);
        std::vector<Duration> delays;
        for (int i = 0; i < 4; ++i) {
            s.next(Machine::Failed{});
            delays.push_back(s.delay());
            s.slept();
        }
        return delays;
    };
    CHECK(run(1) == run(1));
    CHECK(run(1) != run(2));
}

// --- bounds ---------------------------------------------------------------------------------

namespace {

/// A server that answers each request in one of a few ways, chosen by the seed.
class NastyServer {
 public:
    explicit NastyServer(std::uint32_t seed) : random_(seed) {
        for (auto* outcomes : {&lists_, &probes_, &watches_})
            outcomes->assign({below(100), below(100)});
    }
    Machine::Outcome to_list() {
        switch (pick(lists_) % 8) {
            case 0: return Machine::Expired{};
            case 1: return Machine::VersionTooLarge{};
            case 2: return Machine::Rejected{};
            case 3: return Machine::BadPages{};
            case 4: return Machine::Suspicious{};
            case 5: return Machine::PageListed{version(), "", 3};
            case 6: return Machine::PageListed{version(), "", 3};
            default: return failure();
        }
    }
    Machine::Outcome to_probe() {
        return pick(probes_) % 3 == 0 ? failure() : Machine::Outcome(Machine::Probed{version()});
    }
    Machine::Outcome to_watch(Subject& s) {
        const unsigned what = pick(watches_);
        if (what % 2 == 0) {
            s.machine.on_watching(s.now);
            for (unsigned i = below(3); i > 0; --i) s.machine.on_progress(version(), s.now);
            s.now += std::chrono::milliseconds(what % 3 == 0 ? 0 : random_() % 2000);
        }
        switch (what % 7) {
            case 0: return Machine::Expired{};
            case 1: return Machine::VersionTooLarge{};
            case 2: return Machine::Rejected{};
            case 3: return Machine::Malformed{};
            case 4: return Machine::WatchEnded{random_() % 2 == 0, false};
            case 5: return Machine::NoPermit{};
            default: return failure();
        }
    }

 private:
    unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }
    unsigned pick(const std::vector<unsigned>& outcomes) {
        return outcomes[random_() % outcomes.size()];
    }
    std::string version() { return std::to_string(1 + random_() % 50); }
    Machine::Outcome failure() {
        Machine::Failed failed;
        failed.cause = static_cast<Cause>(random_() % 8);
        if (failed.cause == Cause::busy) failed.retry_after = std::chrono::seconds(random_() % 3);
        return failed;
    }

    std::mt19937 random_;
    std::vector<unsigned> lists_, probes_, watches_;
};

}  // namespace

TEST_CASE("WatchMachine: whatever the server does, there is a bound on requests a minute, and the "
          "truth is asked for again and again") {
    for (std::uint32_t seed = 0; seed < rounds(3000U); ++seed) {
        CAPTURE(seed);
        NastyServer server(seed);
        Subject s(options(), seed);
        std::vector<TimePoint> requests;
        std::vector<TimePoint> lists;
        const TimePoint begin = s.now;
        while (s.now < begin + 30min) {
            const std::string word = words(s.step);
            if (word == "sleep") {
                s.slept();
                REQUIRE(words(s.step) != "sleep");
                continue;
            }
            requests.push_back(s.now);
            REQUIRE(requests.size() < 5000);
            if (word.starts_with("list")) {
                lists.push_back(s.now);
                s.next(server.to_list());
            } else {
                if (word.starts_with("watch")) REQUIRE(word.size() > 6);
                s.next(word == "probe" ? server.to_probe() : server.to_watch(s));
            }
        }
        const auto max_per_minute = [](const std::vector<TimePoint>& times) {
            std::size_t most = 0;
            for (std::size_t from = 0, to = 0; to < times.size(); ++to) {
                while (times[to] - times[from] > 1min) ++from;
                most = std::max(most, to - from + 1);
            }
            return most;
        };
        CHECK(max_per_minute(requests) <= 70);
        CHECK(max_per_minute(lists) <= 25);
    }
}

// --- streamed lists -----------------------------------------------------------------------------

namespace {

WatchOptions streaming() {
    WatchOptions o = options();
    o.watch_list = true;
    return o;
}

/// A machine with a streamed list, whose watch continues.
Subject streamed(const std::string& version = "5") {
    Subject s(streaming());
    s.machine.on_list_streamed({version, "", 3}, s.now);
    return s;
}

}  // namespace

TEST_CASE("WatchMachine: a list that comes with a watch goes on as that watch") {
    Subject s(streaming());
    CHECK(words(s.step) == "streamed list");
    CHECK(s.reason() == ListReason::first);
    s.machine.on_list_streamed({"5", "", 3}, s.now);
    CHECK(s.machine.resource_version() == "5");
    s.machine.on_progress("8", s.now);
    s.now += 5min;
    CHECK(s.next(Machine::WatchEnded{true, true}) == "sleep");
    CHECK(s.waiting() == Waiting::reopening);
    CHECK(s.slept() == "watch 8");
}

TEST_CASE("WatchMachine: an expired version is listed again with a watch, not older, then the most "
          "recent state") {
    Subject s = streamed("5");
    s.now += 10min;
    CHECK(s.next(Machine::Expired{}) == "streamed list rv=5");
    CHECK(s.reason() == ListReason::expired);
    CHECK(s.next(Machine::VersionTooLarge{}) == "streamed list");
    CHECK(s.next(Machine::Expired{}) == "sleep");
    CHECK(s.slept() == "streamed list");
}

TEST_CASE("WatchMachine: a list that does not come with a watch is asked for in the usual way at "
          "once, and only that one") {
    const bool tried = GENERATE(true, false);
    Subject s(streaming());
    CHECK(s.next(Machine::NotStreamed{tried}) == "list limit=500");
    CHECK(s.machine.list_forms().streams_failed() == tried);
    CHECK(s.machine.stream_refused() == tried);
    CHECK(s.page("t") == "list continue=t limit=500");
    CHECK(s.failed() == "list continue=t limit=500");
    CHECK(s.machine.list_forms().streams_failed() == tried);
    CHECK(s.listed("7") == "watch 7");
    CHECK_FALSE(s.machine.list_forms().streams_failed());
    s.now += 10min;
    CHECK(s.next(Machine::Expired{}) == "streamed list rv=7");
    CHECK(s.next(Machine::NotStreamed{tried}) == "list rv=7");
}

TEST_CASE(
    "WatchMachine: a stream that fails twice before its list is complete gives way to a list") {
    const Cause cause = GENERATE(Cause::cut, Cause::server, Cause::network, Cause::busy);
    Subject s(streaming());
    CHECK(s.failed(cause) == "streamed list");
    CHECK_FALSE(s.machine.list_forms().streams_failed());
    CHECK(s.failed(cause) == "list limit=500");
    CHECK(s.machine.list_forms().streams_failed() == (cause != Cause::busy));
    CHECK_FALSE(s.machine.stream_refused());
}

TEST_CASE("WatchMachine: overload and refused credentials lead to another form, and teach nothing "
          "about forms") {
    const Machine::Failed failure =
        GENERATE(Machine::Failed{2s, Cause::busy}, Machine::Failed{10s, Cause::busy},
                 Machine::Failed{{}, Cause::busy}, Machine::Failed{{}, Cause::credentials});
    const bool waits_long = failure.retry_after >= 5s;
    Subject s(streaming(), 1, true);
    if (!waits_long) CHECK(s.after(failure) == "streamed list");
    CHECK(s.after(failure) == "list limit=500");
    CHECK_FALSE(s.machine.list_forms().streams_failed());
    CHECK(s.after(failure) == "list otherwise");
    CHECK_FALSE(s.machine.list_forms().usual_encoding_failed());
    CHECK_FALSE(s.machine.list_forms().better_shape());
    CHECK(s.after(failure) == "list limit=500 otherwise");
    CHECK_FALSE(s.machine.list_forms().better_shape());
}

TEST_CASE("WatchMachine: a list may be silent behind its head until a form has timed out") {
    const auto has_time = [](const Subject& s) { return std::get<Machine::List>(s.step).has_time; };
    Subject s(streaming());
    CHECK(has_time(s));
    CHECK(s.next(Machine::NotStreamed{}) == "list limit=500");  // refused at once
    CHECK(has_time(s));
    s.failed();
    CHECK(s.failed() == "list");
    CHECK(has_time(s));
    Subject ignored(streaming());
    CHECK(ignored.next(Machine::NotStreamed{.timed_out = true}) == "list limit=500");
    CHECK_FALSE(has_time(ignored));
    Subject silent;
    CHECK(silent.failed(Cause::silent) == "list");
    CHECK_FALSE(has_time(silent));
}

TEST_CASE("WatchMachine: a server that begins a stream after an outage is sent a LIST at once") {
    Subject s = streamed();
    s.machine.know({.streams = false});
    s.now += 10min;
    CHECK(s.next(Machine::Expired{}) == "list rv=5");
    while (words(s.step) != "streamed list" || s.machine.list_forms().in_first_round()) s.failed();
    SECTION("at once") {
        CHECK(s.next(Machine::NotStreamed{.answered = true}) == "list");
        CHECK(s.next(Machine::Failed{{}, Cause::server}) == "sleep");
        CHECK(s.slept() == "list limit=500");
    }
    SECTION("a stream that is refused proves no recovery") {
        CHECK(s.next(Machine::NotStreamed{}) == "sleep");
    }
}

TEST_CASE("WatchMachine: a server without a connection says nothing about lists with a watch") {
    Subject s(streaming());
    for (int i = 0; i < 20; ++i) CHECK(s.failed(Cause::unreachable) == "streamed list");
}

TEST_CASE("WatchMachine: a stream is the last resort where LIST does not get through") {
    Subject s = streamed();
    s.machine.know({.streams = false});
    s.now += 10min;
    CHECK(s.next(Machine::Expired{}) == "list rv=5");
    CHECK(s.failed() == "list rv=5");
    CHECK(s.failed() == "list limit=500");
    CHECK(s.failed() == "streamed list");
    s.machine.on_list_streamed({"9", "", 1}, s.now);
    CHECK(s.machine.resource_version() == "9");
}

TEST_CASE(
    "WatchMachine: lists that make up for watches, or confirm, or poll, come without a watch") {
    SECTION("a list that has lost much") {
        Subject s = streamed();
        s.now += 10min;
        CHECK(s.next(Machine::Expired{}) == "streamed list rv=5");
        CHECK(s.after(Machine::Suspicious{}) == "list limit=500");
        CHECK(s.machine.confirming());
    }
    SECTION("silent watches") {
        Subject s = streamed();
        CHECK(s.silent(5min) == "sleep");
        CHECK(s.slept() == "probe");
        CHECK(s.next(Machine::Probed{"5"}) == "watch 5");
        s.silent(5min);
        CHECK(s.slept() == "probe");
        CHECK(s.next(Machine::Probed{"5"}) == "list rv=5");
        CHECK(s.reason() == ListReason::silence);
    }
    SECTION("watches that are refused") {
        Subject s(streaming());
        CHECK(s.next(Machine::NotStreamed{}) == "list limit=500");
        CHECK(s.listed("5") == "watch 5");
        CHECK(s.failed(Cause::refused) == "watch 5");
        CHECK(s.next(Machine::Failed{{}, Cause::refused}) == "sleep");
        CHECK(s.waiting() == Waiting::poll);
        CHECK(s.slept() == "list rv=5");
    }
}

TEST_CASE("WatchMachine: the first list with a watch may come from the server's cache") {
    WatchOptions cached = streaming();
    cached.first_list_from_cache = true;
    Subject s(cached);
    CHECK(words(s.step) == "streamed list rv=0");
    CHECK(s.next(Machine::NotStreamed{}) == "list rv=0 limit=500");
    CHECK(s.listed("5") == "watch 5");
}

TEST_CASE("WatchMachine: another server is listed with a watch, without a version") {
    Subject s = streamed();
    s.now += 10min;
    CHECK(s.next(Machine::OtherServer{}) == "streamed list");
}
